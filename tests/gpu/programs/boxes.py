# SPDX-License-Identifier: Apache-2.0
# Tiles of a product that a unit of the device copies while others are used; those at
# the ends leave the matrices. Threads read them as they are.
from tvm.script import tir as T


@T.prim_func
def boxes(
    x: T.Buffer((40, 96), "float32"),
    w: T.Buffer((96, 20), "float32"),
    y: T.Buffer((40, 20), "float32"),
):
    xs = T.alloc_buffer((3, 3, 16, 32), scope="shared")
    ws = T.alloc_buffer((3, 2, 32, 16), scope="shared")
    acc = T.alloc_buffer((48, 32), scope="local")
    for by in T.thread_binding(3, thread="blockIdx.y"):
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    with T.block("start"):
                        i = T.axis.spatial(48, by * 16 + ty)
                        j = T.axis.spatial(32, bx * 16 + tx)
                        acc[i, j] = T.float32(0)
            for k in T.serial(
                3,
                annotations={
                    "software_pipeline_stage": [0, 0, 1],
                    "software_pipeline_order": [0, 1, 2],
                    "software_pipeline_async_stages": [0],
                },
            ):
                for ty in T.thread_binding(1, thread="threadIdx.y"):
                    for tx in T.thread_binding(1, thread="threadIdx.x"):
                        with T.block("rows"):
                            i, z = T.axis.remap("SS", [by, k])
                            T.reads(x[i * 16 : i * 16 + 16, z * 32 : z * 32 + 32])
                            T.writes(xs[i, z, 0:16, 0:32])
                            T.evaluate(T.copy_box(
                                T.address_of(xs[i, z, 0, 0]), T.address_of(x[0, 0]),
                                40, 96, 96, 1, i * 16, z * 32, 16, 32))
                for ty in T.thread_binding(1, thread="threadIdx.y"):
                    for tx in T.thread_binding(1, thread="threadIdx.x"):
                        with T.block("columns"):
                            z, j = T.axis.remap("SS", [k, bx])
                            T.reads(w[z * 32 : z * 32 + 32, j * 16 : j * 16 + 16])
                            T.writes(ws[z, j, 0:32, 0:16])
                            T.evaluate(T.copy_box(
                                T.address_of(ws[z, j, 0, 0]), T.address_of(w[0, 0]),
                                96, 20, 20, 1, z * 32, j * 16, 32, 16))
                for ty in T.thread_binding(16, thread="threadIdx.y"):
                    for tx in T.thread_binding(16, thread="threadIdx.x"):
                        for q in range(32):
                            with T.block("sum"):
                                i = T.axis.spatial(48, by * 16 + ty)
                                j = T.axis.spatial(32, bx * 16 + tx)
                                z = T.axis.reduce(96, k * 32 + q)
                                acc[i, j] = acc[i, j] + (
                                    xs[i // 16, z // 32, i % 16, z % 32]
                                    * ws[z // 32, j // 16, z % 32, j % 16])
            for ty in T.thread_binding(16, thread="threadIdx.y"):
                for tx in T.thread_binding(16, thread="threadIdx.x"):
                    with T.block("store"):
                        T.where(by * 16 + ty < 40 and bx * 16 + tx < 20)
                        i = T.axis.spatial(48, by * 16 + ty)
                        j = T.axis.spatial(32, bx * 16 + tx)
                        y[i, j] = acc[i, j]
