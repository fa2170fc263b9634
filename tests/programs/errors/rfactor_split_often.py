# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((4, 1024), name="A")
k = te.reduce_axis((0, 1024), name="k")
B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="B")
s = te.create_schedule(B.op)
x = s[B].op.reduce_axis[0]
for i in range(20):
    outer, inner = s[B].split(x, factor=2)
    x = s[B].fuse(outer, inner)
s.rfactor(B, x)
