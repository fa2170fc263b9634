# SPDX-License-Identifier: Apache-2.0
# Stages of a scan's step: inlined, computed at a loop of the stage that reads
# them, vectorized around a reduction.
import numpy as np
import tvm
from tvm import te

t, n = 6, 16
X = te.placeholder((t, n), name="X")
W = te.placeholder((n, n), name="W")
h, c = te.placeholder((t, n), name="h"), te.placeholder((t, n), name="c")
h0 = te.compute((1, n), lambda _, i: X[0, i], name="h0")
c0 = te.compute((1, n), lambda _, i: 0.5, name="c0")
k = te.reduce_axis((0, n), name="k")
sums = te.compute((t, n), lambda s, i: te.sum(h[s - 1, k] * W[i, k], axis=k), name="sums")
gate = te.compute((t, n), lambda s, i: sums[s, i] * 0.125 + X[s, i], name="gate")
old = te.compute((t, n), lambda s, i: h[s - 1, i] + c[s - 1, i], name="old")
c1 = te.compute((t, n), lambda s, i: c[s - 1, i] * 0.5 + gate[s, i], name="c1")
h1 = te.compute((t, n), lambda s, i: te.max(c1[s, i], old[s, i]) - gate[s, i], name="h1")
hs, cs = te.scan([h0, c0], [h1, c1], [h, c], inputs=[X, W], name="net")
args = [X, W, hs, cs]

x = np.random.RandomState(1).uniform(-1, 1, (t, n)).astype("float32")
w = np.random.RandomState(2).uniform(-1, 1, (n, n)).astype("float32")
want_h, want_c = [x[0]], [np.full(n, 0.5, "float32")]
for s in range(1, t):
    g = w.dot(want_h[-1]) * 0.125 + x[s]
    now = want_c[-1] * 0.5 + g
    want_h.append(np.maximum(now, want_h[-1] + want_c[-1]) - g)
    want_c.append(now)


def check(title, s):
    print(title)
    print(tvm.lower(s, args, simple_mode=True))
    f = tvm.build(s, args, target="cuda" if title.endswith("threads") else "llvm")
    got = [tvm.nd.array(np.zeros((t, n), dtype="float32")) for _ in range(2)]
    f(tvm.nd.array(x), tvm.nd.array(w), got[0], got[1])
    np.testing.assert_allclose(got[0].numpy(), np.array(want_h), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(got[1].numpy(), np.array(want_c), rtol=1e-5, atol=1e-5)


s = te.create_schedule(hs.op)
s[gate].compute_inline()
s[old].compute_inline()
s[sums].vectorize(s[sums].op.axis[1])
check("inlined", s)

# The same schedule again, and another choice for it.
check("inlined again", s)
s[old].compute_root()
check("one of them inlined", s)


s = te.create_schedule(hs.op)
outer, inner = s[h1].split(h1.op.axis[1], factor=4)
s[old].compute_at(s[h1], inner)
check("computed at a loop of the step", s)

s = te.create_schedule(hs.op)
s[gate].compute_inline()
for stage in (c1, h1, sums):
    s[stage].bind(stage.op.axis[1], te.thread_axis("threadIdx.x"))
for stage in (h0, c0):
    s[stage].bind(stage.op.axis[1], te.thread_axis("threadIdx.x"))
s[old].compute_at(s[h1], h1.op.axis[1])
check("threads", s)
