# SPDX-License-Identifier: Apache-2.0
# break and continue in the loops of threads: each thread leaves its own.
import tvm
from tvm.script import tir as T


@T.prim_func
def rows(A: T.Buffer((64, 32), "int32"), B: T.Buffer((64,), "int32")):
    for b in T.thread_binding(4, thread="blockIdx.x"):
        for t in T.thread_binding(16, thread="threadIdx.x"):
            B[b * 16 + t] = 0
            for j in range(32):
                if A[b * 16 + t, j] < 0:
                    continue
                B[b * 16 + t] = B[b * 16 + t] + A[b * 16 + t, j]
                if B[b * 16 + t] > 30:
                    break


tvm.build(rows, target="cuda")
