#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# where.sh FILE COMMAND...: runs the command where FILE is; else a skip.
if [ ! -e "$1" ]; then
	echo "no $1 here" >&2
	exit 77
fi
shift
exec "$@"
