# SPDX-License-Identifier: Apache-2.0
# Several elements at once: rows and what is the same for all rows, floats that
# become halves under a condition that lanes share, rows that are copied through
# shared memory into columns, and rows that start between two such places.
from tvm.script import tir as T


@T.prim_func
def wide_mix(
    x: T.Buffer((32, 40), "float32"),
    b: T.Buffer((40,), "float32"),
    y: T.Buffer((32, 40), "float32"),
    z: T.Buffer((32, 40), "float16"),
    t: T.Buffer((40, 32), "float32"),
    u: T.Buffer((32, 32), "float32"),
):
    s = T.alloc_buffer((40, 36), scope="shared")
    for bx in T.thread_binding(5, thread="blockIdx.x"):
        for tx in T.thread_binding(64, thread="threadIdx.x"):
            for v in T.vectorized(4):
                with T.block("rows"):
                    i = T.axis.spatial(32, (bx * 64 + tx) // 10)
                    j = T.axis.spatial(40, (bx * 64 + tx) % 10 * 4 + v)
                    y[i, j] = T.exp(x[i, j] * T.float32(0.25)) + b[j]
    for bx in T.thread_binding(5, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for v in T.vectorized(8):
                with T.block("halves"):
                    i = T.axis.spatial(32, (bx * 32 + tx) // 5)
                    j = T.axis.spatial(40, (bx * 32 + tx) % 5 * 8 + v)
                    z[i, j] = T.if_then_else(
                        i < 17, T.Cast("float16", x[i, j]), T.float16(0.5)
                    )
    for bx in T.thread_binding(1, thread="blockIdx.x"):
        for tx in T.thread_binding(320, thread="threadIdx.x"):
            for v in T.vectorized(4):
                with T.block("columns"):
                    i = T.axis.spatial(32, tx // 10)
                    j = T.axis.spatial(40, tx % 10 * 4 + v)
                    s[j, i] = x[i, j]
        for tx in T.thread_binding(320, thread="threadIdx.x"):
            for v in T.vectorized(4):
                with T.block("copied"):
                    i = T.axis.spatial(40, tx // 8)
                    j = T.axis.spatial(32, tx % 8 * 4 + v)
                    t[i, j] = s[i, j]
    for bx in T.thread_binding(8, thread="blockIdx.x"):
        for tx in T.thread_binding(32, thread="threadIdx.x"):
            for v in T.vectorized(4):
                with T.block("between"):
                    i = T.axis.spatial(32, (bx * 32 + tx) // 8)
                    j = T.axis.spatial(32, (bx * 32 + tx) % 8 * 4 + v)
                    u[i, j] = x[i, j + 3] + T.Cast("float32", z[i, j])
