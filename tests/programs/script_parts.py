# SPDX-License-Identifier: Apache-2.0
# Arrays that begin behind their pointer, with strides; lists of loops; parts whose
# strides have names; variables that lines change.
import numpy as np
import tvm
from tvm.script import tir as T

@T.prim_func
def moved(a: T.handle, B: T.Buffer((2, 3), "float32")):
    p = T.int32()
    A = T.match_buffer(a, (2, 3), "float32", strides=[p, 1], elem_offset=2)
    for ij in T.grid(*B.shape):
        with T.block("b"):
            v = T.axis.remap("SS", ij)
            B[v] = A[v] + 1.0

@T.prim_func
def parts(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    s0 = T.int32()
    s1 = T.int32()
    p = T.int32()
    for i in range(2):
        with T.block("b"):
            vi = T.axis.spatial(2, i)
            P = T.match_buffer(A[vi * 2:vi * 2 + 2, 4:8], (2, 4), strides=[s0, s1], elem_offset=p)
            Q = T.match_buffer(A[vi, 0:8])
            B[vi] = P[1, 1] + T.cast(p + s0 * 100 + s1 * 1000, "float32")
            B[vi + 2] = Q[0, 3]

@T.prim_func
def cells(A: T.Buffer((8,), "int32"), B: T.Buffer((2,), "int32")):
    total: T.int32 = 0
    most = T.local_scalar("int32")
    most = A[0]
    for i in range(8):
        total += A[i]
        most = T.max(most, A[i])
    B[0] = total
    x = T.int32()
    B[1] = T.Let(x * x + x, where={x: most})

def run(f, *arrays):
    arrays = [tvm.nd.array(x) if isinstance(x, np.ndarray) else x for x in arrays]
    tvm.build(f, target="c")(*arrays)
    return arrays

print(run(parts, np.arange(32, dtype="float32").reshape(4, 8), np.zeros(4, "float32"))[1])
print(run(cells, np.array([5, 3, 9, 1, 2, 8, 7, 4], dtype="int32"), np.zeros(2, "int32"))[1])
print(moved)
