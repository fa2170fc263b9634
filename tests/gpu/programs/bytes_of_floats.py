# SPDX-License-Identifier: Apache-2.0
# Floats of 8 bits and bfloat16: arithmetic that rounds, conversions among them and
# others, a condition; at a size that no tile divides.
import tvm
from tvm import te

n = te.var("n")
A = te.placeholder((n,), name="A", dtype="float8_e4m3fn")
B = te.placeholder((n,), name="B", dtype="float8_e5m2")
S = te.placeholder((n,), name="S", dtype="float32")
C = te.compute(
    (n,),
    lambda i: te.if_then_else(
        A[i] > B[i].astype("float8_e4m3fn"),
        (A[i] * tvm.tir.const(1.5, "float8_e4m3fn") + A[i]).astype("float8_e5m2fnuz"),
        (S[i] * 3000.0).astype("float8_e5m2fnuz"),
    ),
    name="C",
)
D = te.compute((n,), lambda i: (S[i] * 40.0).astype("float8_e4m3fnuz") - A[i].astype("float8_e4m3fnuz"), name="D")
E = te.compute((n,), lambda i: C[i].astype("float32") * 0.5 - B[i].astype("float32"), name="E")
F = te.compute((n,), lambda i: (S[i] * S[i] * S[i] * 1000.0).astype("float8_e5m2"), name="F")
G = te.compute((n,), lambda i: D[i].astype("float64") * 0.001953125, name="G")
H = te.compute((n,), lambda i: G[i].astype("float8_e4m3fn"), name="H")
K = te.compute((n,), lambda i: (S[i] * 0.3).astype("bfloat16") * tvm.tir.const(3, "bfloat16") - G[i].astype("bfloat16"), name="K")
s = te.create_schedule([C.op, D.op, E.op, F.op, G.op, H.op, K.op])
for stage in (C, D, E, F, G, H, K):
    o, i = s[stage].split(stage.op.axis[0], factor=32)
    s[stage].bind(o, te.thread_axis("blockIdx.x"))
    s[stage].bind(i, te.thread_axis("threadIdx.x"))
f = tvm.build(s, [A, B, S, C, D, E, F, G, H, K], target="cuda", name="bytes_of_floats")
