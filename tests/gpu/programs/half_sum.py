# SPDX-License-Identifier: Apache-2.0
# Sums of half by the threads of a block together, and a largest element.
import tvm
from tvm import te

m = te.var("m")
A = te.placeholder((m, 40), name="A", dtype="float16")
k = te.reduce_axis((0, 40), name="k")
B = te.compute((m,), lambda i: te.sum(A[i, k], axis=k), name="B")
j = te.reduce_axis((0, 40), name="j")
C = te.compute((m,), lambda i: te.max(A[i, j] * A[i, j], axis=j), name="C")
s = te.create_schedule([B.op, C.op])
s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
ko, ki = s[B].split(k, factor=16)
s[B].bind(ki, te.thread_axis("threadIdx.x"))
o, i = s[C].split(C.op.axis[0], factor=8)
s[C].bind(o, te.thread_axis("blockIdx.x"))
s[C].bind(i, te.thread_axis("threadIdx.x"))
f = tvm.build(s, [A, B, C], target="cuda", name="half_sum")
