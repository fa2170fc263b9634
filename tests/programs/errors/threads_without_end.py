# SPDX-License-Identifier: Apache-2.0
"""A sum over 2^64 threads."""
from tvm.script import tir as T


@T.prim_func
def total(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32")):
    for i in T.serial(8):
        for j in T.thread_binding(1024, thread="threadIdx.y"):
            for k in T.thread_binding(T.int64(18014398509481984), thread="threadIdx.x"):
                with T.sblock("sum"):
                    vi = T.axis.spatial(8, i)
                    vj = T.axis.reduce(1024, j)
                    vk = T.axis.reduce(T.int64(18014398509481984), k)
                    with T.init():
                        B[vi] = T.float32(0)
                    B[vi] = B[vi] + A[vi, (vk + vj) % 8]
