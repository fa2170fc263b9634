# SPDX-License-Identifier: Apache-2.0
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def sums(A: T.Buffer((8,), "int8"), B: T.Buffer((8,), "int8"),
             C: T.Buffer((8,), "int8")):
        for i in range(8):
            C[i] = A[i] + B[i]

    @T.prim_func
    def doubles(A: T.Buffer((8,), "int8"), C: T.Buffer((8,), "int8")):
        T.evaluate(T.call_func("void", "sums", A.data, A.data, C.data))

    @T.prim_func
    def outer(A: T.Buffer((8,), "int8"), B: T.Buffer((8,), "int8")):
        T.evaluate(T.call_func("void", "sums", A.data, B.data, A.data))
