# SPDX-License-Identifier: Apache-2.0
from tvm import te

X = te.placeholder((8,), "float16", name="X")
Y = te.compute((8,), lambda i: te.if_then_else(X[i] > 0, X[i], 70000), name="Y")
