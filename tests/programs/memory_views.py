# SPDX-License-Identifier: Apache-2.0
# Buffers over the memory of others, constants, functions of Python in TVMScript.
import numpy as np
import tvm
from tvm.script import tir as T

@T.prim_func
def flat(A: T.Buffer((4, 8), "float32"), B: T.Buffer((32,), "float32")):
    a = T.decl_buffer((32,), "float32", data=A.data)
    b = T.Buffer((2, 16), "float32", B.data)
    for i, j in T.grid(2, 16):
        b[i, j] = a[i * 16 + j] * T.float32(2)

@T.prim_func
def bits(A: T.Buffer((8,), "float32"), B: T.Buffer((2, 4), "int32")):
    a = T.decl_buffer((2, 4), "int32", data=A.data)
    for i, j in T.grid(2, 4):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(a[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = a[vi, vj]

@T.prim_func
def moved(a: T.handle, b: T.handle, n: T.int32):
    A = T.match_buffer(a, (n, 8), "float32")
    B = T.Buffer((n, 2, 2), "float32", data=b)
    C = T.decl_buffer((n, 2), "float32", data=A.data, elem_offset=4, strides=(8, 1))
    row = T.decl_buffer((2,), "float32", data=T.address_of(B[0, 1, 0]))
    for i, j in T.grid(n, 2):
        B[i, 0, j] = C[i, j]
        B[i, 1, j] = C[i, j] + 1.0
    for k in range(2):
        row[k] += 100.0

@T.prim_func
def shared(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    mem = T.allocate([64], "uint8", "global")
    x = T.decl_buffer((16,), "float32", data=mem)
    y = T.decl_buffer((4, 4), "float32", data=mem)
    for i in range(16):
        x[i] = A[i]
    for i, j in T.grid(4, 4):
        B[i * 4 + j] = y[j, i]

a = tvm.nd.array(np.arange(32, dtype="float32").reshape(4, 8))
b = tvm.nd.array(np.zeros(32, dtype="float32"))
f = tvm.build(flat, target="c")
f(a, b)
print(b)
a = tvm.nd.array(np.array([0, 1, 2, -1, 0.5, 3, 4, 5], dtype="float32"))
b = tvm.nd.array(np.zeros((2, 4), dtype="int32"))
tvm.build(bits, target="c")(a, b)
print(b)
a = tvm.nd.array(np.arange(24, dtype="float32").reshape(3, 8))
b = tvm.nd.array(np.zeros((3, 2, 2), dtype="float32"))
tvm.build(moved, target="c")(a, b, 3)
print(b)
a = tvm.nd.array(np.arange(16, dtype="float32"))
b = tvm.nd.array(np.zeros(16, dtype="float32"))
tvm.build(shared, target="c")(a, b)
print(b)
print(moved.script())
shape = (4, 8)

def layout(i, j):
    return j % 4, i + 4 * (j // 4)

def plus(x, y):
    return x + y * 2

@T.prim_func
def calls(A: T.Buffer(shape, "float32"), B: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(shape[0], shape[1]):
        p, q = layout(i, j)
        B[p, q] = plus(A[i, j], 3)

@T.prim_func
def deeper(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    a = T.decl_buffer((2, 1, 2, 1, 2), "float32", data=A.data)
    with T.sblock("copy"):
        T.reads(a)
        T.writes(B)
        b = T.decl_buffer((2, 1, 2, 1, 2), "float32", data=B.data)
        Tx.copy(b, a)

@T.prim_func
def bits(A: T.Buffer((2, 4), "float32"), B: T.Buffer((2, 4), "int32")):
    a = T.decl_buffer((8,), "float32", data=A.data)
    b = T.decl_buffer((2, 4), "float32", data=B.data)
    Tx.copy(b[1, 0:3], a[3:6])
    Tx.fill(a[0:2], 7)

@T.prim_func
def fixed(A: T.Buffer((6,), "int32"), B: T.Buffer((6,), "int32"), C: T.Buffer((6,), "int32")):
    w = T.allocate_const([1, -2, 3, -4, 5, -6], "int32", [6])
    W = T.decl_buffer((2, 3), "int32", data=w)
    for i in range(6):
        B[i] = T.q_multiply_shift(A[i] * W[i // 3, i % 3], 1395864371, 31, -3)
        C[i] = T.q_multiply_shift(A[i], 1395864371, 31, 2)

@T.prim_func
def tells(A: T.Buffer((4,), "float32")):
    x = T.int32()
    T.attr(0, "pragma_debug", 1)
    for i in range(4):
        with T.LetStmt(i * 2, var=x):
            A[i] = T.Cast("float32", x)
    n = T.bind(T.int32(3))
    T.evaluate(T.call_extern("int32", "report", "a \"b\"\n", n))

a = tvm.nd.array(np.arange(32, dtype="float32").reshape(4, 8))
b = tvm.nd.array(np.zeros((4, 8), dtype="float32"))
tvm.build(calls, target="c")(a, b)
print(b)
a = tvm.nd.array(np.array([100, -100, 7, -7, 123456, -123456], dtype="int32"))
b = tvm.nd.array(np.zeros(6, dtype="int32"))
c = tvm.nd.array(np.zeros(6, dtype="int32"))
tvm.build(fixed, target="c")(a, b, c)
print(b, c)
print(tells.script())

@T.prim_func
def reverse(A: T.Buffer((4, 128), "float32"), B: T.Buffer((4, 128), "float32")):
    T.device_entry()
    bx = T.cta_id([4])
    tx = T.thread_id([128])
    s = T.alloc_shared((128,), "float32")
    s[tx] = A[bx, tx]
    T.tvm_storage_sync("shared")
    B[bx, tx] = s[127 - tx]

@T.prim_func
def threads(A: T.Buffer((4,), "float32"), B: T.Buffer((8,), "float32")):
    tx = T.int32()
    T.attr(T.iter_var(tx, (0, 8), "ThreadIndex", "threadIdx.x"), "thread_extent", 8)
    B[tx] = A[tx // 2]

@T.prim_func
def parts(A: T.Buffer((4, 8), "float32")):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            T.reads()
            T.writes()
            P = T.match_buffer(A[vi, 2:6], (4,), "float32")
            T.evaluate(T.call_extern("int32", "work", P.data, P.elem_offset, P[1]))

for f in (reverse, threads, parts):
    print(f.script())

# A view of more dimensions than its buffer.
a = tvm.nd.array(np.arange(8, dtype="float32"))
b = tvm.nd.array(np.zeros(8, dtype="float32"))
tvm.build(deeper, target="c")(a, b)
print(b)
a = tvm.nd.array(np.arange(8, dtype="float32").reshape(2, 4))
b = tvm.nd.array(np.zeros((2, 4), dtype="int32"))
tvm.build(bits, target="c")(a, b)
print(a, b, bits)
