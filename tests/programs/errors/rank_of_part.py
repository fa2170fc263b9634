# SPDX-License-Identifier: Apache-2.0
"""A part of a buffer without dimensions has none."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((), "float32")
    P = T.match_buffer(C[()], (2, 2))
    A[0] = T.cast(P.strides[0], "float32")
