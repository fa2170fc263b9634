# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((8, 8), name="A")
B = te.compute((8, 8), lambda i, j: A[i, j] + 1.0, name="B")
s = te.create_schedule(B.op)
s[B].prefetch(A, B.op.axis[0], 2)
