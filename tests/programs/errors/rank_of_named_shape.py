# SPDX-License-Identifier: Apache-2.0
"""A shape that names other shapes has too many dimensions together."""
from tvm.script import tir as T


@T.prim_func
def fill(A: T.Buffer((1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), "float32"), C: T.Buffer((2,), "float32")):
    B = T.alloc_buffer((*A.shape, *A.shape), "float32")
    Tx.fill(B, 7)
    C[0] = 1.0
