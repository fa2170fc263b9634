# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import tir as T


@T.prim_func
def rows(C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4, 4), "float32", strides=[6, 1])
    for i, j in T.grid(4, 4):
        B[i, j] = 1.0
    T.evaluate(T.call_extern("int32", "fill", B.data))
    for i in range(4):
        C[i] = B[i, i]


tvm.build(rows, target="c").get_source()
