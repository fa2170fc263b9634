# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.macro
def store(i):
    A[i] = T.float32(0)


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    for i in range(8):
        store(i)
