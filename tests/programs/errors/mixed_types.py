# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((8,), dtype="float16", name="A")
B = te.placeholder((8,), dtype="bfloat16", name="B")
C = te.compute((8,), lambda i: A[i] + B[i], name="C")
