# SPDX-License-Identifier: Apache-2.0
# Caches and partial results: stages that a schedule adds.
import tvm
from tvm import te

n = 40
A = te.placeholder((n, n), name="A")
B = te.placeholder((n, n), name="B")
k = te.reduce_axis((0, n), name="k")
C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")

s = te.create_schedule(C.op)
CC = s.cache_write(C, "local")
io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 16)
s[CC].compute_at(s[C], jo)
ko, ki = s[CC].split(k, factor=5)
i, j = s[CC].op.axis
s[CC].reorder(ko, i, ki, j)
AA = s.cache_read(A, "local", [CC])
s[AA].compute_at(s[CC], ko)
print(tvm.lower(s, [A, B, C], simple_mode=True))

m = te.var("m")
X = te.placeholder((m,), name="X")
r = te.reduce_axis((0, m), name="r")
S = te.compute((1,), lambda _: te.sum(X[r], axis=r), name="S")
s = te.create_schedule(S.op)
ro, ri = s[S].split(r, factor=4)
SF = s.rfactor(S, ri)
s[SF].reorder(s[SF].op.reduce_axis[0], s[SF].op.axis[0], s[SF].op.axis[1])
print(s[S].op.reduce_axis[0].name, len(s[SF].op.axis))
print(tvm.lower(s, [X, S], simple_mode=True))
