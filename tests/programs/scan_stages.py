# SPDX-License-Identifier: Apache-2.0
# Caches and partial results of stages that are steps of a scan.
import tvm
from tvm import te

t, n = te.var("t"), 24
X = te.placeholder((t, n), name="X")
W = te.placeholder((n, n), name="W")
state = te.placeholder((t, n), name="state")
first = te.compute((1, n), lambda _, i: X[0, i] * 2.0, name="first")
k = te.reduce_axis((0, n), name="k")
mixed = te.compute(
    (t, n), lambda s, i: te.sum(state[s - 1, k] * W[i, k], axis=k), name="mixed"
)
step = te.compute((t, n), lambda s, i: te.max(te.min(mixed[s, i] + X[s, i], 8.0), -8.0), name="step")
out = te.scan(first, step, state, inputs=[X, W], name="out")
twice = te.compute((t, n), lambda s, i: out[s, i] * 2.0, name="twice")
args = [X, W, twice]


def show(title, s):
    print(title)
    print(tvm.lower(s, args, simple_mode=True))


s = te.create_schedule(twice.op)
ML = s.cache_write(mixed, "local")
o, i = s[ML].split(s[ML].op.axis[1], factor=8)
mo, mi = s[mixed].split(mixed.op.axis[1], factor=8)
s[mixed].vectorize(mi)
show("sums in a cache, eight at a time", s)

s = te.create_schedule(twice.op)
ko, ki = s[mixed].split(k, factor=4)
MF = s.rfactor(mixed, ki, factor_axis=2)
show("four partial sums", s)

s = te.create_schedule(twice.op)
SL = s.cache_read(state, "local", [mixed])
XL = s.cache_read(X, "local", [step])
OL = s.cache_read(out, "local", [twice])
s[OL].compute_at(s[twice], twice.op.axis[0])
FL = s.cache_write(first, "local")
UL = s.cache_write(step, "local")
show("copies of states, inputs and results", s)
