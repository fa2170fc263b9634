# SPDX-License-Identifier: Apache-2.0
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def outer(A: T.Buffer((4,), "int8")):
        T.evaluate(T.call_func("void", "inner", A.data))

    @T.prim_func
    def inner(A: T.Buffer((4,), "int8")):
        T.evaluate(T.call_func("void", "outer", A.data))
