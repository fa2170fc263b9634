# SPDX-License-Identifier: Apache-2.0
"""One name for the threads of three indices, whose sizes a later line gives."""
from tvm.script import tir as T


@T.prim_func
def fill(A: T.Buffer((8,), "float32")):
    x = T.thread_id()
    a, b, c = T.thread_id([2, 2, 2])
    A[a * 4 + b * 2 + c] = 1.0
