# SPDX-License-Identifier: Apache-2.0
# Vectors in a language without them: loops over their lanes, with an array where a value
# reads other elements than it stores.
import numpy as np
import tvm
from tvm.script import tir as T


@T.prim_func
def shifted(A: T.Buffer((20,), "float32")):
    A[T.Ramp(0, 1, 8)] = A[T.Ramp(1, 1, 8)] + T.Broadcast(T.float32(1), 8)
    A[T.Ramp(0, 2, 4)] = A[T.Ramp(0, 2, 4)] * A[T.Ramp(0, 2, 4)]
    A[T.Ramp(19, -1, 4)] = A[T.Ramp(8, 3, 4)]


@T.prim_func
def named(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "int32"), n: T.int32):
    for i in range(4):
        x: T.float32x4 = A[i, T.Ramp(0, 1, 4)]
        y: T.float32x4 = T.max(x, T.Broadcast(T.float32(2), 4)) - T.sqrt(A[i, T.Ramp(4, 1, 4)])
        B[i, T.Ramp(4, 1, 4)] = T.Select(y > x, T.Cast("int32x4", y), T.Ramp(i, n, 4))
        if i < n:
            B[i, 0:4] = B[i, 4:8] + T.Broadcast(n, 4)


@T.prim_func
def guarded(A: T.Buffer((8,), "float32"), B: T.Buffer((16,), "float32"), n: T.int32):
    for i in range(4):
        B[T.Ramp(i * 4, 1, 4)] = T.if_then_else(
            i < n and i < 2, A[T.Ramp(i * 4, 1, 4)], T.Broadcast(T.float32(-1), 4), dtype="float32x4"
        )


print(tvm.build(shifted, target="c").get_source())
a = tvm.nd.array(np.arange(20, dtype="float32"))
tvm.build(shifted)(a)
print(a)
b = tvm.nd.array(np.zeros((4, 8), "int32"))
tvm.build(named)(tvm.nd.array(np.arange(32, dtype="float32").reshape(4, 8)), b, 2)
print(b)
tvm.build(guarded)
