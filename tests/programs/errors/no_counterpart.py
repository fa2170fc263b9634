# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] * A[i], name="B")
te.extern_primfunc([A], B)
