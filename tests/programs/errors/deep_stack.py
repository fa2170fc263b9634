# SPDX-License-Identifier: Apache-2.0
from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def f0(A: T.Buffer((65000,), "int8")):
        A[0] = T.int8(1)

    @T.prim_func
    def f1(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f0", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f2(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f1", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f3(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f2", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f4(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f3", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f5(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f4", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f6(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f5", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f7(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f6", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f8(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f7", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f9(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f8", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f10(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f9", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f11(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f10", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f12(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f11", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f13(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f12", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f14(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f13", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f15(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f14", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f16(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f15", B.data))
        for i in range(65000):
            A[i] = B[i]

    @T.prim_func
    def f17(A: T.Buffer((65000,), "int8")):
        B = T.alloc_buffer((65000,), "int8")
        T.evaluate(T.call_func("void", "f16", B.data))
        for i in range(65000):
            A[i] = B[i]
