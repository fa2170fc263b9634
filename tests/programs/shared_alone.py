# SPDX-License-Identifier: Apache-2.0
# Memory that threads share, in functions without threads: an array like others.
from tvm.script import tir as T


@T.prim_func
def copied(A: T.Buffer((8, 4), "float32"), C: T.Buffer((8, 4), "float32")):
    for i in range(8):
        with T.sblock("row"):
            vi = T.axis.spatial(8, i)
            row = T.sblock_alloc_buffer((4,), "float32", scope="shared")
            for j in range(4):
                with T.sblock("load"):
                    vj = T.axis.spatial(4, j)
                    row[vj] = A[vi, 3 - vj]
            for j in range(4):
                with T.sblock("store"):
                    vj = T.axis.spatial(4, j)
                    C[vi, vj] = row[vj] * T.float32(2)


@T.prim_func
def whole(A: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32")):
    B = T.alloc_buffer((64,), "float32", scope="shared.dyn")
    for i in range(64):
        B[i] = A[i] + T.float32(1)
    for i in range(64):
        C[i] = B[63 - i]
