# SPDX-License-Identifier: Apache-2.0
"""Indices of a vector that the store itself changes, in a language without vectors."""
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    A[A[0:4]] = B[0:4]


print(tvm.build(f, target="c").get_source())
