# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi] + 1.0
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = B[vi] * 2.0


s = tvm.tir.Schedule(f)
s.annotate(s.sample_compute_location("B", decision=-1), "unroll", 1)
