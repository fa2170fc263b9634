# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

A = te.placeholder((4, 8), name="A", dtype="int8")
B = te.compute((4, 8), lambda i, j: A[3 - i, j - 1], name="B")
s = te.create_schedule(B.op)
s[B].vectorize(B.op.axis[1])
print(tvm.lower(s, [A, B]))
