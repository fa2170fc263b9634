#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantized ConvTranspose in one to three dimensions, with strides, pads,
output_padding, dilations, groups, zero points, and scales for each channel: the
sums of integers, requantized as docs/explanation/quantized.md defines both roundings, are the
same to the bit; onnxruntime's results are at most one step from ONNX's. No kernel
has a float sum.

    quantized_transposed.py TARGET…
"""
import itertools
import math
import os
import sys

import helper

try:
    import numpy as np
    import onnxruntime  # answers_model needs it
except ImportError:
    helper.skip("numpy or onnxruntime is not installed")
from answers_model import Model

rng = np.random.default_rng(3)
f32, i32 = np.float32, np.int32


def sums(case, x, w, bias):
    """Of stored integers without their zero points, in 64 bits."""
    n, rank = len(x), x.ndim - 2
    groups, (k, s, d) = case["group"], [case.get(name, 1) for name in (
        "kernel", "stride", "dilation")]
    begin, end = case.get("pads", (0, 0))
    extra = case.get("output_padding", 0)
    size = [(e - 1) * s + (k - 1) * d + 1 + extra for e in x.shape[2:]]
    parts = []
    for xs, ws in zip(np.split(x, groups, 1), np.split(w, groups, 0)):
        full = np.zeros((n, w.shape[1], *size), np.int64)
        for tap in itertools.product(range(k), repeat=rank):
            at = tuple(slice(t * d, t * d + (e - 1) * s + 1, s)
                       for t, e in zip(tap, x.shape[2:]))
            full[(..., *at)] += np.einsum(
                "nc...,co->no...", xs, ws[(..., *tap)])
        parts.append(full)
    inner = (slice(None), slice(None)) + tuple(
        slice(begin, e - end) for e in size)
    y = np.concatenate(parts, 1)[inner]
    return y + bias.reshape(-1, *[1] * rank)


def fixed(v, factor):
    """The number times the factor with TFLite's rounding."""
    fraction, exponent = math.frexp(factor)
    m = int(math.floor(fraction * 2 ** 31 + 0.5))
    m, exponent = (m // 2, exponent + 1) if m == 2 ** 31 else (m, exponent)
    high = (int(v) * 2 ** max(exponent, 0) * m + 2 ** 30) >> 31
    right = max(-exponent, 0)
    half = (1 << right) >> 1
    return (abs(high) + half >> right) * (1 if high >= 0 else -1)


def model(case, name):
    """A model of one layer, and what both roundings make of its input."""
    xt, wt = case.get("types", (np.int8, np.int8))
    rank, groups = case["rank"], case["group"]
    inputs, outputs = case["channels"]
    shape = (inputs, outputs // groups) + (case["kernel"],) * rank
    ranges = [(np.iinfo(t).min, np.iinfo(t).max + 1) for t in (xt, wt)]
    x = rng.integers(*ranges[0], (1, inputs) + (case["size"],) * rank)
    w = rng.integers(*ranges[1], shape)
    bias = rng.integers(-9000, 9000, outputs)
    x_zero, w_zero = case.get("zeros", (0, 0))
    count = shape[1] if case.get("channelwise") else 1
    scales = f32(rng.uniform(0.002, 0.01, count))
    each = f32(0.04) * np.resize(scales, outputs)
    total = sums(case, x - x_zero, w - w_zero, bias)
    step = f32(np.abs(total).max() * 0.006 * 0.04 / 90)

    m = Model(name, 13)
    at = {"axis": 1} if count > 1 else {}
    a = m.node("DequantizeLinear", [
        m.input("x", x.astype(xt)), m.constant(f32(0.04)),
        m.constant(xt(x_zero))])
    b = m.dequantized(w.astype(wt), scales if count > 1 else scales[0],
                      np.full(count if count > 1 else (), w_zero), **at)
    c = m.dequantized(bias.astype(i32), each, stem="b", axis=0)
    y = m.node("ConvTranspose", [a, b, c], group=groups,
               strides=[case.get("stride", 1)] * rank,
               dilations=[case.get("dilation", 1)] * rank,
               pads=[p for p in case.get("pads", (0, 0)) for _ in range(rank)],
               output_padding=[case.get("output_padding", 0)] * rank)
    y, _ = m.quantized(m.node("Relu", [y]) if case.get("relu") else y, step,
                       xt(ranges[0][0] + 100))
    m.output(y)
    zero, low = ranges[0][0] + 100, ranges[0][0]
    low = zero if case.get("relu") else low
    flat = np.moveaxis(total, 1, 0).reshape(outputs, -1)
    factors = [float(f32(0.04)) * float(s) / float(step)
               for s in np.resize(scales, outputs)]
    made = {"onnx": [np.rint(row * f) for row, f in zip(flat, factors)],
            "tflite": [[fixed(v, f) for v in row]
                       for row, f in zip(flat, factors)]}
    order = (outputs, 1) + total.shape[2:]
    return m, {mode: np.clip(np.moveaxis(np.reshape(rows, order), 0, 1) + zero,
                             low, ranges[0][1] - 1)
               for mode, rows in made.items()}


u8, i8 = np.uint8, np.int8
CASES = [
    {"rank": 2, "channels": (8, 8), "group": 1, "kernel": 3, "stride": 2,
     "pads": (1, 1), "output_padding": 1, "size": 6, "zeros": (-7, 0),
     "channelwise": True},
    {"rank": 2, "channels": (6, 24), "group": 2, "kernel": 4, "stride": 2,
     "pads": (1, 2), "size": 5, "zeros": (131, 120), "types": (u8, u8),
     "channelwise": True, "relu": True},
    {"rank": 2, "channels": (5, 5), "group": 5, "kernel": 3, "stride": 3,
     "size": 4, "zeros": (9, 0)},
    {"rank": 1, "channels": (3, 16), "group": 1, "kernel": 3, "stride": 2,
     "dilation": 3, "pads": (2, 1), "output_padding": 1, "size": 9,
     "zeros": (200, 0), "types": (u8, i8)},
    {"rank": 3, "channels": (4, 3), "group": 1, "kernel": 2, "stride": 2,
     "size": 3, "channelwise": True},
    {"rank": 2, "channels": (4, 16), "group": 1, "kernel": 3, "pads": (1, 1),
     "size": 6, "zeros": (-128, 0), "relu": True}]


def check(target, path, results):
    out = os.path.join(os.path.dirname(path), "y.npy")
    data = os.path.join(os.path.dirname(path), "test_data_set_0", "input_0.pb")
    for mode, expected in results.items():
        helper.tirc("run", path, "--target", target, "--cc", "gcc",
                    "--cflags", "-O0 -march=native", "--requant", mode,
                    "--input", data, "--output", out)
        made = np.load(out).astype(int)
        if (made != expected).any():
            helper.fail("%s, %s, --requant %s: %d of %d differ" % (
                path, target, mode, (made != expected).sum(), made.size))
    folder = helper.compile_model(path, "--name", "m", "--target", target)
    with open(os.path.join(folder, "m.c"), encoding="utf-8") as file:
        text = file.read()
    if "acc" not in text or "float " in text[text.index("nodes  "):]:
        helper.fail("%s, %s: there are floats" % (path, target))


for i, row in enumerate(CASES):
    layer, answers = model(row, "transposed_%d" % i)
    where = layer.write()
    theirs = list(layer.reference().values())[0].astype(int)
    if np.abs(theirs - answers["onnx"]).max() > 1:
        helper.fail("%s: onnxruntime's results are others" % where)
    if len(np.unique(theirs)) < 30:
        helper.fail("%s: only %d values" % (where, len(np.unique(theirs))))
    for name in sys.argv[1:]:
        check(name, where, answers)
