# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
        m = T.int32()
        n = T.int32()
        sa = T.int32()
        sb = T.int32()
        A = T.match_buffer(a, (m, n), "uint8", strides=[sa, 1])
        B = T.match_buffer(b, (n // 4, 2, 16, 4), "int8", strides=[sb, 64, 4, 1])
        C = T.match_buffer(c, (m, 2, 16), "int32", strides=[32, 16, 1])
        for i, j, k in T.grid(m, 32, n):
            with T.sblock("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vi, vk], B[vk // 4, vj // 16, vj % 16, vk % 4])
                T.writes(C[vi, vj // 16, vj % 16])
                C[vi, vj // 16, vj % 16] = C[vi, vj // 16, vj % 16] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk // 4, vj // 16, vj % 16, vk % 4])

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
        m = T.int32()
        n = T.int32()
        sa = T.int32()
        sb = T.int32()
        A = T.match_buffer(a, (m, n), "uint8", strides=[sa, 1])
        B = T.match_buffer(b, (n // 4, 2, 16, 4), "int8", strides=[sb, 64, 4, 1])
        C = T.match_buffer(c, (m, 2, 16), "int32", strides=[32, 16, 1])
        T.evaluate(T.call_extern("void", "tirc_amx_dot_u8s8", T.address_of(A[0, 0]), sa, T.address_of(B[0, 0, 0, 0]), sb, T.address_of(C[0, 0, 0]), m, n))
