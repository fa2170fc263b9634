# SPDX-License-Identifier: Apache-2.0
# Floats of 8 bits: an older name, literals, rounding, conversions.
from tvm.script import tir as T


@T.prim_func
def scale(A: T.Buffer((8,), "e4m3_float8"), B: T.Buffer((8,), "float8_e5m2fnuz"), C: T.Buffer((8,), "float8_e5m2")):
    for i in range(8):
        with T.block("B"):
            v = T.axis.spatial(8, i)
            B[v] = T.Cast("float8_e5m2fnuz", A[v] * T.float8_e4m3fn(0.1) + T.float8_e4m3fn(448))
    for i in range(8):
        with T.block("C"):
            v = T.axis.spatial(8, i)
            C[v] = T.if_then_else(
                B[v] < T.float8_e5m2fnuz(0.0),
                T.float8_e5m2("-inf"),
                T.max(T.Cast("float8_e5m2", B[v]), T.float8_e5m2("nan")),
            )
