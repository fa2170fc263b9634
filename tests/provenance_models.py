# SPDX-License-Identifier: Apache-2.0
"""Small models that passes change in many ways, and those of ../shared where
they are there: what the tests of names and comments compile."""
import glob
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from helper import DIGITS, ROOT, work_folder

FLOAT, INT8, UINT8 = TensorProto.FLOAT, TensorProto.INT8, TensorProto.UINT8


class Maker:
    """Collects nodes and initialisers; nodes get names that count, as
    exporters give them, or none."""

    def __init__(self, named=True):
        self.rng = np.random.default_rng(3)
        self.nodes, self.weights, self.functions = [], [], []
        self.named = named

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def normal(self, name, *shape):
        return self.constant(name, (self.rng.standard_normal(shape) / 4)
                             .astype(np.float32))

    def positive(self, name, *shape):
        return self.constant(name, self.rng.uniform(.5, 2, shape)
                             .astype(np.float32))

    def add(self, op, inputs, output, **attributes):
        name = "%s_%d" % (op, len(self.nodes)) if self.named else ""
        self.nodes.append(helper.make_node(op, inputs, [output], name,
                                           **attributes))
        return output

    def save(self, name, inputs, outputs):
        def infos(list_):
            return [helper.make_tensor_value_info(n, t, s)
                    for n, t, s in list_]
        graph = helper.make_graph(self.nodes, name, infos(inputs),
                                  infos(outputs), self.weights)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8,
                                  functions=self.functions)
        path = os.path.join(work_folder(), name + ".onnx")
        onnx.save(model, path)
        return path


def quantized():
    """Integer convolutions, a tensor that an Add reads, too, a pair of
    QuantizeLinear and DequantizeLinear around a Reshape, a MaxPool, a Gemm."""
    m = Maker()

    def scale(name, value):
        m.constant(name + "_scale", np.float32(value))
        m.constant(name + "_zero", np.int8(3))
        return [name + "_scale", name + "_zero"]

    def dequantize(x, by, out=None):
        return m.add("DequantizeLinear", [x, *by], out or x + "_dq")

    def weight(name, shape, axis=0):
        m.constant(name, m.rng.integers(-127, 127, shape).astype(np.int8))
        m.constant(name + "_s", m.rng.uniform(.01, .02, shape[axis])
                   .astype(np.float32))
        m.constant(name + "_z", np.zeros(shape[axis], np.int8))
        return m.add("DequantizeLinear", [name, name + "_s", name + "_z"],
                     name + "_dq", axis=axis)

    x = "x"
    by = scale("x", .05)
    x = dequantize(x, by)
    m.constant("bias0", (m.rng.standard_normal(16) / 8).astype(np.float32))
    a = m.add("Conv", [x, weight("w0", (16, 3, 3, 3))], "a", pads=[1, 1, 1, 1])
    a = m.add("Relu", [a], "a_relu")
    by_a = scale("a", .04)
    a = dequantize(m.add("QuantizeLinear", [a, *by_a], "a_q"), by_a, "a_dq")
    b = m.add("Conv", [a, weight("w1", (16, 16, 3, 3))], "b",
              pads=[1, 1, 1, 1])
    by_b = scale("b", .06)
    b = dequantize(m.add("QuantizeLinear", [b, *by_b], "b_q"), by_b, "b_dq")
    c = m.add("Add", [a, b], "c")
    by_c = scale("c", .07)
    c = dequantize(m.add("QuantizeLinear", [c, *by_c], "c_q"), by_c, "c_dq")
    d = m.add("MaxPool", [c], "d", kernel_shape=[2, 2], strides=[2, 2])
    d = dequantize(m.add("QuantizeLinear", [d, *by_c], "d_q"), by_c, "d_dq")
    m.constant("flat", np.array([1, 256], np.int64))
    e = m.add("Reshape", [d, "flat"], "e")
    e = dequantize(m.add("QuantizeLinear", [e, *by_c], "e_q"), by_c, "e_dq")
    f = m.add("Gemm", [e, weight("w2", (10, 256))], "f", transB=1)
    m.add("QuantizeLinear", [f, *scale("y", .5)], "y")
    return m.save("quantized", [("x", INT8, [1, 3, 8, 8])],
                  [("y", INT8, [1, 10])])


