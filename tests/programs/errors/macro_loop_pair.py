# SPDX-License-Identifier: Apache-2.0
"""A loop of a macro over two names."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    @T.inline
    def h(x):
        for j, k in range(3):
            x = x
        return x

    A[0] = h(A[0])
