# SPDX-License-Identifier: Apache-2.0
# Reductions that start at a value of their own: init=.
import tvm
from tvm import te

n, m = te.var("n"), te.var("m")
X = te.placeholder((n, m), name="X")
bias = te.placeholder((n,), name="bias")

# A number, and an element of a tensor; with a condition that leaves out some.
k = te.reduce_axis((0, m), name="k")
C = te.compute((n,), lambda i: te.sum(X[i, k], axis=k, init=1), name="C")
r = te.reduce_axis((0, m), name="r")
B = te.compute(
    (n,), lambda i: te.max(X[i, r], axis=r, where=r != i, init=bias[i] * 0.5), name="B"
)
s = te.create_schedule([C.op, B.op])
print(tvm.lower(s, [X, bias, C, B], simple_mode=True))

# Compared, two axes give a value; asked for its truth, whether they are one.
D = te.compute((8, 8), lambda i, j: te.if_then_else(i == j, 1.0, 0.0), name="D")
s = te.create_schedule(D.op)
x, y = D.op.axis
print(bool(x == y), bool(x != y), x == x, x in [y], s[D].leaf_iter_vars[0] == x)
print(tvm.lower(s, [D], simple_mode=True))

# A reducer of one's own, and one of two values.
product = te.comm_reducer(lambda x, y: x * y, lambda t: tvm.tir.const(1, t), name="product")
q = te.reduce_axis((0, m), name="q")
P = te.compute((n,), lambda i: product(X[i, q], axis=q, init=bias[i]), name="P")
print(tvm.lower(te.create_schedule(P.op), [X, bias, P], simple_mode=True))

argmax = te.comm_reducer(
    lambda x, y: (
        te.if_then_else(x[1] >= y[1], x[0], y[0]),
        te.max(x[1], y[1]),
    ),
    lambda i, v: (tvm.tir.const(-1, i), tvm.te.min_value(v)),
    name="argmax",
)
j = te.reduce_axis((0, m), name="j")
where, best = te.compute(
    (n,), lambda i: argmax((j.var, X[i, j]), axis=j, init=(-7, bias[i])), name="best"
)
print(tvm.lower(te.create_schedule(best.op), [X, bias, where, best], simple_mode=True))

# Partial results start at the identity, their sum at init; a cache starts
# where its tensor did; what init reads is cached like what is reduced.
t = te.reduce_axis((0, 40), name="t")
W = te.placeholder((16, 40), name="W")
b = te.placeholder((16,), name="b")
twice = te.compute((16,), lambda i: b[i] * 2.0, name="twice")
Y = te.compute((16,), lambda i: te.sum(W[i, t], axis=t, init=twice[i]), name="Y")
s = te.create_schedule(Y.op)
to, ti = s[Y].split(t, factor=8)
YF = s.rfactor(Y, ti)
print(tvm.lower(s, [W, b, Y], simple_mode=True))

s = te.create_schedule(Y.op)
s[twice].compute_inline()
YL = s.cache_write(Y, "local")
bb = s.cache_read(b, "local", [twice])
io, ii = s[Y].split(Y.op.axis[0], factor=4)
s[YL].compute_at(s[Y], io)
to, ti = s[YL].split(t, factor=8)
s[YL].reorder(to, s[YL].op.axis[0], ti)
print(tvm.lower(s, [W, b, Y], simple_mode=True))
s = te.create_schedule(Y.op)
tb = s.cache_read(twice, "local", [Y])
s[tb].compute_at(s[Y], Y.op.axis[0])
print(tvm.lower(s, [W, b, Y], simple_mode=True))

# Over nothing, the start is the result.
none = te.reduce_axis((0, 0), name="none")
Z = te.compute((16,), lambda i: te.sum(b[none], axis=none, init=b[i]), name="Z")
print(tvm.lower(te.create_schedule(Z.op), [b, Z], simple_mode=True))

# Decomposed, in the schedules of blocks.
sch = tvm.tir.Schedule(te.create_prim_func([W, b, Y]))
block = sch.get_block("Y")
i, t = sch.get_loops(block)
sch.decompose_reduction(block, i)
sch.compute_inline(sch.get_block("twice"))
print(sch.mod)

sch = tvm.tir.Schedule(te.create_prim_func([W, b, Y]))
block = sch.get_block("Y")
i, t = sch.get_loops(block)
to, ti = sch.split(t, factors=[None, 8])
sch.blockize(ti)
print(sch.mod)
