#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh TIRC DIR: digits.onnx becomes C in DIR, which cc compiles together
# with main.c; the program then classifies the held-out samples.
set -euo pipefail

tirc=$1
out=$2
here=$(dirname "$0")
cc=${CC:-cc}

# step COMMAND...: shows the command, then runs it.
step() {
	printf '$ %s\n' "$*"
	"$@"
}

step "$tirc" compile "$here/digits.onnx" -o "$out" --name digits
echo
step $cc -std=c11 -O2 -Wall -Wextra -I "$out" -o "$out/digits" \
	"$here/main.c" "$out"/digits*.c -lm
echo
step "$out/digits" "$here/samples.txt"
cat <<END

to read:
  $out/digits.h     the interface: sizes, structs, three functions
  $out/digits.c     the kernels and the function that calls them
  $out/digits.json  what became of every node, and the memory plan
  $here/main.c      a program that uses it
END
