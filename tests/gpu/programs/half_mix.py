# SPDX-License-Identifier: Apache-2.0
# Elements of half: arithmetic, functions, conversions, a condition; at a size
# that no tile divides.
import tvm
from tvm import te

n = te.var("n")
A = te.placeholder((n,), name="A", dtype="float16")
B = te.placeholder((n,), name="B", dtype="float16")
S = te.placeholder((n,), name="S", dtype="float32")
C = te.compute(
    (n,),
    lambda i: te.if_then_else(
        A[i] > B[i],
        te.max(A[i] * B[i] - tvm.tir.const(0.1, "float16"), A[i] / tvm.tir.const(3, "float16")),
        te.exp(A[i]) + (S[i] * 0.3).astype("float16"),
    ),
    name="C",
)
D = te.compute((n,), lambda i: C[i].astype("float32") * 0.5 - B[i].astype("float32"), name="D")
s = te.create_schedule([C.op, D.op])
for stage in (C, D):
    o, i = s[stage].split(stage.op.axis[0], factor=32)
    s[stage].bind(o, te.thread_axis("blockIdx.x"))
    s[stage].bind(i, te.thread_axis("threadIdx.x"))
f = tvm.build(s, [A, B, S, C, D], target="cuda", name="half_mix")
