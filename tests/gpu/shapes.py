# SPDX-License-Identifier: Apache-2.0
"""A model of products, convolutions, rows and long sums, each the output of a
node or two: sizes that tiles divide, and that they do not. What it gives is
computed in double; what is rounded to whole numbers, step by step in float."""
import os

import numpy
import onnx
from onnx import numpy_helper
from onnx import helper as make

from onnx_data import tensor_of, write_data

# What the schedule of each output says of it.
SCHEDULES = {
    "even": "staged", "odd": "staged", "batch": "staged",
    "across": "staged", "alone": "staged", "conv": "staged",
    "strided": "staged",
    "groups": "staged", "softmax": "together", "middle": "together",
    "between": "together", "many": "a row per thread",
    "long": "8 rows per block",
    "ten": "each computes all statistics", "tens": "a row per thread",
    "normed": "each computes all statistics",
    "norm": "together", "pool": "together", "product": "together",
    "columns": "together", "few": "element",
    "logs": "together", "largest": "together", "halves": "element",
    "sums": "4 elements per thread", "biased": "4 elements per thread",
    "pairs": "2 elements per thread", "turned": "an element per thread",
}


def convolve(x, w, pad, stride=1, groups=1):
    x = numpy.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = (x.shape[2] - w.shape[2]) // stride + 1
    each, made = x.shape[1] // groups, w.shape[0] // groups
    y = numpy.zeros((x.shape[0], w.shape[0], size, size))
    for g in range(groups):
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                y[:, g * made:(g + 1) * made] += numpy.einsum(
                    "ncij,oc->noij",
                    x[:, g * each:(g + 1) * each,
                      i:i + stride * size:stride, j:j + stride * size:stride],
                    w[g * made:(g + 1) * made, :, i, j])
    return y


class Model:
    numbers = numpy.float32
    opset, ir_version = 17, 8

    def __init__(self):
        self.random = numpy.random.default_rng(1)
        self.nodes, self.inputs, self.outputs = [], [], []
        self.constants = []

    def array(self, name, *shape):
        return name, self.random.standard_normal(shape).astype(self.numbers)

    def given(self, name, *shape):
        self.inputs.append(self.array(name, *shape))
        return self.inputs[-1][1].astype(numpy.float64)

    def constant(self, name, *shape):
        name, value = self.array(name, *shape)
        self.constants.append(tensor_of(name, value))
        return value.astype(numpy.float64)

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(make.make_node(kind, inputs.split(), [output],
                                         **attributes))

    def gives(self, name, value):
        self.outputs.append((name, value.astype(self.numbers)))

    def write(self, folder):
        def infos(values):
            return [make.make_tensor_value_info(name, t.data_type, t.dims)
                    for name, value in values
                    for t in [tensor_of(name, value)]]

        graph = make.make_graph(self.nodes, "shapes", infos(self.inputs),
                                infos(self.outputs), self.constants)
        model = make.make_model(
            graph, opset_imports=[make.make_opsetid("", self.opset)],
            ir_version=self.ir_version)
        onnx.checker.check_model(model)
        path = os.path.join(folder, "shapes.onnx")
        onnx.save(model, path)
        return path, write_data(folder, self.inputs, self.outputs)


def products(m, even=(32, 64), odd=(23, 37)):
    """Sums and columns of two products are told."""
    x, w, b = m.given("xe", 64, even[0]), m.constant("we", *even), \
        m.constant("be", even[1])
    m.node("Gemm", "xe we be", "even")
    m.gives("even", x @ w + b)
    x, w, b = m.given("xo", 50, odd[0]), m.constant("wo", *odd[::-1]), \
        m.constant("bo", odd[1])
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
    x, y, b = m.given("xl", 1, 15, 16), m.given("yl", 1, 32, 16), \
        m.given("bl", 32)
    m.node("Transpose", "yl", "tl", perm=[0, 2, 1])
    m.node("MatMul", "xl tl", "pl")
    m.node("Add", "pl bl", "alone")
    m.gives("alone", x @ y.transpose(0, 2, 1) + b)


def convolutions(m):
    x, w, b = m.given("xc", 1, 5, 9, 9), m.constant("wc", 20, 5, 3, 3), \
        m.constant("bc", 20)
    m.node("Conv", "xc wc bc", "tc", pads=[1, 1, 1, 1])
    m.node("Relu", "tc", "conv")
    m.gives("conv", numpy.maximum(convolve(x, w, 1) + b[:, None, None], 0))
    x, w = m.given("xs", 2, 16, 10, 10), m.constant("ws", 12, 16, 3, 3)
    z = m.given("zs", 2, 12, 5, 5)
    m.node("Conv", "xs ws", "ts", pads=[1, 1, 1, 1], strides=[2, 2])
    m.node("Add", "ts zs", "strided")
    m.gives("strided", convolve(x, w, 1, 2) + z)
    x, w = m.given("xg", 1, 16, 7, 7), m.constant("wg", 24, 8, 3, 3)
    m.node("Conv", "xg wg", "groups", group=2)
    m.gives("groups", convolve(x, w, 0, groups=2))


def channels_apart(m):
    x, w = m.given("xf", 1, 4, 7, 7), m.constant("wf", 4, 1, 3, 3)
    m.node("Conv", "xf wf", "few", group=4)
    m.gives("few", convolve(x, w, 0, groups=4))


