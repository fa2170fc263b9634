# SPDX-License-Identifier: Apache-2.0
"""Loops of 8 bits that are fused to one of 32."""
import numpy as np
import tvm
from tvm.script import tir as T


@T.prim_func
def copy(A: T.Buffer((100, 100), "float32"), C: T.Buffer((100, 100), "float32")):
    for i, j in T.grid(T.int8(100), T.int8(100)):
        with T.block("C"):
            v = T.axis.spatial(T.int8(100), i)
            w = T.axis.spatial(T.int8(100), j)
            C[v, w] = A[v, w]


s = tvm.tir.Schedule(copy)
s.fuse(*s.get_loops("C"))
a = np.arange(10000, dtype="float32").reshape(100, 100)
c = tvm.nd.array(np.zeros((100, 100), "float32"))
built = tvm.build(s.mod, target="c")
built(tvm.nd.array(a), c)
print((c.numpy() == a).all())
print(built.get_source())
