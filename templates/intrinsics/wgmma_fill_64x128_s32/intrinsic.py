# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(y: T.handle):
        Y = T.match_buffer(y, (64, 128), "int32", strides=[128, 1], scope="wmma.accumulator.64x128", align=1024)
        for i, j in T.grid(64, 128):
            with T.sblock("fill"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads()
                T.writes(Y[vi, vj])
                Y[vi, vj] = 0

    @T.prim_func
    def impl(y: T.handle):
        Y = T.match_buffer(y, (64, 128), "int32", strides=[128, 1], scope="wmma.accumulator.64x128", align=1024)
        T.evaluate(T.call_extern("void", "tirc_wgmma_fill_64x128_s32", T.address_of(Y[0, 0])))
