# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(x: T.handle, y: T.handle):
        sx = T.int32()
        X = T.match_buffer(x, ({{rows}}, {{columns}}), "{{type}}", strides=[sx, 1], scope="shared", align=32)
        Y = T.match_buffer(y, ({{rows}}, {{columns}}), "{{type}}", strides=[{{columns}}, 1], scope="wmma.{{matrix}}", align={{bytes}})
        for i, j in T.grid({{rows}}, {{columns}}):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = X[vi, vj]

    @T.prim_func
    def impl(x: T.handle, y: T.handle):
        sx = T.int32()
        X = T.match_buffer(x, ({{rows}}, {{columns}}), "{{type}}", strides=[sx, 1], scope="shared", align=32)
        Y = T.match_buffer(y, ({{rows}}, {{columns}}), "{{type}}", strides=[{{columns}}, 1], scope="wmma.{{matrix}}", align={{bytes}})
        T.evaluate(T.call_extern("void", "tirc_{{intrinsic}}", T.address_of(Y[0, 0]), T.address_of(X[0, 0]), sx))
