#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantized networks with channels that are constant, or that nobody reads,
and are not computed: against onnxruntime, and bit for bit as with all channels.

    constant_channels.py TARGET CHANNELS
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
from answers_model import Known, Model

helper.results_alone()
helper.need_processor(sys.argv[1])

CHANNELS = int(sys.argv[2])
random = numpy.random.default_rng(5)
i8, f32 = numpy.int8, numpy.float32


def conv(m, x, scale, shape, bias, unread=(), step=0.05, **attributes):
    """A convolution and Relu to bytes of scale `step`, whose zero point is the
    least byte; the results of the channels `unread` of x are multiplied by
    zeros."""
    weights = random.integers(-20, 21, shape).astype(i8)
    for channel in unread:
        weights[:, channel] = 0
    w = m.dequantized(weights, 0.02)
    b = m.dequantized(numpy.asarray(bias, numpy.int32), scale * 0.02,
                      stem="b")
    y = m.node("Conv", [x, w, b], **attributes)
    _, y = m.quantized(m.node("Relu", [y]), step, i8(-128))
    return y


def biases(low, high):
    """Of 16 channels each, those in `low` are always 0, those in `high` the
    largest byte."""
    bias = random.integers(-300, 300, (CHANNELS // 16, 16))
    bias[:, list(low)] = -10 ** 6
    bias[:, list(high)] = 10 ** 6
    return bias.reshape(-1)


def depthwise(m, x, bias, pads):
    return conv(m, x, 0.05, (CHANNELS, 1, 3, 3), bias, group=CHANNELS,
                pads=[pads] * 4)


def network(name, build):
    m = Model(name, 13)
    x = m.input("x", random.standard_normal((1, 3, 10, 10)).astype(f32))
    _, x = m.quantized(x, 0.03, i8(-5))
    bias = biases(range(5), (7, 8))
    y = conv(m, x, 0.03, (CHANNELS, 3, 3, 3), bias, pads=[1, 1, 1, 1])
    y, _ = m.quantized(build(m, y), 2, i8(3))
    m.output(y)
    return m


def point(m, x, bias, **arguments):
    return conv(m, x, 0.05, (CHANNELS, CHANNELS, 1, 1), bias, **arguments)


def plain(m, y):
    """Five channels are 0, two 255; the third layer reads all but channel 9."""
    y = point(m, y, biases((1, 2, 3), ()))
    return point(m, y, biases((), ()), unread=[9])


def through_depthwise(m, y):
    """Channels 7 and 8 are constant and differ from the padding, so that the
    first depthwise layer's are not; without padding they stay constant."""
    y = depthwise(m, y, biases((6,), ()), 1)
    y = depthwise(m, y, biases((), (9,)), 0)
    return point(m, y, biases((), ()))


def residual(m, y):
    """A sum needs what one of its readers needs. Its steps are small beside the
    result's: one more or less in the float sum must not matter."""
    z = point(m, y, biases((0, 1, 2, 3, 4, 12), ()))
    _, y = m.quantized(m.node("Relu", [m.node("Add", [y, z])]), 0.1, i8(-128))
    return conv(m, y, 0.1, (CHANNELS, CHANNELS, 3, 3), biases((), ()),
                step=2, pads=[1, 1, 1, 1])


def pooled(m, y):
    y = point(m, y, biases((4, 5, 6, 10), (11,)))
    y = m.node("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2])
    _, y = m.quantized(y, 0.05, i8(-128))
    _, y = m.quantized(m.node("GlobalAveragePool", [y]), 0.05, i8(-128))
    w = m.dequantized(random.integers(-99, 99, (4, CHANNELS)).astype(i8), 0.01)
    b = m.dequantized(random.integers(-99, 99, 4).astype(numpy.int32),
                      0.05 * 0.01, stem="b")
    y = m.node("Reshape", [y, m.constant(numpy.int64([1, CHANNELS]))])
    return m.node("Gemm", [y, w, b], transB=1)


def nothing_left(m, y):
    """All channels of the second layer are constant."""
    y = point(m, y, biases(range(16), ()))
    return point(m, y, biases((), ()))


def whole_bytes(m, name):
    return m.input(name, random.integers(-60, 60, (1, 1, 4, 4)).astype(i8))


def two_products(m, x):
    """x of one channel, to two and to one."""
    def times(x, weights, step):
        w = m.dequantized(numpy.int8(weights), 1)
        return m.quantized(m.node("Conv", [x, w]), step, i8(0))
    _, y = times(x, [[[[1]]], [[[2]]]], 4)
    m.output(times(y, [[[[1]], [[3]]]], 9)[0])


def all_computed():
    """Models of which no channel may be left out."""
    m = Model("wraps", 14)
    x = m.node("Add", [whole_bytes(m, "a"), whole_bytes(m, "b")])
    two_products(m, m.node("DequantizeLinear", [x, m.constant(f32(1)),
                                                m.constant(i8(0))]))
    yield m
    m = Model("decreases", 14)
    a, b = (m.node("DequantizeLinear", [
        whole_bytes(m, name), m.constant(f32(scale)), m.constant(i8(0))])
            for name, scale in (("a", 1), ("b", -1)))
    _, x = m.quantized(m.node("Add", [a, b]), 1, i8(0))
    two_products(m, x)
    yield m
    m = Model("joined", 14)
    parts = [m.quantized(m.input(name, random.standard_normal(
        (1, 2, 4, 4)).astype(f32)), 0.03, i8(0))[0] for name in "ab"]
    x = m.node("DequantizeLinear", [m.node("Concat", parts, axis=1),
                                    m.constant(f32(0.03)),
                                    m.constant(i8(0))])
    weights = random.integers(-20, 21, (3, 4, 1, 1)).astype(i8)
    weights[:, 2] = 0
    m.output(m.quantized(m.node("Conv", [x, m.dequantized(weights, 0.02)]),
                         0.05, i8(0))[0])
    yield m


def windows_outside():
    """Three channels are constant, but all elements of the pool's windows lie in
    the padding: each channel is -128 there."""
    m = Known("windows_outside", 19)

    def constant(value, kind):
        return m.constant(numpy.asarray(value, kind))

    scale, zero = constant(0.1, f32), constant(0, i8)
    three = constant(-3, i8)
    x = m.node("QLinearConv", [
        m.input("x", i8([[[[1, 20], [30, -40]]]])), scale, zero,
        constant([[[[5]]], [[[0]]], [[[0]]], [[[0]]]], i8), scale, zero, scale,
        three, constant([0, 700, 900, -50], numpy.int32)])
    x = m.node("MaxPool", [x], kernel_shape=[2, 2], pads=[1] * 4,
               dilations=[3, 3])
    weights = numpy.int64([[3, -2, 5, 1], [7, 7, -1, 0], [0, 2, 0, -9]])
    y = m.node("QLinearConv", [
        x, scale, three, constant(weights.reshape(3, 4, 1, 1), i8), scale, zero,
        constant(1.3, f32), three])
    want = numpy.rint(weights.sum(axis=1) * -125 * 0.01 / 1.3) - 3
    m.output(y, want.astype(i8).reshape(1, 3, 1, 1))
    return m


def results(path, target, options):
    out = helper.tirc("run", path, "--target", target, "--seed", "1",
                      *options).stdout
    return re.sub("time .*", "", out)


target = sys.argv[1]
for m in [*all_computed(), windows_outside()]:
    m.check([target])
for build in (plain, through_depthwise, residual, pooled, nothing_left):
    path = network(build.__name__, build).write()
    helper.tirc("test", path, "--target", target)
    data = os.path.join(os.path.dirname(path), "test_data_set_0",
                        "input_0.pb")
    for mode in ("onnx", "tflite"):
        options = ["--requant", mode, "--input", data]
        some = results(path, target, options)
        if some != results(path, target, options + ["--disable-pass",
                                                    "channels"]):
            helper.fail("%s: %s differs with all channels" % (
                build.__name__, mode))
    out = helper.compile_model(path, "--name", "m", "--target", target)
    with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
        text = file.read()
    if "of %d channels" % CHANNELS not in text:
        helper.fail("%s: all channels are computed" % build.__name__)
