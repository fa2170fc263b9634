# SPDX-License-Identifier: Apache-2.0
"""A list of sizes has a text."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((*["abc"], 4), "float32")
    A[0] = C[0, 0]
