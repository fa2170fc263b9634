# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((64,), name="A")
B = te.compute((64,), lambda i: A[i] + 1, name="B")
f = te.create_prim_func([A, B])
print(f.with_attr("global_symbol", "0"))
