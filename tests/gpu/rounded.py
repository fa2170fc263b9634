# SPDX-License-Identifier: Apache-2.0
"""A model of products of floats that the target may round to tf32: what it
gives is computed in double, of operands that are rounded here."""
import numpy

import shapes

TARGETS = ["cuda-sm80", "cuda-sm80"]
FACTS = " -tf32=true"
# What the schedule of each output says of it.
SCHEDULES = {name: "wmma_sync_16x16x8_tf32tf32f32"
             for name in ("even", "odd", "batch", "across", "conv")}


def rounded(array):
    """To 10 bits behind the point, halves away from zero."""
    bits = array.astype(numpy.float32).view(numpy.uint32)
    return ((bits + numpy.uint32(4096)) // 8192 * 8192).view(numpy.float32)


class Model(shapes.Model):
    """Operands of products have names of x, y and w."""

    def given(self, name, *shape):
        exact = super().given(name, *shape)
        return rounded(exact).astype(numpy.float64) if name[0] in "xy" \
            else exact

    def constant(self, name, *shape):
        exact = super().constant(name, *shape)
        return rounded(exact).astype(numpy.float64) if name[0] == "w" \
            else exact


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    shapes.products(m)
    x, w = m.given("xc", 1, 5, 6, 6), m.constant("wc", 20, 5, 3, 3)
    m.node("Conv", "xc wc", "conv", pads=[1, 1, 1, 1])
    m.gives("conv", shapes.convolve(x, w, 1))
    return m.write(folder)
