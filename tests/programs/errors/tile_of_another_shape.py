# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T

@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Tx.copy(B[0:4], A[0:3])
