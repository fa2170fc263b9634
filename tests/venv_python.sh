#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# venv_python.sh SCRIPT [ARGS]: runs SCRIPT with the Python that has the
# packages of tests/requirements.txt; without one the test is skipped.
if [ -z "$TIRC_PYTHON" ]; then
	echo "skipped: TIRC_PYTHON names no python with tests/requirements.txt"
	exit 77
fi
exec "$TIRC_PYTHON" "$@"
