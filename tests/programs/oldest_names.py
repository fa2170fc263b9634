# SPDX-License-Identifier: Apache-2.0
# The names of the first releases.
import tvm

n = tvm.var("n")
A = tvm.placeholder((n,), name="A", dtype="float32")
B = tvm.placeholder((n,), name="B", dtype="float32")
C = tvm.compute(A.shape, lambda i: tvm.select(A[i] > B[i], A[i], B[i]), name="C")
s = tvm.create_schedule(C.op)
bx, tx = s[C].split(C.op.axis[0], factor=64)
print(tvm.lower(s, [A, B, C], name="larger", simple_mode=True))
k = tvm.reduce_axis((0, n), name="k")
D = tvm.compute((1,), lambda i: tvm.sum(A[k], axis=k), name="D")
print(tvm.lower(tvm.create_schedule(D.op), [n, A, D], simple_mode=True))
