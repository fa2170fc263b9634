#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A QDQ graph of everything that becomes integers, against onnxruntime: three
channels that are padded, unsigned weights with a zero point, weights by
channel, bounds, MaxPool, Concat of two scales, a fully connected layer. At most
one step apart, and no float convolution is left.

    quantized_graph.py TARGET

The target pairs is gnu-c with vectors that no instruction is named for.
"""
import json
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

random = numpy.random.default_rng(7)
nodes, constants = [], []


def constant(name, array):
    constants.append(numpy_helper.from_array(numpy.asarray(array), name))
    return name


def node(kind, inputs, output, **attributes):
    nodes.append(make.make_node(kind, inputs, [output], **attributes))
    return output


def quantized(x, scale, zero):
    """x through QuantizeLinear and DequantizeLinear."""
    given = [constant(x + "_scale", numpy.float32(scale)),
             constant(x + "_zero", numpy.int8(zero))]
    q = node("QuantizeLinear", [x] + given, x + "_q")
    return node("DequantizeLinear", [q] + given, x + "_dq")


def weights(name, array, scale, zero, axis=0):
    return node("DequantizeLinear", [
        constant(name, array), constant(name + "_scale", scale),
        constant(name + "_zero", zero)], name + "_dq", axis=axis)


def signed(*shape):
    return random.integers(-127, 128, shape).astype(numpy.int8)


x = quantized("x", 0.02, -3)
scale = (random.random(32) * 0.01 + 0.001).astype(numpy.float32)
w = weights("w1", signed(32, 3, 3, 3), scale, numpy.zeros(32, numpy.int8))
b = weights("b1", random.integers(-900, 900, 32).astype(numpy.int32),
            scale * numpy.float32(0.02), numpy.zeros(32, numpy.int32))
y = node("Conv", [x, w, b], "c1", pads=[1, 1, 1, 1], strides=[2, 2])
y = node("Clip", [y, constant("low", numpy.float32(0)),
                  constant("high", numpy.float32(6))], "clip")
first = quantized(y, 0.03, -128)
w = weights("w2", random.integers(0, 256, (32, 32, 3, 3)).astype(numpy.uint8),
            numpy.float32(0.004), numpy.uint8(131))
second = quantized(node("Conv", [first, w], "c2", pads=[1, 1, 1, 1]), 0.5, 9)
pool = quantized(node("MaxPool", [second], "pool", kernel_shape=[3, 3],
                      pads=[1, 1, 1, 1]), 0.5, 9)
both = quantized(node("Concat", [first, pool], "both", axis=1), 0.4, -20)
flat = node("Flatten", [both], "flat")
w = weights("w3", signed(10, 64 * 64), numpy.float32(0.002), numpy.int8(0))
quantized(node("Gemm", [flat, w], "y", transB=1), 9.0, 4)
graph = make.make_graph(
    nodes, "quantized",
    [make.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])],
    [make.make_tensor_value_info("y_q", TensorProto.INT8, [1, 10])],
    constants)
model = make.make_model(graph, opset_imports=[make.make_opsetid("", 13)])
model.ir_version = 8
folder = helper.work_folder()
path = os.path.join(folder, "model.onnx")
onnx.save(model, path)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = \
    onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(path, options)
for k in range(4):
    given = random.standard_normal((1, 3, 16, 16)).astype(numpy.float32)
    result, = session.run(None, {"x": given})
    if len(set(result.flat)) < 4:
        helper.fail("the results say nothing: %s" % result)
    write_data(folder, [given], [result], k)
target = ["--target", sys.argv[1]]
if sys.argv[1] == "pairs":
    target += ["--dialect-path", helper.work_folder()]
    with open(os.path.join(target[-1], "pairs.json"), "w",
              encoding="utf-8") as file:
        json.dump({"extends": "gnu-c", "description": "vectors of two",
                   "vector_bytes": 8, "vectors": ["f32x2", "i32x2"],
                   "block_elems": 2, "products": []}, file)
out = helper.compile_model(path, "--name", "m", *target)
target += ["--cc", "gcc", "--cflags", "-O2"]
if sys.argv[1] != "c99":
    target[-1] += " -march=native"
print(helper.tirc("test", path, *target).stdout)
with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
    text = file.read()
if "float acc" in text or "f32x16 acc" in text:
    helper.fail("there are float sums")
if sys.argv[1] == "gnu-c" and "tirc_dot_16x4_vnni(&x" not in text:
    helper.fail("there are no dot products of bytes")
if sys.argv[1] == "pairs" and "scaled_i32x2(" not in text:
    helper.fail("there are no vectors of two")
