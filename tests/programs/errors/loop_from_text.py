# SPDX-License-Identifier: Apache-2.0
"""The first value of a loop is a text."""
from tvm import te, tir
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.float32(1)


tir.For(te.var("k"), "abc", 4, 0, f.body)