def rows(m):
    x = m.given("xr", 6, 150)
    e = numpy.exp(x - x.max(1, keepdims=True))
    m.node("Softmax", "xr", "softmax", axis=-1)
    m.gives("softmax", e / e.sum(1, keepdims=True))
    for name, count in ("ten", 3), ("tens", 2100):
        x = m.given("x" + name, count, 10)
        e = numpy.exp(x - x.max(1, keepdims=True))
        m.node("Softmax", "x" + name, name, axis=-1)
        m.gives(name, e / e.sum(1, keepdims=True))
    x, s, b = m.given("xd", 3, 16), m.constant("sd", 16), m.constant("bd", 16)
    away = x - x.mean(1, keepdims=True)
    m.node("LayerNormalization", "xd sd bd", "normed", axis=-1)
    m.gives("normed", away / numpy.sqrt(
        (away ** 2).mean(1, keepdims=True) + 1e-5) * s + b)
    for name, axis, shape in (("middle", 1, (2, 40, 9)),
                              ("between", 2, (2, 1, 33, 7)),
                              ("many", 1, (2, 6, 2500)),
                              ("long", 1, (1, 100, 8200))):
        x = m.given("x" + name, *shape)
        e = numpy.exp(x - x.max(axis, keepdims=True))
        m.node("Softmax", "x" + name, name, axis=axis)
        m.gives(name, e / e.sum(axis, keepdims=True))
    x, s, b = m.given("xn", 5, 4, 96), m.constant("sn", 96), \
        m.constant("bn", 96)
    away = x - x.mean(2, keepdims=True)
    m.node("LayerNormalization", "xn sn bn", "norm", axis=-1)
    m.gives("norm", away / numpy.sqrt(
        (away ** 2).mean(2, keepdims=True) + 1e-5) * s + b)
    x = m.given("xp", 2, 64, 6, 6)
    m.node("GlobalAveragePool", "xp", "pool")
    m.gives("pool", x.mean((2, 3), keepdims=True))
    x = m.given("xw", 1, 1, 12, 28)
    bordered = numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)),
                         constant_values=-numpy.inf)
    m.node("MaxPool", "xw", "plane", kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    m.gives("plane", numpy.max([bordered[:, :, i:i + 12, j:j + 28]
                                for i in range(3) for j in range(3)], axis=0))
    x, w, b = m.given("xv", 1, 300), m.constant("wv", 300, 11), \
        m.constant("bv", 11)
    m.node("Gemm", "xv wv bv", "product")
    m.gives("product", x @ w + b)
    x = m.given("xk", 3, 100, 8)
    m.node("ReduceMean", "xk", "columns", axes=[1], keepdims=0)
    m.gives("columns", x.mean(1))
    x = m.given("xt", 4, 70)
    m.node("ReduceLogSumExp", "xt", "logs", axes=[1], keepdims=0)
    m.gives("logs", numpy.log(numpy.exp(x).sum(1)))
    m.node("ReduceMax", "xt", "largest", axes=[1], keepdims=0)
    m.gives("largest", x.max(1))


def elements(m):
    """Rows that end within what a thread takes, or are longer or shorter."""
    x, y = m.given("xsum", 2, 64, 9, 9), m.given("ysum", 2, 64, 9, 9)
    m.node("Add", "xsum ysum", "tsum")
    m.node("Tanh", "tsum", "sums")
    m.gives("sums", numpy.tanh(x + y))
    x, b = m.given("xbias", 128, 96), m.given("bbias", 96)
    m.node("Add", "xbias bbias", "biased")
    m.gives("biased", x + b)
    x, b = m.given("xpair", 100, 90), m.given("bpair", 90)
    m.node("Sub", "xpair bpair", "pairs")
    m.gives("pairs", x - b)
    x = m.given("xturn", 100, 96)
    m.node("Transpose", "xturn", "turned", perm=[1, 0])
    m.gives("turned", x.T)


def averages(m):
    """Of stored numbers, each half-way between two: the float sum in the order
    of the definition, and it alone, goes where the result does."""
    scale = numpy.float32(0.12706915)
    stored = m.random.integers(-128, 127, (1, 96, 8, 8))
    flat = stored.reshape(96, 64)
    flat[:, 63] = 0
    flat[:, 63] = (32 - flat.sum(1)) % 64
    m.inputs.append(("xh", (stored * scale).astype(numpy.float32)))
    m.constants += [numpy_helper.from_array(scale, "scale"),
                    numpy_helper.from_array(numpy.int8(3), "zero")]
    m.node("QuantizeLinear", "xh scale zero", "qh")
    m.node("DequantizeLinear", "qh scale zero", "dh")
    m.node("GlobalAveragePool", "dh", "ph")
    m.node("QuantizeLinear", "ph scale zero", "rh")
    m.node("DequantizeLinear", "rh scale zero", "halves")
    stored = numpy.clip(flat + 3, -128, 127)
    terms = (stored - 3).astype(numpy.float32) * scale
    total = numpy.add.accumulate(terms, axis=1, dtype=numpy.float32)[:, -1]
    mean = numpy.rint(total / numpy.float32(64) / scale)
    m.gives("halves", (mean * scale).reshape(1, 96, 1, 1))


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    products(m)
    convolutions(m)
    channels_apart(m)
    rows(m)
    elements(m)
    averages(m)
    return m.write(folder)
