# SPDX-License-Identifier: Apache-2.0
# Tiles of a product that arrive in shared memory while others are used: three of
# each, two ahead. Rows are copied four numbers at a time, by some of the threads.
from tvm.script import tir as T


@T.prim_func
def late_copies(
    x: T.Buffer((16, 128), "float32"),
    w: T.Buffer((128, 16), "float32"),
    y: T.Buffer((16, 16), "float32"),
):
    xs = T.alloc_buffer((16, 128), scope="shared")
    ws = T.alloc_buffer((128, 16), scope="shared")
    acc = T.alloc_buffer((16, 16), scope="local")
    for bx in T.thread_binding(1, thread="blockIdx.x"):
        for ty in T.thread_binding(16, thread="threadIdx.y"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("start"):
                    i, j = T.axis.remap("SS", [ty, tx])
                    acc[i, j] = T.float32(0)
        for k in T.serial(
            8,
            annotations={
                "software_pipeline_stage": [0, 0, 2],
                "software_pipeline_order": [0, 1, 2],
                "software_pipeline_async_stages": [0],
            },
        ):
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(4, thread="threadIdx.x"):
                    for v in T.vectorized(4):
                        with T.block("rows"):
                            i = T.axis.spatial(16, ty)
                            j = T.axis.spatial(128, k * 16 + tx * 4 + v)
                            xs[i, j] = x[i, j]
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    with T.block("columns"):
                        i = T.axis.spatial(128, k * 16 + ty)
                        j = T.axis.spatial(16, tx)
                        ws[i, j] = w[i, j]
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    for q in range(16):
                        with T.block("sum"):
                            i, j = T.axis.remap("SS", [ty, tx])
                            z = T.axis.reduce(128, k * 16 + q)
                            acc[i, j] = acc[i, j] + xs[i, z] * ws[z, j]
        for ty in T.thread_binding(16, thread="threadIdx.y"):
            for tx in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("store"):
                    i, j = T.axis.remap("SS", [ty, tx])
                    y[i, j] = acc[i, j]
