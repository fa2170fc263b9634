# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

A = te.placeholder((64,), name="A")
B = te.compute((64,), lambda i: A[i] + 1, name="B")
s = te.create_schedule(B.op)
f = tvm.build(s, [A, B], target="c", name="add one")
