# SPDX-License-Identifier: Apache-2.0
from tvm import te, topi

X = te.placeholder((8,), "int8", name="X")
Y = topi.clip(X, -1000, 1000)
