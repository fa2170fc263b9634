# SPDX-License-Identifier: Apache-2.0
# Sums and maxima whose threads exchange values: of some warps, of one, and of a
# part of one.
from tvm.script import tir as T


@T.prim_func
def warp_sum(
    x: T.Buffer((6, 200), "float32"),
    s: T.Buffer((6,), "float32"),
    m: T.Buffer((6,), "float32"),
    q: T.Buffer((6,), "float32"),
):
    T.func_attr({"warp_size": 32})
    for i in T.thread_binding(6, thread="blockIdx.x"):
        for t in T.thread_binding(128, thread="threadIdx.x"):
            for o in range(2):
                with T.block("sum"):
                    T.where(o * 128 + t < 200)
                    vi = T.axis.spatial(6, i)
                    vk = T.axis.reduce(200, o * 128 + t)
                    with T.init():
                        s[vi] = T.float32(0)
                    s[vi] = s[vi] + x[vi, vk]
    for i in T.thread_binding(3, thread="blockIdx.x"):
        for y in T.thread_binding(2, thread="threadIdx.y"):
            for t in T.thread_binding(32, thread="threadIdx.x"):
                for o in range(7):
                    with T.block("most"):
                        T.where(o * 32 + t < 200)
                        vi = T.axis.spatial(6, i * 2 + y)
                        vk = T.axis.reduce(200, o * 32 + t)
                        with T.init():
                            m[vi] = T.float32(-1e30)
                        m[vi] = T.max(m[vi], x[vi, vk])
    for i in T.thread_binding(1, thread="blockIdx.x"):
        for y in T.thread_binding(8, thread="threadIdx.y"):
            for t in T.thread_binding(8, thread="threadIdx.x"):
                for o in range(25):
                    with T.block("squares"):
                        T.where(y < 6)
                        vi = T.axis.spatial(6, y)
                        vk = T.axis.reduce(200, o * 8 + t)
                        with T.init():
                            q[vi] = T.float32(0)
                        q[vi] = q[vi] + x[vi, vk] * x[vi, vk]
