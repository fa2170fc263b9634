# SPDX-License-Identifier: Apache-2.0
# What the next iteration of a loop reads, asked for while this one computes.
import tvm
from tvm import te

X = te.placeholder((6, 64), name="X")
W = te.placeholder((8, 64, 16), name="W")
V = te.placeholder((8, 64, 16), name="V")
k = te.reduce_axis((0, 64), name="k")
Y = te.compute(
    (8, 6, 16), lambda o, h, c: te.sum(X[h, k] * (W[o, k, c] + V[o, k, c]), axis=k), name="Y"
)


def scheduled(ahead):
    s = te.create_schedule(Y.op)
    o, h, c = Y.op.axis
    s[Y].reorder(o, h, k, c)
    s[Y].vectorize(c)
    for t in ahead:
        s[Y].prefetch(t, o, 1)
    return s


# One tensor, two; of X each iteration reads the same.
for ahead in [[W], [W, V], [X]]:
    print([t.name for t in ahead])
    print(tvm.lower(scheduled(ahead), [X, W, V, Y], simple_mode=True))

# The loop of a consumer, with what is computed at it; split before.
s = te.create_schedule(Y.op)
YL = s.cache_write(Y, "local")
o, h, c = Y.op.axis
oo, oi = s[Y].split(o, factor=2)
s[Y].prefetch(W, oi, 1)
s[YL].compute_at(s[Y], h)
s[YL].reorder(k, s[YL].op.axis[2])
s[YL].vectorize(s[YL].op.axis[2])
print(tvm.lower(s, [X, W, V, Y], simple_mode=True))
print(tvm.build(scheduled([W]), [X, W, V, Y], "gnu-c").get_source())
