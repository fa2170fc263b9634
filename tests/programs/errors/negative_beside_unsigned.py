# SPDX-License-Identifier: Apache-2.0
from tvm import te

X = te.placeholder((8,), "uint32", name="X")
Y = te.compute((8,), lambda i: X[i] + (-1), name="Y")
