#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compiler where a program's results are all that a test looks at: the flags of
# the target, without its optimisation.
exec cc "$@" -O0
