# SPDX-License-Identifier: Apache-2.0
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def inner(n: T.int32, a: T.handle):
        A = T.match_buffer(a, (n,), "int32")
        for i in range(n):
            A[i] = 0

    @T.prim_func
    def outer(A: T.Buffer((64,), "int32")):
        T.evaluate(T.call_func("void", "inner", 64 - T.max(A[3], 0) * 2, A.data))
