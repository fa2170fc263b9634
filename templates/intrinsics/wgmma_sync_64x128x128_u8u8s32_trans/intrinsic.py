# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
        sa = T.int32()
        sb = T.int32()
        A = T.match_buffer(a, (8, 64, 16), "uint8", strides=[sa, 16, 1], scope="shared")
        B = T.match_buffer(b, (8, 128, 16), "uint8", strides=[sb, 16, 1], scope="shared")
        C = T.match_buffer(c, (64, 128), "int32", strides=[128, 1], scope="wmma.accumulator.64x128", align=1024)
        for i, j, k in T.grid(64, 128, 128):
            with T.sblock("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vk // 16, vi, vk % 16], B[vk // 16, vj, vk % 16])
                T.writes(C[vi, vj])
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vk // 16, vi, vk % 16]) * T.Cast("int32", B[vk // 16, vj, vk % 16])

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
        sa = T.int32()
        sb = T.int32()
        A = T.match_buffer(a, (8, 64, 16), "uint8", strides=[sa, 16, 1], scope="shared")
        B = T.match_buffer(b, (8, 128, 16), "uint8", strides=[sb, 16, 1], scope="shared")
        C = T.match_buffer(c, (64, 128), "int32", strides=[128, 1], scope="wmma.accumulator.64x128", align=1024)
        T.evaluate(T.call_extern("void", "tirc_wgmma_sync_64x128x128_u8u8s32_trans", T.address_of(C[0, 0]), T.address_of(A[0, 0, 0]), sa, T.address_of(B[0, 0, 0]), sb))
