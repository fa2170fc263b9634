# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, ({{count}},), "int8", strides=[1])
        B = T.match_buffer(b, ({{count}},), "int8", strides=[1])
        C = T.match_buffer(c, ({{count}},), "int32", strides=[1])
        for i in range({{count}}):
            with T.sblock("update"):
                vi = T.axis.spatial({{count}}, i)
                T.reads(C[vi], A[vi], B[vi])
                T.writes(C[vi])
                C[vi] = C[vi] + T.Cast("int32", A[vi]) * T.Cast("int32", B[vi])

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, ({{count}},), "int8", strides=[1])
        B = T.match_buffer(b, ({{count}},), "int8", strides=[1])
        C = T.match_buffer(c, ({{count}},), "int32", strides=[1])
        T.evaluate(T.call_extern("void", "tirc_{{intrinsic}}", T.address_of(A[0]), T.address_of(B[0]), T.address_of(C[0])))
