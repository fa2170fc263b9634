#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Activations of 16 bits with weights of bytes, as onnxruntime's quantizer writes
them: results are the sums of integers, requantized with one rounding, to the bit,
and no kernel has a float sum. Tensors of 8 and of 16 bits meet; bounds and zero
points are the ends of their types. Sums that int32 may not hold stay floats, and
are as near as those are. Operators that move elements move integers.

    quantized_short.py TARGET…
"""
import os
import sys

import helper

try:
    import numpy as np
    import onnxruntime  # answers_model needs it
except ImportError:
    helper.skip("numpy or onnxruntime is not installed")
import exact
from answers_model import Known, Model

rng = np.random.default_rng(8)
f32, i32 = np.float32, np.int32
u8, i8, u16, i16 = np.uint8, np.int8, np.uint16, np.int16
SCALE = f32(0.0003)


def ends(kind):
    return np.iinfo(kind).min, np.iinfo(kind).max


def some(kind, shape):
    """Numbers of the whole range, its ends among them."""
    low, high = ends(kind)
    array = rng.integers(low, high + 1, shape).astype(kind)
    array.flat[:2] = low, high
    return array


def requantized(total, factors, zero, kind, low=None):
    """One rounding, half to even; factors of the last dimension."""
    least, most = ends(kind)
    y = np.rint(total.astype(float) * factors) + float(zero)
    return np.clip(y, least if low is None else low, most).astype(kind)


def layer(op, kinds, zeros, columns, relu=False, most=100):
    """A model of one layer, and its result. kinds: of x and y. columns: has each
    output channel a scale? most: of the weights."""
    m = Known("short_" + op, 21)
    kind, made = kinds
    zero_x, zero_y = (np.array(z, k) for z, k in zip(zeros, kinds))
    out = 6
    conv = "Conv" in op
    x = some(kind, (2, 4, 7, 6) if conv else (5, 19))
    shape = {"Conv": (out, 2, 3, 3), "ConvTranspose": (4, out, 3, 3)}.get(
        op, (19, out))
    w = rng.integers(-most, most + 1, shape).astype(i8)
    axis = 0 if op == "Conv" else 1
    scales = rng.uniform(0.002, 0.01, out if columns else 1).astype(f32)
    bias = rng.integers(-99999, 99999, out).astype(i32)
    real = m.node("DequantizeLinear", [
        m.input("x", x), m.constant(SCALE), m.constant(zero_x)])
    weights = m.dequantized(w, scales if columns else scales[0],
                            **({"axis": axis} if columns else {}))
    more = {"pads": [1, 0, 2, 1], "strides": [2, 1]} if conv else {}
    if op == "Conv":
        more["group"] = 2
    inputs = [real, weights]
    if op != "MatMul":
        inputs.append(m.dequantized(bias, SCALE * np.resize(scales, out),
                                    axis=0))
    y = m.node(op, inputs, **more)
    node, centred = m.nodes[-1], x.astype(np.int64) - int(zero_x)
    if op == "Conv":
        total = np.moveaxis(exact.conv_sums(node, x, w, zero_x), 1, -1)
    elif op == "ConvTranspose":
        total = np.zeros((2, 2 * 6 + 3, 5 + 3, out))
        for i, j in np.ndindex(3, 3):
            total[:, i:i + 13:2, j:j + 6] += np.einsum(
                "nchw,co->nhwo", centred, w[:, :, i, j])
        total = total[:, 1:-2, :-1]
    else:
        total = np.matmul(centred, w.astype(np.int64))
    total = total + (bias if op != "MatMul" else 0)
    step = f32(np.abs(total).max() * float(SCALE) * 0.006 /
               (ends(made)[1] - ends(made)[0]))
    factors = float(SCALE) * np.resize(scales, out).astype(float) / float(step)
    y = m.node("Relu", [y]) if relu else y
    q, _ = m.quantized(y, step, zero_y)
    want = requantized(total, factors, zero_y, made, zero_y if relu else None)
    m.output(q, np.moveaxis(want, -1, 1) if conv else want)
    return m


def has_floats(folder):
    with open(os.path.join(folder, "m.c"), encoding="utf-8") as file:
        text = file.read()
    return "float " in text[text.index("nodes  "):]


def check(m, floats=False):
    for target in sys.argv[1:]:
        m.check([target], "--rtol", "0", "--atol", "0")
        folder = helper.compile_model(m.write_model(), "--name", "m",
                                      "--target", target)
        if has_floats(folder) != floats:
            helper.fail("%s, %s: there are %sfloats" % (
                m.name, target, "no " if floats else ""))


for op in ("Conv", "Gemm", "MatMul", "ConvTranspose"):
    check(layer(op, (i16, i16), (0, 0), True))
    check(layer(op, (u16, u16), (32768, 30000), False, relu=True))
check(layer("Conv", (u16, u8), (65535, 9), True, most=9))
check(layer("Conv", (i8, i16), (-128, -32768), False, relu=True))
check(layer("Gemm", (u8, u16), (3, 65535), True))

# A chain: the quantizer's nodes between layers.
m = Known("short_chain", 21)
low, high = (some(i16, (1, 3, 6, 5)) for _ in range(2))
parts = [m.node("DequantizeLinear", [m.input(n, x), m.constant(SCALE),
                                     m.constant(i16(7))])
         for n, x in (("a", low), ("b", high))]
q, joined = m.quantized(m.node("Concat", parts, axis=1), SCALE, i16(7))
q, pooled = m.quantized(m.node("MaxPool", [joined], kernel_shape=[2, 2]),
                        SCALE, i16(7))
both = np.concatenate([low, high], 1)
m.output(q, np.max([both[:, :, i:i + 5, j:j + 4] for i in (0, 1)
                    for j in (0, 1)], 0))
check(m)

# Sums beyond int32: onnxruntime's floats, but for one step.
m = Model("short_large", 21)
x, w = some(i16, (3, 900)), np.full((900, 4), 127, i8)
real = m.node("DequantizeLinear", [m.input("x", x), m.constant(SCALE),
                                   m.constant(i16(0))])
q, _ = m.quantized(m.node("MatMul", [real, m.dequantized(w, f32(0.01))]),
                   f32(0.02), i16(0))
m.output(q)
for target in sys.argv[1:]:
    m.check([target], "--rtol", "0", "--atol", "1.01")
