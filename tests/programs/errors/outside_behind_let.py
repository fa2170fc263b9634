# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "int8"), B: T.Buffer((4,), "int8")):
    for i in range(4):
        j = i + 100000
        B[j] = A[i]
