# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((4,), name="A")
B = te.compute((4,), lambda i: A[i] + 1.0, name="B")
s = te.create_schedule(B.op)
te.create_prim_func([A, B, s[B].op.output(0)])
