# SPDX-License-Identifier: Apache-2.0
# A half by value, where it can only be stored.
from tvm.script import tir as T


@T.prim_func
def scale(x: T.float16, A: T.Buffer((32,), "float16")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for t in T.thread_binding(32, thread="threadIdx.x"):
            with T.sblock("A"):
                v = T.axis.spatial(32, t)
                A[v] = A[v] * x
