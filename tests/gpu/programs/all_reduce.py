# SPDX-License-Identifier: Apache-2.0
# Reductions across threads as TVM's lowering writes them: with a condition, of a number
# of threads that is not a power of two, of several groups, in a loop, of a value and its
# index.
from tvm.script import tir as T


@T.prim_func
def all_reduce(
    x: T.Buffer((4, 48), "float32"),
    s: T.Buffer((4, 48), "float32"),
    most: T.Buffer((4,), "float32"),
    at: T.Buffer((4,), "int32"),
):
    for bx in T.thread_binding(2, thread="blockIdx.x"):
        for ty in T.thread_binding(2, thread="threadIdx.y"):
            for tx in T.thread_binding(48, thread="threadIdx.x"):
                sum_all = T.alloc_buffer((1,), "float32", scope="local")
                index_all = T.alloc_buffer((1,), "int32", scope="local")
                most_all = T.alloc_buffer((1,), "float32", scope="local")
                s[bx * 2 + ty, tx] = T.float32(0)
                for k in range(3):
                    with T.attr(T.comm_reducer(lambda a, b: a + b, [T.float32(0)]),
                                "reduce_scope", T.int32(0)):
                        T.tvm_thread_allreduce(T.uint32(1), x[bx * 2 + ty, tx],
                                               tx < 40 - k, sum_all[0], tx)
                    s[bx * 2 + ty, tx] = s[bx * 2 + ty, tx] + sum_all[0]
                T.attr(
                    T.comm_reducer(
                        lambda i0, v0, i1, v1: (
                            T.Select(v0 > v1 or (v0 == v1 and i0 < i1), i0, i1),
                            T.Select(v0 > v1, v0, v1),
                        ),
                        [-1, T.min_value("float32")],
                    ),
                    "reduce_scope",
                    T.int32(0),
                )
                T.evaluate(
                    T.tvm_thread_allreduce(
                        T.uint32(2), tx, x[bx * 2 + ty, tx], True, index_all[0],
                        most_all[0], tx, dtype="handle",
                    )
                )
                if tx == 0:
                    most[bx * 2 + ty] = most_all[0]
                    at[bx * 2 + ty] = index_all[0]
