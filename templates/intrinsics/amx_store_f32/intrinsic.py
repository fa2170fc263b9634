# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, c: T.handle):
        m = T.int32()
        A = T.match_buffer(a, (m, 2, 16), "float32", strides=[32, 16, 1])
        C = T.match_buffer(c, (m, 2, 16), "float32", strides=[32, 16, 1])
        for i, j in T.grid(m, 32):
            with T.sblock("store"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(A[vi, vj // 16, vj % 16])
                T.writes(C[vi, vj // 16, vj % 16])
                C[vi, vj // 16, vj % 16] = A[vi, vj // 16, vj % 16]

    @T.prim_func
    def impl(a: T.handle, c: T.handle):
        m = T.int32()
        A = T.match_buffer(a, (m, 2, 16), "float32", strides=[32, 16, 1])
        C = T.match_buffer(c, (m, 2, 16), "float32", strides=[32, 16, 1])
        T.evaluate(T.call_extern("void", "tirc_amx_store_f32", T.address_of(A[0, 0, 0]), T.address_of(C[0, 0, 0]), m))
