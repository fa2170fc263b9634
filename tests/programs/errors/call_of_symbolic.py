# SPDX-License-Identifier: Apache-2.0
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def inner(A: T.Buffer((1000,), "int8")):
        A[999] = T.int8(0)

    @T.prim_func
    def outer(a: T.handle, n: T.int32):
        A = T.match_buffer(a, (n,), "int8")
        T.evaluate(T.call_func("void", "inner", A.data))
