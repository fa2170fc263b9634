# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements a loop leaves for its later iterations: they are allocated
outside of the loop."""
import numpy as np
import tvm
from tvm.script import tir as T


@T.prim_func
def back(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4,), "float32")
    for i in range(4):
        B[i] = A[i]
        C[i] = 0.0
        if i >= 2:
            C[i] = B[3 - i]


@T.prim_func
def first(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4,), "float32")
    for i in range(4):
        B[i] = A[i]
        for j in range(i + 1):
            C[i] = C[i] + B[j]


@T.prim_func
def rows(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((5, 4), "float32")
    for j in range(4):
        B[0, j] = A[j]
    for i in range(4):
        for j in range(4):
            B[i + 1, j] = B[i, j] + A[i]
        C[i] = B[i + 1, 1]


@T.prim_func
def own(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(4):
        for j in range(2):
            B[i * 2 + j] = A[i]
        C[i] = B[i * 2] + B[i * 2 + 1]


@T.prim_func
def start(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32")):
    B = T.alloc_buffer((4,), "float32")
    n = T.alloc_buffer((1,), "int32")
    n[0] = 0
    while n[0] < 4:
        B[n[0]] = A[n[0]]
        C[n[0]] = B[0]
        n[0] = n[0] + 1


for f in back, first, rows, own, start:
    a = tvm.nd.array(np.array([1, 2, 4, 8], "float32"))
    c = tvm.nd.array(np.zeros(4, "float32"))
    built = tvm.build(f, target="c")
    built(a, c)
    print(c)
    print(built.get_source())
