# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    for i in range(8):
        A[i] = T.flot32(1)
