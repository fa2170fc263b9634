#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# each_count.sh COUNT... -- PROGRAM [ARGUMENT...]: runs the program, which
# leaves output_*.bin where it runs, with each number of threads (OpenMP's, and
# those of the test's pool), and fails where one leaves other bits than the
# first. Prints what the last one does.
set -eu
counts=
while [ "$1" != -- ]; do
	counts="$counts $1"
	shift
done
shift
first=
for count in $counts; do
	said=$(OMP_NUM_THREADS=$count TIRC_THREADS=$count "$@")
	for output in output_*.bin; do
		if [ -z "$first" ]; then
			cp "$output" "$output.first"
		elif ! cmp "$output" "$output.first" >&2; then
			echo "$count threads leave other bits" >&2
			exit 1
		fi
	done
	first=$count
done
rm -f output_*.bin.first
printf '%s\n' "$said"
