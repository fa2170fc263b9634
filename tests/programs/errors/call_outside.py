# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "int8")):
    A[0] = T.int8(0)
    T.evaluate(T.call_func("int32", "system", A.data))
