# SPDX-License-Identifier: Apache-2.0
"""break and continue in TVMScript: each function gives what the same statements
give in Python."""
import numpy as np
import tvm
from tvm.script import tir as T


@T.prim_func
def plain(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i in T.serial(10):
        if A[i] == 2:
            continue
        if A[i] == 7:
            break
        B[i] = A[i]


def plain_python(A, B):
    for i in range(10):
        if A[i] == 2:
            continue
        if A[i] == 7:
            break
        B[i] = A[i]


@T.prim_func
def nested(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i in range(10):
        for j in range(10):
            if A[i] * 3 == j:
                B[i] = B[i] + 100
                continue
            if A[i] < j:
                B[0] = B[0] + j
                break
            B[i] = B[i] + 1
        if B[i] > 103:
            break
        B[9] = B[9] + 1


def nested_python(A, B):
    for i in range(10):
        for j in range(10):
            if A[i] * 3 == j:
                B[i] = B[i] + 100
                continue
            if A[i] < j:
                B[0] = B[0] + j
                break
            B[i] = B[i] + 1
        if B[i] > 103:
            break
        B[9] = B[9] + 1


@T.prim_func
def guarded(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i in T.unroll(10):
        if A[i] > 4:
            if A[i] == 6:
                continue
            elif A[i] == 8:
                B[0] = 8
                break
            B[i] = 1
        elif A[i] == 1:
            B[1] = 7
        else:
            B[i] = 2
            if A[i] == 3:
                B[i] = 3
            else:
                continue
        twice: T.int32 = B[i] * 2
        B[i] = twice + A[i]


def guarded_python(A, B):
    for i in range(10):
        if A[i] > 4:
            if A[i] == 6:
                continue
            elif A[i] == 8:
                B[0] = 8
                break
            B[i] = 1
        elif A[i] == 1:
            B[1] = 7
        else:
            B[i] = 2
            if A[i] == 3:
                B[i] = 3
            else:
                continue
        twice = B[i] * 2
        B[i] = twice + A[i]


@T.prim_func
def conditions(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    k = T.decl_buffer((1,), "int32")
    k[0] = 0
    while k[0] < 10:
        k[0] = k[0] + 1
        if A[k[0] - 1] % 2 == 1:
            continue
        B[k[0] - 1] = 5
        if k[0] == 7:
            break
    while True:
        B[0] = B[0] + 1
        if B[0] > 20:
            break


def conditions_python(A, B):
    k = 0
    while k < 10:
        k = k + 1
        if A[k - 1] % 2 == 1:
            continue
        B[k - 1] = 5
        if k == 7:
            break
    while True:
        B[0] = B[0] + 1
        if B[0] > 20:
            break


@T.prim_func
def in_block(A: T.Buffer((10,), "int32"), B: T.Buffer((10,), "int32")):
    for i in range(10):
        with T.block("b"):
            vi = T.axis.remap("S", [i])
            for j, k in T.grid(10, 2):
                if j % 2 == k:
                    continue
                B[vi] = B[vi] + A[j]
            for j in range(10):
                if A[j] > vi:
                    break
                B[vi] = B[vi] + 1000


def in_block_python(A, B):
    for i in range(10):
        for j in range(10):
            for k in range(2):
                if j % 2 == k:
                    continue
                B[i] = B[i] + A[j]
        for j in range(10):
            if A[j] > i:
                break
            B[i] = B[i] + 1000


for f, g in ((plain, plain_python), (nested, nested_python),
             (guarded, guarded_python), (conditions, conditions_python),
             (in_block, in_block_python)):
    built = tvm.build(f, target="llvm")
    for numbers in (np.arange(10), np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3]),
                    np.array([8, 6, 3, 0, 2, 1, 7, 4, 5, 9])):
        a = numbers.astype("int32")
        b, want = tvm.nd.array(np.zeros(10, "int32")), np.zeros(10, "int32")
        built(tvm.nd.array(a), b)
        g(a, want)
        np.testing.assert_array_equal(b.numpy(), want)
        print(b.numpy())
print(plain)
print(guarded)
