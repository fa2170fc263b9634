# SPDX-License-Identifier: Apache-2.0
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def inner(a: T.handle, n: T.int32):
        A = T.match_buffer(a, (n, n), "int8")
        A[0, 0] = T.int8(1)

    @T.prim_func
    def outer(A: T.Buffer((100,), "int8"), n: T.int32):
        T.evaluate(T.call_func("void", "inner", A.data, T.int32(65536)))
