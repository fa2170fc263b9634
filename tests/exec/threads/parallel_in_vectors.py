#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A parallel loop in a vectorized one is printed as a serial loop: compilers
refuse threads there."""
import os

from helper import fail, tirc, work_folder

SOURCE = '''from tvm.script import tir as T
@T.prim_func
def f(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8, 32), "float32")):
    for i in T.vectorized(8):
        for j in T.parallel(32):
            B[i, j] = A[i, j] + T.float32(1)
    for i in T.parallel(8):
        for j in T.vectorized(32):
            B[i, j] = B[i, j] * T.float32(2)
'''

path = os.path.join(work_folder(), "loops.py")
with open(path, "w", encoding="utf-8") as file:
    file.write(SOURCE)
for target in ("c-openmp", "c-threads"):
    tirc("test", path, "--target", target)
text = tirc("codegen", path, "--target", "c-openmp").stdout
if text.count("omp parallel for") != 1 or text.count("omp simd") != 2:
    fail("other loops than one parallel and two vectorized ones:\n" + text)
