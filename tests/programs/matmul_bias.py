# SPDX-License-Identifier: Apache-2.0
# A product of matrices with symbolic sizes, bias and a limit; the epilogue
# is inlined, the product is tiled with a tail on every side.
import tvm
from tvm import te

m, n, h = te.var("m"), te.var("n"), te.var("h")
A = te.placeholder((m, h), name="A")
B = te.placeholder((h, n), name="B")
bias = te.placeholder((n,), name="bias")
k = te.reduce_axis((0, h), name="k")
P = te.compute((m, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="P")
Q = te.compute((m, n), lambda i, j: P[i, j] + bias[j], name="Q")
R = te.compute((m, n), lambda *i: te.min(te.max(Q(*i), 0.0), 6.0), name="R")
s = te.create_schedule(R.op)
s[Q].compute_inline()
io, jo, ii, ji = s[R].tile(R.op.axis[0], R.op.axis[1], 4, 8)
s[P].compute_at(s[R], jo)
ko, ki = s[P].split(k, factor=4)
s[P].reorder(ko, s[P].op.axis[0], ki, s[P].op.axis[1])
print(tvm.lower(s, [A, B, bias, R], simple_mode=True))
