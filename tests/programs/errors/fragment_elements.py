# SPDX-License-Identifier: Apache-2.0
# Elements of a fragment, touched one by one.
from tvm.script import tir as T


@T.prim_func
def copy(A: T.Buffer((16, 16), "float16"), B: T.Buffer((16, 16), "float16")):
    F = T.alloc_buffer((16, 16), "float16", scope="wmma.matrix_a")
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for t in T.thread_binding(32, thread="threadIdx.x"):
            for i, j in T.grid(16, 16):
                with T.sblock("in"):
                    v_i, v_j = T.axis.remap("SS", [i, j])
                    F[v_i, v_j] = A[v_i, v_j]
            for i, j in T.grid(16, 16):
                with T.sblock("out"):
                    v_i, v_j = T.axis.remap("SS", [i, j])
                    B[v_i, v_j] = F[v_i, v_j]
