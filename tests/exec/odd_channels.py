#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantized convolutions and products to numbers of channels that no vector
divides, against onnxruntime: at most one step apart, all by the target's dot
product of bytes.

    odd_channels.py TARGET INSTRUCTION
"""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper
from onnx_data import write_data

try:
    import onnxruntime
except ImportError:
    helper.skip("onnxruntime is not installed")

CHANNELS = (2, 3, 9, 17, 21, 24)
random = numpy.random.default_rng(11)
nodes, constants, results = [], [], []


def constant(name, array):
    constants.append(numpy_helper.from_array(numpy.asarray(array), name))
    return name


def node(kind, inputs, output, **attributes):
    nodes.append(make.make_node(kind, inputs, [output], **attributes))
    return output


def quantized(x, scale, zero):
    given = [constant(x + "_scale", numpy.float32(scale)),
             constant(x + "_zero", numpy.uint8(zero))]
    q = node("QuantizeLinear", [x] + given, x + "_q")
    return q, node("DequantizeLinear", [q] + given, x + "_dq")


def product(kind, x, name, shape, out, **attributes):
    """Of x, whose scale is 0.05, with weights and a bias for `out` channels."""
    def given(what, array, scale):
        return node("DequantizeLinear", [
            constant(name + what, array),
            constant(name + what + "_scale", numpy.float32(scale)),
            constant(name + what + "_zero", array.dtype.type(0))],
            name + what + "_dq")
    w = given("w", random.integers(-127, 128, shape).astype(numpy.int8), 0.01)
    b = given("b", random.integers(-2000, 2000, out).astype(numpy.int32),
              0.05 * 0.01)
    return node(kind, [x, w, b], name, **attributes)


_, x = quantized("x", 0.05, 120)
_, rows = quantized("rows", 0.05, 125)
_, y = quantized(product("Conv", x, "first", (32, 3, 3, 3), 32,
                         pads=[1, 1, 1, 1]), 0.05, 128)
for n in CHANNELS:
    for k in (1, 3):
        results.append(quantized(product(
            "Conv", y, "conv%d_%d" % (k, n), (n, 32, k, k), n,
            pads=[k // 2] * 4), 0.3, 100)[0])
    results.append(quantized(product("Gemm", rows, "gemm%d" % n, (32, n), n),
                             0.3, 130)[0])
graph = make.make_graph(
    nodes, "odd_channels",
    [make.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 20]),
     make.make_tensor_value_info("rows", TensorProto.FLOAT, [40, 32])],
    [make.make_tensor_value_info(name, TensorProto.UINT8, None)
     for name in results], constants)
model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)])
model.ir_version = 8
folder = helper.work_folder()
path = os.path.join(folder, "model.onnx")
onnx.save(onnx.shape_inference.infer_shapes(model), path)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = \
    onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(path, options)
given = [random.standard_normal(shape).astype(numpy.float32)
         for shape in ((1, 3, 16, 20), (40, 32))]
expected = session.run(None, {"x": given[0], "rows": given[1]})
if any(len(set(one.flat)) < 20 for one in expected):
    helper.fail("the results say nothing")
write_data(folder, given, expected, 0)
target = ["--target", sys.argv[1]]
print(helper.tirc("test", path, *target, "--cc", "gcc").stdout)
out = helper.compile_model(path, "--name", "m", *target)
with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
    kernels = file.read().split("\n/* ")[1:]
for kernel in kernels:
    title = kernel.split("\n", 1)[0]
    if " 32 -> " in title and sys.argv[2] not in kernel:
        helper.fail("no dot products: " + title)
