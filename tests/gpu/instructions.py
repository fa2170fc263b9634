#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""instructions.py PROGRAM: nvcc takes the functions of the program but for
`quoted`, whose instructions have TVM's names."""
import os
import sys

import nvcc
from helper import execute, has_dialect, skip, TIRC, work_folder

if not has_dialect("cuda"):
    skip("a build without CUDA")
nvcc.find()
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
folder = work_folder()
for function in "reduced", "ordered", "assembled":
    program = os.path.join(folder, function + ".py")
    with open(program, "w", encoding="utf-8") as file:
        file.write(text[:text.index("# A text is")] +
                   "tvm.build(%s)\n" % function)
    execute([TIRC, "codegen", program, "--target", "cuda-sm90", "-o", folder])
    nvcc.accept(os.path.join(folder, function + ".cu"), "sm_90a")
