# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

A = te.placeholder((8, 8), name="A")
k = te.reduce_axis((0, 8), name="k")
B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
s = te.create_schedule(B.op)
s[B].parallel(k)
print(tvm.lower(s, [A, B]))
