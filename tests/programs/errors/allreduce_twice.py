# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((32,), "float32"), B: T.Buffer((1,), "float32")):
    for bx in T.thread_binding(1, "blockIdx.x"):
        for tx in T.thread_binding(16, "threadIdx.x"):
            with T.attr(T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), "reduce_scope",
                        T.reinterpret("handle", T.uint64(0))):
                T.tvm_thread_allreduce(T.uint32(1), A[tx], True, B[0], tx, tx)
