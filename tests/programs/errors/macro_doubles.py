# SPDX-License-Identifier: Apache-2.0
"""A macro whose value doubles in each iteration."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    @T.inline
    def h(x):
        for j in range(100):
            x = x * x
        return x

    A[0] = h(A[0])
