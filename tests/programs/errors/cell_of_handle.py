# SPDX-License-Identifier: Apache-2.0
"""A variable of a type that no memory holds."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    c = T.local_scalar("handle")
    A[0] = 1.0
