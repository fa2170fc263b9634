# SPDX-License-Identifier: MIT-0
{{<A}}T.match_buffer(a, {{#swizzle}}(64, {{k}}), "{{type}}", strides=[{{k}}, 1], scope="shared.swizzle128", align=1024{{/swizzle}}{{^swizzle}}(8, 64, {{group}}), "{{type}}", strides=[sa, {{group}}, 1], scope="shared"{{/swizzle}}){{/A}}
{{<B}}T.match_buffer(b, {{#swizzle}}{{#trans}}(128, {{k}}), "{{type}}", strides=[{{k}}, 1]{{/trans}}{{^trans}}(2, 64, 64), "{{type}}", strides=[4096, 64, 1]{{/trans}}, scope="shared.swizzle128", align=1024{{/swizzle}}{{^swizzle}}{{#trans}}(8, 128, {{group}}){{/trans}}{{^trans}}(16, 64, 8){{/trans}}, "{{type}}", strides=[sb, {{group}}, 1], scope="shared"{{/swizzle}}){{/B}}
{{<C}}T.match_buffer(c, (64, 128), "{{sum}}", strides=[128, 1], scope="wmma.accumulator.64x128", align=1024){{/C}}
{{<a}}A[{{#swizzle}}vi, vk{{/swizzle}}{{^swizzle}}vk // {{group}}, vi, vk % {{group}}{{/swizzle}}]{{/a}}
{{<b}}B[{{#swizzle}}{{#trans}}vj, vk{{/trans}}{{^trans}}vj // 64, vk, vj % 64{{/trans}}{{/swizzle}}{{^swizzle}}{{#trans}}vk // {{group}}, vj, vk % {{group}}{{/trans}}{{^trans}}vj // 8, vk, vj % 8{{/trans}}{{/swizzle}}]{{/b}}
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(a: T.handle, b: T.handle, c: T.handle):
{{^swizzle}}
        sa = T.int32()
        sb = T.int32()
{{/swizzle}}
        A = {{>A}}
        B = {{>B}}
        C = {{>C}}
        for i, j, k in T.grid(64, 128, {{k}}):
            with T.sblock("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads({{>a}}, {{>b}})
                T.writes(C[vi, vj])
                C[vi, vj] = C[vi, vj] + T.Cast("{{sum}}", {{>a}}) * T.Cast("{{sum}}", {{>b}})

    @T.prim_func
    def impl(a: T.handle, b: T.handle, c: T.handle):
{{^swizzle}}
        sa = T.int32()
        sb = T.int32()
{{/swizzle}}
        A = {{>A}}
        B = {{>B}}
        C = {{>C}}
{{#swizzle}}
        T.evaluate(T.call_extern("void", "tirc_{{intrinsic}}", T.address_of(C[0, 0]), T.address_of(A[0, 0]), T.address_of(B[0, 0{{^trans}}, 0{{/trans}}])))
{{/swizzle}}
{{^swizzle}}
        T.evaluate(T.call_extern("void", "tirc_{{intrinsic}}", T.address_of(C[0, 0]), T.address_of(A[0, 0, 0]), sa, T.address_of(B[0, 0, 0]), sb))
{{/swizzle}}
