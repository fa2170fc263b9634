# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "int8")):
    T.evaluate(T.call_func("void", "f", A.data))
