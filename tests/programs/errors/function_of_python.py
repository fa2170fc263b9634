# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


def pair(i):
    return "a" if i is None else lambda x: x


@T.prim_func
def f(A: T.Buffer((8,), "int32")):
    for i in range(8):
        A[i] = pair(i)
