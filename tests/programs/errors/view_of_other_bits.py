# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((4,), "float64")):
    a = T.decl_buffer((4,), "float64", data=A.data)
    for i in range(4):
        B[i] = a[i]
