# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((8, 8, 8), name="A")
B = te.compute((8, 8, 8), lambda i, j, k: A[i, j, k], name="B")
s = te.create_schedule(B.op)
i, j, k = B.op.axis
s[B].fuse(i, k)
