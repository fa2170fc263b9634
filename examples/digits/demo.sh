#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh TIRC DIR [TARGET]: digits.onnx becomes C in DIR for the target (native:
# this machine), which cc compiles together with main.c with the target's flags;
# the program then classifies the held-out samples.
set -euo pipefail

tirc=$1
out=$2
target=${3:-native}
here=$(dirname "$0")
cc=${CC:-cc}

# step COMMAND...: shows the command, then runs it.
step() {
	printf '$ %s\n' "$*"
	"$@"
}

step "$tirc" compile "$here/digits.onnx" -o "$out" --name digits \
	--target "$target"
echo
flags=$(sed -n 's/^DIGITS_CFLAGS := //p' "$out/digits.mk")
step $cc $flags -Wall -Wextra -I "$out" -o "$out/digits" \
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
