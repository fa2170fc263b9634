#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bounds in comments of quantized kernels justify the code: the bound of what
is shifted left is the one that weights, biases and types give, and fits the
shift; the same accumulators have the same bound in all branches."""
import re

import helper

try:
    import numpy as np
    import onnxruntime  # answers_model needs it
except ImportError:
    helper.skip("numpy or onnxruntime is not installed")
from answers_model import Model

CHANNELS, INPUTS, SCALE = 24, 32, 0.05
random = np.random.default_rng(3)


def convolution(scales, size):
    """A quantized convolution of size x size windows; its weights and biases as
    integers."""
    m = Model("net", 13)
    x = m.node("DequantizeLinear", [
        m.input("x", np.zeros((1, INPUTS, 25, 5), np.int8)),
        m.constant(np.float32(SCALE)), m.constant(np.int8(3))])
    w = random.integers(-127, 128, (CHANNELS, INPUTS, size, size))
    bias = random.integers(-60000, 60000, CHANNELS).astype(np.int32)
    y = m.node("Conv", [
        x, m.dequantized(w.astype(np.int8), scales, axis=0),
        m.dequantized(bias, np.float32(SCALE) * scales, axis=0)])
    m.output(m.quantized(y, 0.9, np.int8(-20))[0])
    return m.write_model(), w, bias


def largest(w, bias):
    """The largest magnitude of a sum; the zero point is in the bias."""
    w = w.reshape(CHANNELS, -1).astype(np.int64)
    start = bias - 3 * w.sum(1)
    high = start + np.where(w > 0, 127 * w, -128 * w).sum(1)
    low = start + np.where(w > 0, -128 * w, 127 * w).sum(1)
    return int(max(high.max(), -low.min()))


def constants(text, name):
    """The elements of the constant array whose name ends so."""
    array = re.search(r"_%s\[\d+\][^=;]*= \{([^}]*)\}" % name, text)
    return [int(n) for n in re.findall(r"-?\d+", array[1])] if array else []


def check(target, path, most):
    folder = helper.compile_model(path, "--target", target, "--weights", "c")
    text = b"\n".join(body for name, body in helper.contents(folder).items()
                      if name.endswith(".c")).decode()
    text = re.sub(r"\n \*  +", " ", text)
    rows = re.findall(r"shifted left by (\d+) are within \+-(\d+)", text)
    if len(rows) != 1:
        helper.fail("%s: %d bounds of shifts" % (target, len(rows)))
    shift, bound = map(int, rows[0])
    if bound != most or bound << shift >= 2 ** 31:
        helper.fail("%s: a bound of %d, shifted by %d; the weights give %d" % (
            target, bound, shift, most))
    # The addend of each channel is at most that bound and that of the product.
    with_addend = re.findall(r"sums with addends within \+-(\d+)", text)
    multipliers = constants(text, "multiplier")
    addends = constants(text, "addend") or [
        int(n) for n in re.findall(r"scaled [-+] (\d+)", text)]
    product = (most << shift) * max(map(abs, multipliers)) >> 32
    if len(with_addend) != 1 or not multipliers or not addends or not (
            max(map(abs, addends)) - product <= int(with_addend[0])
            <= min(2 ** 31 - 1, product + max(map(abs, addends)) + 2)):
        helper.fail("%s: sums with addends within %s; the products are within "
                    "%d, the addends %s" % (target, with_addend, product,
                                            addends))
    sums = {int(n) for n in re.findall(r"\|sum\| <= (\d+)", text)}
    if sums - {most}:
        helper.fail("%s: sums within %s, not %d" % (target, sums, most))
    accumulators = {int(n) for n in re.findall(r"\|acc\| <= (\d+)", text)}
    print(target, "sum within", most, "shift", shift, accumulators, sums)
    return accumulators


SCALES = np.linspace(0.001, 0.003, CHANNELS).astype(np.float32)
seen = 0
for size in (1, 3):
    model, weights, biases = convolution(SCALES, size)
    bounds = {target: check(target, model, largest(weights, biases))
              for target in ("misra", "cortex-m4", "cortex-m0")}
    limit = INPUTS * size * size * 128 * 128
    for target, found in bounds.items():
        seen += len(found)
        if any(n > limit for n in found):
            helper.fail("%s: |acc| <= %s, of at most %d" % (target, found,
                                                           limit))
if seen == 0:
    helper.fail("no kernel states the bound of its accumulators")

# One scale for all channels: the numbers in the source are explained beside it.
model, weights, biases = convolution(np.full(CHANNELS, 0.002, np.float32), 1)
folder = helper.compile_model(model, "--target", "misra")
text = re.sub(r"\n \*  +", " ", b"\n".join(
    body for name, body in helper.contents(folder).items()
    if name.endswith(".c")).decode())
row = re.search(r"rescales +(\d+) \* 2\^-(\d+) = (\S+), from sums to results; "
                r"(-?\d+): \(zero point -20 \+ 1/2\)", text)
if not row or text.count(row[1]) < 2 or text.count(row[4].lstrip("-")) < 2 or \
        abs(int(row[1]) / 2 ** int(row[2]) * 0.9 / (SCALE * 0.002) - 1) > 1e-6:
    helper.fail("the numbers of a product are not explained:\n%s" % text)
