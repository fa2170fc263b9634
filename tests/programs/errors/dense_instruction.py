# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te


def vadd(n):
    x, y = te.placeholder((n,), name="x"), te.placeholder((n,), name="y")
    z = te.compute((n,), lambda i: x[i] + y[i], name="z")

    def lower(ins, outs):
        return tvm.tir.call_extern(
            "int32", "vadd", ins[0].access_ptr("r"), ins[1].access_ptr("r"), outs[0].access_ptr("w"), n
        )

    return te.decl_tensor_intrin(z.op, lower, name="vadd")


A, B = te.placeholder((8, 8), name="A"), te.placeholder((8, 8), name="B")
C = te.compute((8, 8), lambda i, j: A[i, j] + B[i, j], name="C")
s = te.create_schedule(C.op)
i, j = C.op.axis
s[C].reorder(j, i)
s[C].tensorize(i, vadd(8))
print(tvm.lower(s, [A, B, C]))
