# SPDX-License-Identifier: Apache-2.0
"""The classes of values, as published scripts print them."""
import tvm
from tvm import te

n = te.var("n")
A = te.placeholder((n,), name="A")
B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
s = te.create_schedule(B.op)
for value in (n, n + 1, A, A.op, B.op, B.op.axis[0], s, s[B],
              tvm.lower(s, [A, B]), tvm.target.Target("c"),
              tvm.build(s, [A, B], target="c", name="add_one"), print, int):
    print(type(value))
print(type(A) == te.Tensor, type(A) == type(B), type(A) == type(s))
print(type(s).__name__)
