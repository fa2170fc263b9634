# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (2,), "bfloat16", strides=[1])
        B = T.match_buffer(b, (16, 2), "bfloat16", strides=[2, 1])
        C = T.match_buffer(c, (16,), "float32", strides=[1])
        for i, k in T.grid(16, 2):
            with T.sblock("update"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vk], B[vi, vk])
                T.writes(C[vi])
                C[vi] = C[vi] + T.Cast("float32", A[vk]) * T.Cast("float32", B[vi, vk])

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (2,), "bfloat16", strides=[1])
        B = T.match_buffer(b, (16, 2), "bfloat16", strides=[2, 1])
        C = T.match_buffer(c, (16,), "float32", strides=[1])
        T.evaluate(T.call_extern("void", "tirc_dot_16x2_bf16", T.address_of(A[0]), T.address_of(B[0, 0]), T.address_of(C[0])))
