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

import helper

try:
    import numpy
    import onnxruntime  # answers_model needs it
except ImportError:
    helper.skip("numpy or onnxruntime is not installed")
from answers_model import Model
from onnx_data import write_data

random = numpy.random.default_rng(7)
i8, u8 = numpy.int8, numpy.uint8
m = Model("quantized", 13)


def signed(*shape):
    return random.integers(-127, 128, shape).astype(i8)


def normal():
    return random.standard_normal((1, 3, 16, 16)).astype(numpy.float32)


_, x = m.quantized(m.input("x", normal()), 0.02, i8(-3))
scale = (random.random(32) * 0.01 + 0.001).astype(numpy.float32)
w = m.dequantized(signed(32, 3, 3, 3), scale, axis=0)
b = m.dequantized(random.integers(-900, 900, 32).astype(numpy.int32),
                  scale * numpy.float32(0.02), axis=0)
y = m.node("Conv", [x, w, b], pads=[1, 1, 1, 1], strides=[2, 2])
y = m.node("Clip", [y, m.constant(numpy.float32(0)),
                    m.constant(numpy.float32(6))])
_, first = m.quantized(y, 0.03, i8(-128))
w = m.dequantized(random.integers(0, 256, (32, 32, 3, 3)).astype(u8), 0.004,
                  131)
_, second = m.quantized(m.node("Conv", [first, w], pads=[1, 1, 1, 1]), 0.5,
                        i8(9))
_, pool = m.quantized(m.node("MaxPool", [second], kernel_shape=[3, 3],
                             pads=[1, 1, 1, 1]), 0.5, i8(9))
_, both = m.quantized(m.node("Concat", [first, pool], axis=1), 0.4, i8(-20))
w = m.dequantized(signed(10, 64 * 64), 0.002)
y, _ = m.quantized(m.node("Gemm", [m.node("Flatten", [both]), w], transB=1),
                   9.0, i8(4))
m.output(y)
path = m.write()
for k in range(4):
    results = m.reference()
    if len(set(results[y].flat)) < 4:
        helper.fail("the results say nothing: %s" % results)
    if k > 0:
        write_data(os.path.dirname(path), list(m.inputs.items()),
                   list(results.items()), k)
    m.input("x", normal())
target = ["--target", sys.argv[1]]
if sys.argv[1] == "pairs":
    target += ["--dialect-path", helper.work_folder()]
    with open(os.path.join(target[-1], "pairs.json"), "w",
              encoding="utf-8") as file:
        json.dump({"extends": "gnu-c", "description": "vectors of two",
                   "vector_bytes": 8, "vectors": ["f32x2", "i32x2"],
                   "block_elems": 2, "products": []}, file)
out = helper.compile_model(path, "--name", "m", *target)
target += ["--cc", "gcc", "--cflags", "-O0"]
if sys.argv[1] != "c99":
    target[-1] += " -march=native"
print(helper.tirc("test", path, *target).stdout)
with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
    text = file.read()
if "float acc" in text or "f32x16 acc" in text:
    helper.fail("there are float sums")
if sys.argv[1] == "x86-64-vnni" and "tirc_dot_16x4_vnni(&x" not in text:
    helper.fail("there are no dot products of bytes")
if sys.argv[1] == "pairs" and "scaled_i32x2(" not in text:
    helper.fail("there are no vectors of two")
