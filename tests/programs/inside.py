# SPDX-License-Identifier: Apache-2.0
"""Indices that leave an array in no iteration that runs."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "int8"), B: T.Buffer((8,), "int8"), n: T.int32):
    for i in range(8):
        if i < 4:
            B[i] = A[i]
        else:
            B[i] = A[7 - i]
    for i in range(8):
        B[7 - i] = T.if_then_else(2 <= i and i < 6, A[i - 2], T.int8(0))
    for i in range(n):
        B[i] = A[i // 2]
    for i in range(0):
        B[i + 9] = T.int8(0)
