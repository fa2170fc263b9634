# SPDX-License-Identifier: Apache-2.0
# Reductions of several values across threads: the first of equal largest values and its
# index, in a warp, in two warps, and of a number of threads that is not a power of two;
# the last of equal smallest values; a sum and a sum of squares.
from tvm.script import tir as T


@T.prim_func
def first_of_equal(
    x: T.Buffer((4, 192), "float32"),
    at: T.Buffer((4,), "int32"),
    most: T.Buffer((4,), "float32"),
    at_wide: T.Buffer((4,), "int32"),
    most_wide: T.Buffer((4,), "float32"),
    at_odd: T.Buffer((4,), "int32"),
    least_odd: T.Buffer((4,), "float32"),
    sums: T.Buffer((4,), "float32"),
    squares: T.Buffer((4,), "float32"),
):
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for k_o in range(6):
            for k_i in T.thread_binding(32, thread="threadIdx.x"):
                with T.block("largest"):
                    v_i = T.axis.spatial(4, i)
                    v_k = T.axis.reduce(192, k_o * 32 + k_i)
                    with T.init():
                        at[v_i] = -1
                        most[v_i] = T.min_value("float32")
                    v_at: T.int32 = T.Select(most[v_i] >= T.round(x[v_i, v_k] * T.float32(2)), at[v_i], v_k)
                    v_most: T.float32 = T.Select(most[v_i] >= T.round(x[v_i, v_k] * T.float32(2)), most[v_i],
                                                 T.round(x[v_i, v_k] * T.float32(2)))
                    at[v_i] = v_at
                    most[v_i] = v_most
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for k_o in range(3):
            for k_i in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("wide"):
                    v_i = T.axis.spatial(4, i)
                    v_k = T.axis.reduce(192, k_o * 64 + k_i)
                    with T.init():
                        at_wide[v_i] = -1
                        most_wide[v_i] = T.min_value("float32")
                    v_at: T.int32 = T.Select(most_wide[v_i] >= T.round(x[v_i, v_k]), at_wide[v_i], v_k)
                    v_most: T.float32 = T.Select(most_wide[v_i] >= T.round(x[v_i, v_k]), most_wide[v_i],
                                                 T.round(x[v_i, v_k]))
                    most_wide[v_i] = v_most
                    at_wide[v_i] = v_at
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for k_o in range(4):
            for k_i in T.thread_binding(48, thread="threadIdx.x"):
                with T.block("odd"):
                    v_i = T.axis.spatial(4, i)
                    v_k = T.axis.reduce(192, k_o * 48 + k_i)
                    T.where(k_o * 48 + k_i < 190)
                    with T.init():
                        at_odd[v_i] = -1
                        least_odd[v_i] = T.max_value("float32")
                    v_at: T.int32 = T.Select(least_odd[v_i] < T.round(x[v_i, v_k]), at_odd[v_i], v_k)
                    v_least: T.float32 = T.Select(least_odd[v_i] < T.round(x[v_i, v_k]), least_odd[v_i],
                                                  T.round(x[v_i, v_k]))
                    at_odd[v_i] = v_at
                    least_odd[v_i] = v_least
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for k_o in range(3):
            for k_i in T.thread_binding(64, thread="threadIdx.x"):
                with T.block("moments"):
                    v_i = T.axis.spatial(4, i)
                    v_k = T.axis.reduce(192, k_o * 64 + k_i)
                    with T.init():
                        sums[v_i] = T.float32(0)
                        squares[v_i] = T.float32(0)
                    v_sum: T.float32 = sums[v_i] + x[v_i, v_k]
                    v_square: T.float32 = squares[v_i] + x[v_i, v_k] * x[v_i, v_k]
                    sums[v_i] = v_sum
                    squares[v_i] = v_square
