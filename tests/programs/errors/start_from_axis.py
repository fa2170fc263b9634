# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((8, 8), name="A")
k = te.reduce_axis((0, 8), name="k")
B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k, init=A[i, k]), name="B")
