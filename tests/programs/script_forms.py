# SPDX-License-Identifier: Apache-2.0
# TVMScript: loops with a step or a type, slices without an end, integers as
# conditions, functions that are expanded, attributes of memory, promises.
import numpy as np
import tvm
from tvm.script import tir as T


@T.inline
def add_one(A, i):
    A[i] = A[i] + 1


@T.prim_func
def stepped(A: T.Buffer((20,), "int32"), n: T.int32):
    T.assume(n >= 0)
    for i in range(1, 20, 6):
        add_one(A, i)
    for i in T.serial(n, 20, step=5):
        A[i] = A[i] * 10

    @T.inline
    def negate(i):
        A[i] = -A[i]

    for i in T.serial(20, dtype="uint32"):
        if A[i]:
            negate(i)


print(stepped)
a = tvm.nd.array(np.arange(20, dtype="int32"))
tvm.build(stepped)(a, 4)
print(a)


@T.prim_func
def hinted(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        row = T.alloc_buffer((16,), "float32")
        T.attr(row.data, "double_buffer_scope", 1)
        row[:16] = A[i, 0:]
        with T.sblock("first"):
            T.reads(row[:4])
            T.writes(B[i:])
            B[i] = row[0] + row[3]


print(hinted)


# The init uses the reduction axis: it belongs to the first iteration.
@T.prim_func
def first_of(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4,), "float32")):
    for i, k in T.grid(4, 4):
        with T.sblock("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vk] = 0.0
            B[vk] = B[vk] + A[vi, vk]


b = tvm.nd.array(np.zeros(4, "float32"))
tvm.build(first_of)(tvm.nd.array(np.ones((4, 4), "float32")), b)
print(b)


# An index of an unsigned number, with an index of another type.
@T.prim_func
def chosen(A: T.Buffer((T.int64(4), T.int64(8)), "float32"),
           at: T.Buffer((T.int64(8),), "uint32"),
           B: T.Buffer((T.int64(8), T.int64(8)), "float32")):
    for i, j in T.grid(T.int64(8), T.int64(8)):
        with T.sblock("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[at[vi], vj // T.int64(2)]


print(tvm.build(chosen, target="c").get_source().split("\n\n")[-1])


# Pointers of arrays whose dimensions of one element are dropped.
@T.prim_func
def passes_pointers(A: T.Buffer((16, 1), "float32"), C: T.Buffer((), "float32")):
    T.evaluate(T.call_extern("sum16", A.data, C.data, dtype="int32"))


print(tvm.build(passes_pointers, target="c").get_source().split("\n\n")[-1])
