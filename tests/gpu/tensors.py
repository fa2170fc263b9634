# SPDX-License-Identifier: Apache-2.0
"""A model of products that tensor cores compute, each the output of a node or
two: types, sizes that tiles divide, and that they do not, batches and
convolutions. What it gives is computed in double."""
import numpy
from onnx import TensorProto

import shapes

# What the schedule of each output says of it.
SCHEDULES = {
    "even": "tensor", "odd": "tensor", "batch": "tensor",
    "across": "tensor", "turned": "tensor", "conv": "tensor",
    "strided": "tensor", "groups": "tensor", "thin": "together",
}


class Model(shapes.Model):
    def __init__(self, type_, numbers):
        super().__init__()
        self.type, self.numbers = type_, numbers


def products(m):
    x, w, b = m.given("xe", 64, 192), m.constant("we", 192, 96), \
        m.constant("be", 96)
    m.node("Gemm", "xe we be", "even")
    m.gives("even", x @ w + b)
    x, w, b = m.given("xo", 50, 37), m.constant("wo", 45, 37), \
        m.constant("bo", 45)
    m.node("Gemm", "xo wo bo", "to", transB=1)
    m.node("Relu", "to", "odd")
    m.gives("odd", numpy.maximum(x @ w.T + b, 0))
    x, y = m.given("xb", 3, 20, 24), m.given("yb", 3, 24, 17)
    m.node("MatMul", "xb yb", "batch")
    m.gives("batch", x @ y)
    x, y = m.given("xa", 2, 20, 24), m.given("ya", 2, 33, 24)
    m.node("Transpose", "ya", "ta", perm=[0, 2, 1])
    m.node("MatMul", "xa ta", "across")
    m.gives("across", x @ y.transpose(0, 2, 1))
    x, w = m.given("xt", 64, 40), m.constant("wt", 64, 48)
    m.node("Transpose", "xt", "tt", perm=[1, 0])
    m.node("MatMul", "tt wt", "turned")
    m.gives("turned", x.T @ w)
    x, w = m.given("xn", 4, 64), m.constant("wn", 64, 48)
    m.node("MatMul", "xn wn", "thin")
    m.gives("thin", x @ w)


def convolutions(m):
    x, w, b = m.given("xc", 1, 5, 9, 9), m.constant("wc", 20, 5, 3, 3), \
        m.constant("bc", 20)
    m.node("Conv", "xc wc bc", "tc", pads=[1, 1, 1, 1])
    m.node("Relu", "tc", "conv")
    m.gives("conv", numpy.maximum(
        shapes.convolve(x, w, 1) + b[:, None, None], 0))
    x, w = m.given("xs", 2, 16, 10, 10), m.constant("ws", 12, 16, 3, 3)
    z = m.given("zs", 2, 12, 5, 5)
    m.node("Conv", "xs ws", "ts", pads=[1, 1, 1, 1], strides=[2, 2])
    m.node("Add", "ts zs", "strided")
    m.gives("strided", shapes.convolve(x, w, 1, 2) + z)
    x, w = m.given("xg", 1, 16, 7, 7), m.constant("wg", 24, 8, 3, 3)
    m.node("Conv", "xg wg", "groups", group=2)
    m.gives("groups", shapes.convolve(x, w, 0, groups=2))


def write(folder, type_=TensorProto.FLOAT16, numbers=numpy.float16):
    """Paths of the model and of its data."""
    m = Model(type_, numbers)
    products(m)
    convolutions(m)
    return m.write(folder)
