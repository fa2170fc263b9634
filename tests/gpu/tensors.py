# SPDX-License-Identifier: Apache-2.0
"""A model of products that tensor cores compute, each the output of a node or
two: types, sizes that tiles divide, and that they do not, batches and
convolutions. What it gives is computed in double."""
import numpy

import shapes

TARGETS = ["cuda-sm80", "cuda"]
# What the schedule of each output says of it.
SCHEDULES = {
    "even": "tensor", "odd": "tensor", "batch": "tensor",
    "across": "tensor", "turned": "tensor", "conv": "tensor",
    "strided": "tensor", "groups": "tensor", "thin": "together",
}


class Model(shapes.Model):
    numbers = numpy.float16


def products(m):
    shapes.products(m, even=(192, 96), odd=(37, 45))
    x, w = m.given("xt", 64, 40), m.constant("wt", 64, 48)
    m.node("Transpose", "xt", "tt", perm=[1, 0])
    m.node("MatMul", "tt wt", "turned")
    m.gives("turned", x.T @ w)
    x, w = m.given("xn", 4, 64), m.constant("wn", 64, 48)
    m.node("MatMul", "xn wn", "thin")
    m.gives("thin", x @ w)


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    products(m)
    shapes.convolutions(m)
    return m.write(folder)
