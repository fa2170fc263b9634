#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requantization by a product of integers, and sums of two tensors by a sum of
products, for all numbers that can be: the same bytes as by the definition.

    requantize_proven.py TARGET

The inputs are all 65,536 pairs of bytes: an image of two channels, or a column
and a row.
"""
import os
import re
import sys

import helper

try:
    import numpy
    import onnxruntime  # answers_model needs it
except ImportError:
    helper.skip("numpy or onnxruntime is not installed")
from answers_model import Model

CHANNELS = 24
random = numpy.random.default_rng(11)
i8, i32, f32 = numpy.int8, numpy.int32, numpy.float32
PAIRS = numpy.stack(numpy.meshgrid(numpy.arange(-128, 128),
                                   numpy.arange(-128, 128)))
PAIRS = PAIRS.reshape(1, 2, 256, 256).astype(i8)
target = sys.argv[1]


def model(name, zero, step, scales, relu, kernel=1, scale=0.05):
    """Random weights and biases; a scale for each channel, or one for all."""
    m = Model(name, 13)
    x = m.node("DequantizeLinear", [
        m.input("x", PAIRS), m.constant(f32(scale)), m.constant(i8(3))])
    shape = (CHANNELS, 2, kernel, kernel)
    weights = random.integers(-127, 128, shape).astype(i8)
    per_channel = {"axis": 0} if numpy.ndim(scales) else {}
    w = m.dequantized(weights, scales, **per_channel)
    bias = random.integers(-20000, 20000, CHANNELS).astype(i32)
    b = m.dequantized(bias, f32(scale) * f32(scales), stem="b", **per_channel)
    y = m.node("Conv", [x, w, b])
    y = m.node("Relu", [y]) if relu else y
    y, _ = m.quantized(y, step, i8(zero))
    m.output(y, numpy.zeros((1, CHANNELS, 257 - kernel, 257 - kernel), i8))
    return m


def sum_model(name, scales, zeros, types, relu):
    """Of a column and a row; scales and zeros of both and of the result."""
    m = Model(name, 14)
    parts = []
    for i, shape in enumerate(((1, 1, 256, 1), (1, 1, 1, 256))):
        lowest = numpy.iinfo(types[i]).min
        data = numpy.arange(lowest, lowest + 256).astype(types[i])
        parts.append(m.node("DequantizeLinear", [
            m.input("ab"[i], data.reshape(shape)), m.constant(f32(scales[i])),
            m.constant(types[i](zeros[i]))]))
    y = m.node("Add", parts)
    y = m.node("Relu", [y]) if relu else y
    y, _ = m.quantized(y, scales[2], types[2](zeros[2]))
    m.output(y, numpy.zeros((1, 1, 256, 256), types[2]))
    return m


def result(path, options):
    out = os.path.join(os.path.dirname(path), "y.npy")
    for i in range(2):
        data = os.path.join(os.path.dirname(path), "test_data_set_0",
                            "input_%d.pb" % i)
        if os.path.exists(data):
            options = options + ["--input", data]
    helper.tirc("run", path, "--target", target, *helper.STRICT_C,
                "--output", out, *options)
    return numpy.load(out)


def is_proven(path, mode):
    """Are the bytes the same, and the definition not in the source?"""
    options = ["--requant", mode]
    proven = result(path, options)
    defined = result(path, options + ["--disable-pass", "requantize"])
    different = (proven != defined).sum()
    if different:
        helper.fail("%s, --requant %s: %d of %d bytes differ" % (
            path, mode, different, proven.size))
    if len(numpy.unique(defined)) < 40:
        helper.fail("%s: only %d values" % (path, len(numpy.unique(defined))))
    out = helper.compile_model(path, "--name", "m", "--target", target,
                               *options)
    with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
        text = file.read()
    return not re.search(r"\bscaled?_i32|nearbyint", text)


def check(path, mode):
    if not is_proven(path, mode):
        helper.fail("%s, --requant %s: not proven" % (path, mode))


for i, (zero, step, relu) in enumerate((
        (-128, 0.9, True), (-128, 0.11, True), (0, 1.7, False),
        (17, 0.63, False), (-41, 2.0, False), (127, 0.3, False))):
    scales = random.uniform(0.01, 0.04, CHANNELS).astype(f32)
    path = model("each_%d" % i, zero, step, scales, relu).write()
    for mode in ("onnx", "tflite"):
        check(path, mode)
# Scales that differ by a factor of 1,000; powers of two, where results are
# half-way between two bytes; a factor above 1.
wide = (0.05 * 10 ** random.uniform(-3, 0, CHANNELS)).astype(f32)
for path in (model("wide", 5, 0.8, wide, False, kernel=2).write(),
             model("ties", 5, 0.25, 2.0 ** -4, False, scale=0.125).write(),
             model("odd_ties", -3, 0.5, 2.0 ** -random.integers(3, 6, CHANNELS),
                   False, kernel=2, scale=0.25).write(),
             model("above", 5, 0.02, 0.5, False).write()):
    for mode in ("onnx", "tflite"):
        check(path, mode)

# Sums. Where the definition is in floats, their rounding errors may decide.
u8, float_sums = numpy.uint8, 0
for i in range(10):
    scales = random.uniform(0.01, 0.1, 3)
    scales[2] = max(scales) * (1 + i % 2)
    types = [(i8, u8)[k] for k in (i & 1, i >> 1 & 1, i >> 2 & 1)]
    zeros = [random.integers(numpy.iinfo(t).min, numpy.iinfo(t).max + 1)
             for t in types]
    if i == 3:
        scales = [0.25, 0.5, 1]
    if i in (4, 8):
        zeros = [numpy.iinfo(t).min for t in types]
    path = sum_model("sum_%d" % i, scales, zeros, types, i in (4, 8)).write()
    float_sums += not is_proven(path, "onnx")
    check(path, "tflite")
if float_sums > 2:
    helper.fail("%d of 10 sums are in floats" % float_sums)
