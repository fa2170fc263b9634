# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

n = te.var("n")
A = te.placeholder((n,), name="A")
B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
tvm.lower(te.create_schedule(B.op), [n, A, B, n])
