# SPDX-License-Identifier: Apache-2.0
# Sums in memory of the device, each of one thread's own: a row per thread, a
# tile of elements per block, and an index that is fused and taken apart again.
# No thread has to wait for another one.
from tvm.script import tir as T


@T.prim_func
def own_rows(
    x: T.Buffer((64, 20), "float32"),
    w: T.Buffer((20, 48), "float32"),
    rows: T.Buffer((64,), "float32"),
    tiles: T.Buffer((64, 48), "float32"),
    parts: T.Buffer((16, 3, 20), "float32"),
):
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for k in range(20):
                with T.block("rows"):
                    i = T.axis.spatial(64, bx * 32 + tx)
                    r = T.axis.reduce(20, k)
                    with T.init():
                        rows[i] = T.float32(0)
                    rows[i] = rows[i] + x[i, r]
    for by in T.thread_binding(8, thread="blockIdx.y"):
        for bx in T.thread_binding(3, thread="blockIdx.x"):
            for ty in T.thread_binding(8, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for k in range(20):
                        with T.block("tiles"):
                            i = T.axis.spatial(64, by * 8 + ty)
                            j = T.axis.spatial(48, bx * 16 + tx)
                            r = T.axis.reduce(20, k)
                            with T.init():
                                tiles[i, j] = T.float32(0)
                            tiles[i, j] = tiles[i, j] + x[i, r] * w[r, j]
    for bx in T.thread_binding(5, thread="blockIdx.x"):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            for j0 in range(3):
                for k in range(16):
                    with T.block("parts"):
                        i = T.axis.spatial(16, (bx * 64 + tx) // 20)
                        j = T.axis.spatial(3, j0)
                        l = T.axis.spatial(20, (bx * 64 + tx) % 20)
                        r = T.axis.reduce(16, k)
                        with T.init():
                            parts[i, j, l] = T.float32(0)
                        parts[i, j, l] = parts[i, j, l] + x[i * 3 + j, r] * w[l, r]
