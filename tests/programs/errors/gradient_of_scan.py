# SPDX-License-Identifier: Apache-2.0
from tvm import te, topi

A = te.placeholder((8,), name="A")
te.gradient(topi.cumsum(A), [A])
