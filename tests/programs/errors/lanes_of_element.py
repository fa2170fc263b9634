# SPDX-License-Identifier: Apache-2.0
"""A vector whose lanes, with those of the elements, are too many."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32"), V: T.Buffer((8,), "float32x257")):
    x = V.vload([0], "float32x256")
    A[0] = 1.0
