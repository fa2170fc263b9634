# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (64, 128), "uint8", strides=[128, 1], scope="shared.swizzle128", align=1024)
        B = T.match_buffer(b, (128, 128), "uint8", strides=[128, 1], scope="shared.swizzle128", align=1024)
        C = T.match_buffer(c, (64, 128), "int32", strides=[128, 1], scope="wmma.accumulator.64x128", align=1024)
        for i, j, k in T.grid(64, 128, 128):
            with T.sblock("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vi, vk], B[vj, vk])
                T.writes(C[vi, vj])
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (64, 128), "uint8", strides=[128, 1], scope="shared.swizzle128", align=1024)
        B = T.match_buffer(b, (128, 128), "uint8", strides=[128, 1], scope="shared.swizzle128", align=1024)
        C = T.match_buffer(c, (64, 128), "int32", strides=[128, 1], scope="wmma.accumulator.64x128", align=1024)
        T.evaluate(T.call_extern("void", "tirc_wgmma_sync_64x128x128_u8u8s32_trans_swizzle128", T.address_of(C[0, 0]), T.address_of(A[0, 0]), T.address_of(B[0, 0])))
