# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (16, {{k}}), "{{type}}", strides=[{{k}}, 1], scope="wmma.matrix_a", align={{bytes}})
        B = T.match_buffer(b, ({{k}}, 16), "{{type}}", strides=[16, 1], scope="wmma.matrix_b", align={{bytes}})
        C = T.match_buffer(c, (16, 16), "{{sum}}", strides=[16, 1], scope="{{scope}}", align=1024)
        for i, j, k in T.grid(16, 16, {{k}}):
            with T.sblock("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(A[vi, vk], B[vk, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = C[vi, vj] + T.Cast("{{sum}}", A[vi, vk]) * T.Cast("{{sum}}", B[vk, vj])

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (16, {{k}}), "{{type}}", strides=[{{k}}, 1], scope="wmma.matrix_a", align={{bytes}})
        B = T.match_buffer(b, ({{k}}, 16), "{{type}}", strides=[16, 1], scope="wmma.matrix_b", align={{bytes}})
        C = T.match_buffer(c, (16, 16), "{{sum}}", strides=[16, 1], scope="{{scope}}", align=1024)
        T.evaluate(T.call_extern("void", "tirc_{{intrinsic}}", T.address_of(C[0, 0]), T.address_of(A[0, 0]), T.address_of(B[0, 0])))
