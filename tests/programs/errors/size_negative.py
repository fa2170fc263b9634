# SPDX-License-Identifier: Apache-2.0
"""A list of sizes has a negative one."""
from tvm.script import tir as T

N = [-3, 2]


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    C = T.alloc_buffer(N, "float32")
    A[0] = C[0, 0]
