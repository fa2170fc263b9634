# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(c: T.handle):
        m = T.int32()
        C = T.match_buffer(c, (m, 2, 16), "int32", strides=[32, 16, 1])
        for i, j in T.grid(m, 32):
            with T.sblock("start"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.writes(C[vi, vj // 16, vj % 16])
                C[vi, vj // 16, vj % 16] = 0

    @T.prim_func
    def impl(c: T.handle):
        m = T.int32()
        C = T.match_buffer(c, (m, 2, 16), "int32", strides=[32, 16, 1])
        T.evaluate(T.call_extern("void", "tirc_amx_zero_i32", T.address_of(C[0, 0, 0]), m))
