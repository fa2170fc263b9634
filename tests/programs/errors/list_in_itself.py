# SPDX-License-Identifier: Apache-2.0
"""A list that is an element of itself."""
from tvm.script import tir as T

L = [1]
L.append(L)


@T.prim_func
def fill(A: T.Buffer((8,), "float32")):
    A[L[0]] = 1.0
