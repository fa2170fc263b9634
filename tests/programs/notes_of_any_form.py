# SPDX-License-Identifier: Apache-2.0
"""Notes of blocks that are not of the form that passes and primitives write: they have
no effect."""
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8, 8), "float32")
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"buffer_dim_align": [5, [], [0], [0, 0, 4]]})
            B[vi, vj] = A[vi, vj] + 1.0
    for i, k in T.grid(8, 2):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            T.block_attr({"written_out": 1, "sum_terms": 1 << 40})
            C[vi] = C[vi] + B[vi, vk]


s = tvm.tir.Schedule(f)
s.storage_align("B", 0, 0, factor=4, offset=1)
print(s.mod)
print(tvm.build(s.mod, target="c").get_source())
