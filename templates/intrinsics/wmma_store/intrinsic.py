# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(x: T.handle, y: T.handle):
        sy = T.int32()
        X = T.match_buffer(x, (16, 16), "{{type}}", strides=[16, 1], scope="{{accumulator}}", align=1024)
        Y = T.match_buffer(y, (16, 16), "{{type}}", strides=[sy, 1], scope="{{scope}}")
        for i, j in T.grid(16, 16):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = X[vi, vj]

    @T.prim_func
    def impl(x: T.handle, y: T.handle):
        sy = T.int32()
        X = T.match_buffer(x, (16, 16), "{{type}}", strides=[16, 1], scope="{{accumulator}}", align=1024)
        Y = T.match_buffer(y, (16, 16), "{{type}}", strides=[sy, 1], scope="{{scope}}")
        T.evaluate(T.call_extern("void", "tirc_{{intrinsic}}", T.address_of(Y[0, 0]), sy, T.address_of(X[0, 0])))
