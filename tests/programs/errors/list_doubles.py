# SPDX-License-Identifier: Apache-2.0
"""A list that has itself twice in each step: of 2^41 numbers."""
from tvm.script import tir as T

L = [1, 1]
for i in range(40):
    L = [L, L]


@T.prim_func
def fill(A: T.Buffer((8,), "float32")):
    A[L[0]] = 1.0
