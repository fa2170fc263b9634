# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((16,), "float32"), C: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            T.where(i > 0)
            C[vi] = A[12 // vi]


tvm.tir.Schedule(f).cache_index("C", "global", cse_thresh=0)
