# SPDX-License-Identifier: Apache-2.0
"""A function that calls an earlier one, whose name is a word of C."""
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def double(A: T.Buffer((4,), "int8"), B: T.Buffer((4,), "int8")):
        for i in range(4):
            B[i] = A[i] + A[i]

    @T.prim_func
    def outer(A: T.Buffer((4,), "int8"), B: T.Buffer((4,), "int8")):
        T.evaluate(T.call_func("void", "double", A.data, B.data))

    @T.prim_func
    def twice(A: T.Buffer((4,), "int8"), B: T.Buffer((4,), "int8")):
        half = T.alloc_buffer((4,), "int8")
        T.evaluate(T.call_func("void", "double", A.data, half.data))
        T.evaluate(T.call_func("void", "double", half.data, B.data))
