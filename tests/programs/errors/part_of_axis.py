# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((16, 16), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("C"):
            v = T.axis.spatial(4, i)
            P = T.match_buffer(A[v, 4:8], (4,), elem_offset=v)
            C[v] = P[0]
