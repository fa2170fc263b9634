# SPDX-License-Identifier: Apache-2.0
# Reducers of one's own, one with two results; a condition; an outside call.
import tvm
from tvm import te

n, m = te.var("n"), te.var("m")
X = te.placeholder((n, m), name="X")


def pick(x, y):
    return te.if_then_else(x[1] >= y[1], x[0], y[0]), te.max(x[1], y[1])


argmax = te.comm_reducer(
    pick, lambda i, v: (tvm.tir.const(-1, i), tvm.te.min_value(v)), name="argmax"
)
k = te.reduce_axis((0, m), name="k")
where, best = te.compute((n,), lambda i: argmax((k.var, X[i, k]), axis=k), name="best")
s = te.create_schedule(best.op)
print(tvm.lower(s, [X, where, best], simple_mode=True))

product = te.comm_reducer(lambda x, y: x * y, lambda t: tvm.tir.const(1, t), name="product")
r = te.reduce_axis((0, m), name="r")
P = te.compute((n,), lambda i: product(X[i, r], axis=r), name="P")
print(tvm.lower(te.create_schedule(P.op), [X, P], simple_mode=True))

q = te.reduce_axis((0, m), name="q")
D = te.compute((n,), lambda i: te.sum(X[i, q], axis=q, where=q <= i), name="D")
print(tvm.lower(te.create_schedule(D.op), [X, D], simple_mode=True))

Y = te.placeholder((8,), name="Y")
Z = te.extern(
    (8,),
    [Y],
    lambda ins, outs: tvm.tir.call_extern("int32", "twice", ins[0].access_ptr("r"), outs[0].access_ptr("w"), 8),
    name="Z",
    dtype="float32",
)
print(tvm.lower(te.create_schedule(Z.op), [Y, Z], simple_mode=True))
