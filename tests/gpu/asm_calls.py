#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asm_calls.py COMPILER ARGUMENT...: runs the compiler, on a source of CUDA of
which each asm statement has become a call of what emulates it (ptx_on_cpu.h)."""
import os
import re
import subprocess
import sys

# What nvcc defines for sm_90a alone.
NATIVE = "__CUDA_ARCH_FEAT_SM90_ALL"
STRING = r'"(?:[^"\\]|\\.)*"'


def parts_of(text):
    """An asm statement's template, outputs, inputs and clobbers."""
    parts, depth = [""], 0
    for token in re.findall(STRING + r"|.", text, re.DOTALL):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += token
    return parts + [""] * (4 - len(parts))


def call_of(statement):
    template, outputs, inputs, _ = parts_of(statement.group(1))
    outputs = re.sub(r'"[+=][fr]"', "&", outputs)
    for constraint, kind in (('"l"', "(uint64_t)"), ('"r"', "(uint32_t)")):
        inputs = inputs.replace(constraint, kind)
    return "emulation::ptx(%s, { %s }, { %s });" % (template, outputs, inputs)


def calls(source):
    return re.sub(r"\basm volatile\(((?:%s|[^\";])*)\);" % STRING, call_of, source)


if __name__ == "__main__":
    command = sys.argv[1:]
    for i, name in enumerate(command):
        stem, suffix = os.path.splitext(name)
        if suffix in (".cu", ".c"):
            with open(name, encoding="utf-8") as file:
                text = calls(file.read())
            command[i] = stem + "_calls" + suffix
            with open(command[i], "w", encoding="utf-8") as file:
                file.write(text)
    sys.exit(subprocess.run(command).returncode)
