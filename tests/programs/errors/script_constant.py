# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float16")):
    for i in range(8):
        A[i] = T.max(A[i], 70000)
