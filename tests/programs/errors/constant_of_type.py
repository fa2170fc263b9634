# SPDX-License-Identifier: Apache-2.0
from tvm import te

X = te.placeholder((8,), "float16", name="X")
Y = te.compute((8,), lambda i: te.max(X[i], te.const(1e5, "float16")), name="Y")
