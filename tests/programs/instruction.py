# SPDX-License-Identifier: Apache-2.0
# An instruction that multiplies a 4x16 by a 16-vector, with and without a
# part that starts and a part that adds.
import tvm
from tvm import te


def mac(rows, depth, parts):
    w = te.placeholder((rows, depth), name="w", dtype="int8")
    v = te.placeholder((depth,), name="v", dtype="int8")
    k = te.reduce_axis((0, depth), name="k")
    y = te.compute(
        (rows,),
        lambda i: te.sum(w[i, k].astype("int32") * v[k].astype("int32"), axis=k),
        name="y",
    )

    def lower(ins, outs):
        a, b = ins
        (c,) = outs
        all_ = tvm.tir.call_extern("int32", "mac_all", a.access_ptr("r"), b.access_ptr("r"), c.access_ptr("w"))
        if not parts:
            return all_
        return (
            all_,
            tvm.tir.call_extern("int32", "mac_reset", c.access_ptr("w")),
            tvm.tir.call_extern("int32", "mac_add", a.access_ptr("r"), b.access_ptr("r"), c.access_ptr("rw")),
        )

    return te.decl_tensor_intrin(y.op, lower, name="mac")


for depth in (16, 48):
    W = te.placeholder((12, depth), name="W", dtype="int8")
    V = te.placeholder((depth,), name="V", dtype="int8")
    k = te.reduce_axis((0, depth), name="k")
    Y = te.compute(
        (12,),
        lambda i: te.sum(W[i, k].astype("int32") * V[k].astype("int32"), axis=k),
        name="Y",
    )
    s = te.create_schedule(Y.op)
    io, ii = s[Y].split(Y.op.axis[0], factor=4)
    ko, ki = s[Y].split(k, factor=16)
    s[Y].reorder(io, ko, ii, ki)
    s[Y].tensorize(ii, mac(4, 16, depth > 16))
    print(tvm.lower(s, [W, V, Y], simple_mode=True))
