# SPDX-License-Identifier: Apache-2.0
# An element per thread of an array of two sizes: how many there are is a product
# that 32 bits need not hold, and so is each thread's number.
from tvm.script import tir as T


@T.prim_func
def two_sizes(a: T.handle, b: T.handle, n: T.int32, m: T.int32):
    x = T.match_buffer(a, (n, m), "float32")
    y = T.match_buffer(b, (n, m), "float32")
    for bx in T.thread_binding((n * m + 127) // 128, thread="blockIdx.x"):
        for tx in T.thread_binding(128, thread="threadIdx.x"):
            with T.block("y"):
                i = T.axis.spatial(n, (bx * 128 + tx) // m)
                j = T.axis.spatial(m, (bx * 128 + tx) % m)
                T.where(bx * 128 + tx < n * m)
                y[i, j] = x[i, j] + T.float32(1)
