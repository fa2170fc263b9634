#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The fastest compiler of strict C, where a program's results are all that a test
# looks at. tcc does not know -INFINITY as a constant, so gcc takes what it refuses.
tcc -w "$@" 2>/dev/null || exec gcc -w -std=c99 -O0 "$@"
