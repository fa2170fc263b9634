# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1, name="B")
f = tvm.build(te.create_schedule(B.op), [A, B], target="llvm -mcpu=skylake")
f(A, B)
