#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantized convolutions and products to numbers of channels that no vector
divides, against onnxruntime: at most one step apart, all by the target's dot
product of bytes.

    odd_channels.py TARGET INSTRUCTION
"""
import os
import sys

import helper

try:
    import numpy
    import onnxruntime  # answers_model needs it
except ImportError:
    helper.skip("numpy or onnxruntime is not installed")
from answers_model import Model

helper.results_alone()
helper.need_processor(sys.argv[1])

CHANNELS = (2, 3, 9, 17, 21, 24)
random = numpy.random.default_rng(11)


def product(m, kind, x, name, shape, out, **attributes):
    """Of x, whose scale is 0.05, with weights and a bias for `out` channels."""
    w = m.dequantized(random.integers(-127, 128, shape).astype(numpy.int8),
                      0.01)
    b = m.dequantized(random.integers(-2000, 2000, out).astype(numpy.int32),
                      0.05 * 0.01, stem="b")
    return m.node(kind, [x, w, b], names=[name], **attributes)


def normal(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


u8 = numpy.uint8
m = Model("odd_channels", 13)
_, x = m.quantized(m.input("x", normal(1, 3, 16, 20)), 0.05, u8(120))
_, rows = m.quantized(m.input("rows", normal(40, 32)), 0.05, u8(125))
_, y = m.quantized(product(m, "Conv", x, "first", (32, 3, 3, 3), 32,
                           pads=[1, 1, 1, 1]), 0.05, u8(128))
for n in CHANNELS:
    for k in (1, 3):
        m.output(m.quantized(product(
            m, "Conv", y, "conv%d_%d" % (k, n), (n, 32, k, k), n,
            pads=[k // 2] * 4), 0.3, u8(100))[0])
    m.output(m.quantized(product(m, "Gemm", rows, "gemm%d" % n, (32, n), n),
                         0.3, u8(130))[0])
if any(len(set(one.flat)) < 20 for one in m.reference().values()):
    helper.fail("the results say nothing")
path = m.write()
target = ["--target", sys.argv[1]]
print(helper.tirc("test", path, *target).stdout)
out = helper.compile_model(path, "--name", "m", *target)
with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
    kernels = file.read().split("\n/* ")[1:]
for kernel in kernels:
    title = kernel.split("\n", 1)[0]
    if " 32 -> " in title and sys.argv[2] not in kernel:
        helper.fail("no dot products: " + title)
