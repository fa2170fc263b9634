# SPDX-License-Identifier: Apache-2.0
# A window with padding, stride and dilation; the source of what is built.
import tvm
from tvm import te

h, w, taps = 12, 11, 3
data = te.placeholder((4, h, w), name="data")
weight = te.placeholder((6, 4, taps, taps), name="weight")
padded = te.compute(
    (4, h + 2, w + 2),
    lambda c, y, x: te.if_then_else(
        te.all(y >= 1, y < h + 1, x >= 1, x < w + 1), data[c, y - 1, x - 1], 0.0
    ),
    name="padded",
)
c = te.reduce_axis((0, 4), name="c")
ky = te.reduce_axis((0, taps), name="ky")
kx = te.reduce_axis((0, taps), name="kx")
out = te.compute(
    (6, (h - 1) // 2 + 1, (w - 1) // 2 + 1),
    lambda o, y, x: te.sum(
        padded[c, y * 2 + ky, x * 2 + kx] * weight[o, c, ky, kx], axis=[c, ky, kx]
    ),
    name="out",
)
s = te.create_schedule(out.op)
s[padded].compute_inline()
s[out].reorder(c, *out.op.axis, ky, kx)
print(tvm.build(s, [data, weight, out], target="c", name="window").get_source())
