# SPDX-License-Identifier: Apache-2.0
# External functions that several calls give pointers to different elements, numbers of
# different types, and nothing.
from tvm.script import tir as T


@T.prim_func
def calls(A: T.Buffer((4, 5), "float32"), B: T.Buffer((8,), "int8"), n: T.int64):
    T.evaluate(T.call_extern("int32", "move", A.data, B.data, T.int32(3)))
    T.evaluate(T.call_extern("int32", "move", B.data, A.data, n))
    T.evaluate(T.call_cpacked("f.g", B[0], A[0, 0], T.reinterpret(T.uint64(0), dtype="handle"), dtype="int32"))
    T.evaluate(T.call_cpacked("f.g", T.Cast("uint32", B[1]), T.float64(2), A.data, dtype="int32"))
    T.evaluate(T.call_extern("void", "told", "*/ \"); f(", B.data))
    T.evaluate(T.call_extern("void", "told", "ends", A.data))
