# SPDX-License-Identifier: Apache-2.0
from tvm import te, topi

A = te.placeholder((8, 3), name="A")
B = te.placeholder((4,), name="B")
C = topi.add(A, B)
