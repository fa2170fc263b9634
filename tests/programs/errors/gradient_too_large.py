# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((4,), name="A")


def nested(i):
    x = A[i]
    for _ in range(12):
        x = te.sigmoid(te.exp(x) / x)
    return x


te.gradient(te.compute((4,), nested), [A])
