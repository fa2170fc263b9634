# SPDX-License-Identifier: Apache-2.0
from tvm import te

X = te.placeholder((8,), "int32", name="X")
Y = te.compute((8,), lambda i: 3000000000 ^ X[i], name="Y")
