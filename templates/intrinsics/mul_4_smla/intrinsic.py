# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (4,), "int8", strides=[1])
        B = T.match_buffer(b, (4,), "int8", strides=[1])
        C = T.match_buffer(c, (4,), "int32", strides=[1])
        for i in range(4):
            with T.sblock("update"):
                vi = T.axis.spatial(4, i)
                T.reads(C[vi], A[vi], B[vi])
                T.writes(C[vi])
                C[vi] = C[vi] + T.Cast("int32", A[vi]) * T.Cast("int32", B[vi])

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (4,), "int8", strides=[1])
        B = T.match_buffer(b, (4,), "int8", strides=[1])
        C = T.match_buffer(c, (4,), "int32", strides=[1])
        T.evaluate(T.call_extern("void", "tirc_mul_4_smla", T.address_of(A[0]), T.address_of(B[0]), T.address_of(C[0])))
