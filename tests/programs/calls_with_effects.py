# SPDX-License-Identifier: Apache-2.0
"""Calls of external functions stay: they are not taken out of loops, nor dropped with
what nobody reads."""
import tvm
from tvm.script import tir as T


@T.prim_func
def numbers(A: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int32")):
    L = T.alloc_buffer((8,), "int32")
    for i in range(8):
        x: T.int32 = T.call_extern("int32", "next_number")
        C[i] = x ^ A[i]
    for i in range(8):
        L[i] = T.call_extern("int32", "tick", i)
    if T.call_extern("int32", "tack", 4) > 0:
        L[0] = 1


print(tvm.build(numbers, target="c").get_source())