def convolutions(named=True):
    """Convolutions with BatchNormalization and chains of scales, a Pad, equal
    nodes, an Identity, a Dropout, a Concat in place, what computes a shape, and
    a node that nothing reads."""
    m = Maker(named)

    def norm(x, name, channels):
        return m.add("BatchNormalization",
                     [x, m.positive(name + ".gamma", channels),
                      m.normal(name + ".beta", channels),
                      m.normal(name + ".mean", channels),
                      m.positive(name + ".var", channels)], name)

    m.constant("pads", np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64))
    x = m.add("Pad", ["x", "pads"], "padded")
    x = m.add("Conv", [x, m.normal("conv0.weight", 16, 8, 3, 3)], "conv0")
    x = m.add("Relu", [norm(x, "norm0", 16)], "relu0")
    x = m.add("Identity", [x], "same")
    x = m.add("Conv", [x, m.normal("conv1.weight", 16, 16, 3, 3),
                       m.normal("conv1.bias", 16)], "conv1",
              pads=[1, 1, 1, 1])
    x = m.add("Mul", [x, m.positive("scale", 16, 1, 1)], "scaled")
    x = m.add("Sub", [x, m.normal("shift", 16, 1, 1)], "shifted")
    y = m.add("Exp", [x], "exp")
    z = m.add("Exp", [x], "exp_again")
    y = m.add("Mul", [y, y], "square")
    z = m.add("Neg", [z], "negative")
    m.add("Tanh", [x], "unread")
    x = m.add("Concat", [y, z], "joined", axis=1)
    x = m.add("Dropout", [x], "dropped")
    x = m.add("GlobalAveragePool", [x], "mean")
    shape = m.add("Shape", [x], "shape")
    shape = m.add("Gather", [shape, m.constant("first", np.int64(0))],
                  "batch")
    shape = m.add("Unsqueeze", [shape, m.constant(
        "axes", np.array([0], np.int64))], "batch_1")
    shape = m.add("Concat", [shape, m.constant(
        "rest", np.array([-1], np.int64))], "flat_shape", axis=0)
    x = m.add("Reshape", [x, shape], "flat")
    w = m.add("Transpose", [m.normal("fc.weight", 10, 32)], "fc.transposed",
              perm=[1, 0])
    x = m.add("MatMul", [x, w], "fc")
    x = m.add("Add", [x, m.normal("fc.bias", 10)], "y")
    return m.save("convolutions", [("x", FLOAT, [1, 8, 16, 16])],
                  [("y", FLOAT, [1, 10])])


def attention():
    """Softmax (Q K^T) V with Transposes and Reshapes, as exporters write it,
    with parameters from Constant nodes."""
    m = Maker()

    def product(x, name):
        x = m.add("MatMul", [x, m.normal(name + ".weight", 32, 32)],
                  name + "_mm")
        x = m.add("Add", [x, m.normal(name + ".bias", 32)], name)
        m.nodes.append(helper.make_node(
            "Constant", [], [name + "_heads"], "Constant_%d" % len(m.nodes),
            value=numpy_helper.from_array(np.array([1, 16, 4, 8], np.int64))))
        x = m.add("Reshape", [x, name + "_heads"], name + "_split")
        return m.add("Transpose", [x], name + "_moved", perm=[0, 2, 1, 3])

    q, k, v = product("x", "q"), product("x", "k"), product("x", "v")
    k = m.add("Transpose", [k], "k_across", perm=[0, 1, 3, 2])
    s = m.add("MatMul", [q, k], "scores")
    m.constant("root", np.float32(8 ** .5))
    s = m.add("Softmax", [m.add("Div", [s, "root"], "scores_scaled")],
              "weights", axis=-1)
    y = m.add("MatMul", [s, v], "heads")
    y = m.add("Transpose", [y], "heads_back", perm=[0, 2, 1, 3])
    m.constant("merged", np.array([1, 16, 32], np.int64))
    m.add("Reshape", [y, "merged"], "y")
    return m.save("attention", [("x", FLOAT, [1, 16, 32])],
                  [("y", FLOAT, [1, 16, 32])])


def functions():
    """Calls of functions that the model defines, one within another."""
    m = Maker()
    swish = helper.make_function(
        "own", "Swish", ["a"], ["b"],
        [helper.make_node("Constant", [], ["one"], "c",
                          value=numpy_helper.from_array(np.float32(1.5))),
         helper.make_node("Mul", ["a", "one"], ["t"], "m"),
         helper.make_node("Sigmoid", ["t"], ["s"], "s"),
         helper.make_node("Mul", ["a", "s"], ["b"], "p")],
        [helper.make_opsetid("", 17)])
    block = helper.make_function(
        "own", "Block", ["x", "w"], ["y"],
        [helper.make_node("MatMul", ["x", "w"], ["t"], "mm"),
         helper.make_node("Swish", ["t"], ["y"], "act", domain="own")],
        [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])
    m.functions = [swish, block]
    x = m.add("Block", ["x", m.normal("w0", 16, 16)], "h0", domain="own")
    x = m.add("Block", [x, m.normal("w1", 16, 16)], "h1", domain="own")
    m.add("Swish", [x], "y", domain="own")
    return m.save("functions", [("x", FLOAT, [4, 16])],
                  [("y", FLOAT, [4, 16])])


def shared():
    """Models that the checkout has beside it; none where there is none."""
    pattern = os.path.join(ROOT, "..", "shared", "models", "mlperf_tiny",
                           "*", "model.onnx")
    return sorted(glob.glob(pattern))


def small():
    return [DIGITS, quantized(), convolutions(), convolutions(False),
            attention(), functions()]
