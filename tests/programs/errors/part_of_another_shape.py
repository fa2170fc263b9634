# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8, 8), "float32")):
    for i in range(2):
        with T.block("tile"):
            vi = T.axis.spatial(2, i)
            T.reads(A[vi * 4:vi * 4 + 4, 0:8])
            P = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:8], (4, 4), "float32")
            P[0, 0] = T.float32(1)
