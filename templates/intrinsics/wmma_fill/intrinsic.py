# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(y: T.handle):
        Y = T.match_buffer(y, (16, 16), "{{type}}", strides=[16, 1], scope="{{scope}}", align=1024)
        for i, j in T.grid(16, 16):
            with T.sblock("fill"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(Y[vi, vj])
                Y[vi, vj] = T.{{type}}(0)

    @T.prim_func
    def impl(y: T.handle):
        Y = T.match_buffer(y, (16, 16), "{{type}}", strides=[16, 1], scope="{{scope}}", align=1024)
        T.evaluate(T.call_extern("void", "tirc_{{intrinsic}}", T.address_of(Y[0, 0])))
