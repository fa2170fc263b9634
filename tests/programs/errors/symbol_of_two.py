# SPDX-License-Identifier: Apache-2.0
# Two instructions call one symbol for buffers of other strides.
import tvm
from tvm import te


def add(n, m, one):
    a = te.placeholder((n, m), name="a")
    c = te.compute((n, m), lambda i, j: a[i, j] + one, name="c")

    def body(ins, outs):
        return tvm.tir.call_extern("int32", "add_tile",
                                   outs[0].access_ptr("w"),
                                   ins[0].access_ptr("r"))
    return te.decl_tensor_intrin(c.op, body)


A = te.placeholder((4, 8), name="A")
B = te.compute((4, 8), lambda i, j: A[i, j] + 1.0, name="B")
C = te.compute((4, 8), lambda i, j: B[i, j] + 2.0, name="C")
s = te.create_schedule(C.op)
s[B].tensorize(B.op.axis[0], add(4, 8, 1.0))
o, i = s[C].split(C.op.axis[1], 4)
s[C].reorder(o, C.op.axis[0], i)
s[C].tensorize(C.op.axis[0], add(4, 4, 2.0))
print(tvm.lower(s, [A, B, C], simple_mode=True))
