# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((8,), name="A")


def body(i):
    x = A[i]
    for _ in range(100):
        x = x * x
    return x


B = te.compute((8,), body, name="B")
