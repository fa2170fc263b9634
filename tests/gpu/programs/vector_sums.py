# SPDX-License-Identifier: Apache-2.0
# Vectors in a kernel: copied as they are, computed lane by lane, of elements that do not
# follow each other, in a variable; a barrier for memory of a size that the launch gives.
from tvm.script import tir as T


@T.prim_func
def vector_sums(
    x: T.Buffer((8, 64), "float32"),
    y: T.Buffer((8, 64), "float32"),
    z: T.Buffer((64, 8), "float32"),
):
    for bx in T.thread_binding(8, thread="blockIdx.x"):
        for tx in T.thread_binding(16, thread="threadIdx.x"):
            row = T.alloc_buffer((64,), "float32", scope="shared.dyn")
            row[T.Ramp(tx * 4, 1, 4)] = x[bx, T.Ramp(tx * 4, 1, 4)]
            T.tvm_storage_sync("shared.dyn")
            v: T.float32x4 = row[T.Ramp(15 - tx, 16, 4)] * T.Broadcast(T.float32(2), 4)
            y[bx, T.Ramp(tx * 4, 1, 4)] = T.Select(v > x[bx, T.Ramp(tx * 4, 1, 4)], v,
                                                   x[bx, T.Ramp(tx * 4, 1, 4)] + v)
            z[T.Ramp(tx, 16, 4), bx] = v - T.Broadcast(row[tx], 4)
