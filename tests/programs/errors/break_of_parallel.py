# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    for i in T.parallel(8):
        if A[i] > 3:
            break
