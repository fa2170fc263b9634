# SPDX-License-Identifier: MIT-0
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Intrinsic:
    @T.prim_func
    def desc(w: T.handle, x: T.handle, y: T.handle):
        sw = T.int32()
        sx = T.int32()
        sy = T.int32()
        W = T.match_buffer(w, (8, 8), "float32", strides=[sw, 1])
        X = T.match_buffer(x, (8, 8), "float32", strides=[sx, 1])
        Y = T.match_buffer(y, (8, 8), "float32", strides=[sy, 1])
        for i, j, k in T.grid(8, 8, 8):
            with T.sblock("y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(W[vi, vk], X[vj, vk])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + W[vi, vk] * X[vj, vk]

    @T.prim_func
    def impl(w: T.handle, x: T.handle, y: T.handle):
        sw = T.int32()
        sx = T.int32()
        sy = T.int32()
        W = T.match_buffer(w, (8, 8), "float32", strides=[sw, 1])
        X = T.match_buffer(x, (8, 8), "float32", strides=[sx, 1])
        Y = T.match_buffer(y, (8, 8), "float32", strides=[sy, 1])
        T.evaluate(T.call_extern("void", "tirc_gemm8x8", T.address_of(W[0, 0]), sw, T.address_of(X[0, 0]), sx, T.address_of(Y[0, 0]), sy))

    @T.prim_func
    def reset(w: T.handle, x: T.handle, y: T.handle):
        sw = T.int32()
        sx = T.int32()
        sy = T.int32()
        W = T.match_buffer(w, (8, 8), "float32", strides=[sw, 1])
        X = T.match_buffer(x, (8, 8), "float32", strides=[sx, 1])
        Y = T.match_buffer(y, (8, 8), "float32", strides=[sy, 1])
        T.evaluate(T.call_extern("void", "tirc_gemm8x8_reset", T.address_of(Y[0, 0]), sy))

    @T.prim_func
    def update(w: T.handle, x: T.handle, y: T.handle):
        sw = T.int32()
        sx = T.int32()
        sy = T.int32()
        W = T.match_buffer(w, (8, 8), "float32", strides=[sw, 1])
        X = T.match_buffer(x, (8, 8), "float32", strides=[sx, 1])
        Y = T.match_buffer(y, (8, 8), "float32", strides=[sy, 1])
        T.evaluate(T.call_extern("void", "tirc_gemm8x8_update", T.address_of(W[0, 0]), sw, T.address_of(X[0, 0]), sx, T.address_of(Y[0, 0]), sy))
