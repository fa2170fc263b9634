# SPDX-License-Identifier: Apache-2.0
"""Parts, vectors and addresses of views that are strided, of other lanes, or over
several dimensions of a buffer."""
import numpy as np
import tvm
from tvm.script import tir as T


@T.prim_func
def row(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4,), "float32")):
    B = T.decl_buffer((2, 8), "float32", data=A.data)
    with T.block("row"):
        P = T.match_buffer(B[1:2, 2:8], (6,))
        for k in range(4):
            C[k] = P[k + 1]


@T.prim_func
def pairs(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4,), "float32")):
    B = T.decl_buffer((8,), "float32x2", data=A.data)
    with T.block("pairs"):
        P = T.match_buffer(B[2:4], (2,))
        C[0:2] = P[0]
        C[2:4] = P[1]


@T.prim_func
def column(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4,), "float32")):
    B = T.decl_buffer((4, 4), "float32", data=A.data, strides=[1, 4])
    with T.block("column"):
        P = T.match_buffer(B[2, 0:4])
        for k in range(4):
            C[k] = P[0, k]


@T.prim_func
def every_second(A: T.Buffer((4, 4), "float32"), C: T.Buffer((4,), "float32")):
    B = T.decl_buffer((8,), "float32", data=A.data, strides=[2])
    C.vstore([0], B.vload([1], "float32x4"))


@T.prim_func
def to_every_second(A: T.Buffer((4, 4), "float32"), C: T.Buffer((8,), "float32")):
    B = T.decl_buffer((4,), "float32", data=C.data, strides=[2])
    B.vstore([0], A.vload([1, 0], "float32x4"))


@T.prim_func
def addresses(A: T.Buffer((4, 4), "float32")):
    for i in range(4):
        with T.block("addresses"):
            v = T.axis.spatial(4, i)
            P = T.match_buffer(A[v, 1:3], (2,))
            W = T.decl_buffer((8,), "float32x2", data=A.data)
            T.call_extern("int32", "take", P.access_ptr("r"), P.access_ptr("w", offset=1),
                          W.access_ptr("r", offset=3))


for f, n in (row, 4), (pairs, 4), (column, 4), (every_second, 4), (to_every_second, 8):
    a = tvm.nd.array(np.arange(16, dtype="float32").reshape(4, 4))
    c = tvm.nd.array(np.zeros(n, "float32"))
    tvm.build(f, target="c")(a, c)
    print(c)
print(tvm.build(addresses, target="c").get_source())
