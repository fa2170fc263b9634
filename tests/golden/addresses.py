# SPDX-License-Identifier: Apache-2.0
# What a block says that it only reads goes to a symbol as a const pointer;
# where it says nothing, and where a pointer itself is given, writing is left
# open.
from tvm.script import tir as T

@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
    for i in range(2):
        with T.sblock("B"):
            v = T.axis.spatial(2, i)
            T.reads(A[v * 4:v * 4 + 4, 0:8])
            T.writes(B[v * 4:v * 4 + 4])
            T.evaluate(T.call_extern("int32", "rows", T.address_of(A[v * 4, 0]), T.address_of(B[v * 4])))
    for i in range(2):
        with T.sblock("C"):
            v = T.axis.spatial(2, i)
            T.evaluate(T.call_extern("int32", "more", T.address_of(B[v * 4]), C.data))
