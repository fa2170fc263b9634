# SPDX-License-Identifier: Apache-2.0
"""Lanes that store to one element, in C without vectors: all lanes are read before any
is stored."""
import numpy as np
import tvm
from tvm.script import tir as T


@T.prim_func
def meeting(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    A[B[0:4]] = A[B[0:4]] + T.Broadcast(1, 4)


built = tvm.build(meeting, target="c")
a = tvm.nd.array(np.zeros(8, "int32"))
built(a, tvm.nd.array(np.array([1, 1, 2, 2, 0, 0, 0, 0], "int32")))
print(a)
print(built.get_source())
