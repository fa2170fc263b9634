#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantized models and padded pools at the edges of what integers compute in
place of floats: scales below 0, scales of a bias that nearly fit, biases near
2^31, Clip with its bounds exchanged, windows that hold padding alone, quotients of
QuantizeLinear in several types. Expected are the definitions of the operators,
computed here in float32.

usage: quantized_edges.py products|biases|order|pads|same|scales|quotients"""
import sys

import numpy as np

from expected_model import Model
from helper import results_alone

results_alone()

f32 = np.float32


def dequantize(q, scale, zero=0):
    return (q.astype(np.int64) - zero).astype(f32) * f32(scale)


def quantize(x, scale, zero, kind):
    info = np.iinfo(kind)
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.rint(x.astype(f32) / f32(scale)).astype(np.float64)
    return np.clip(steps + zero, info.min, info.max).astype(kind)


def add_dequantize(model, x, scale, zero):
    return model.add("DequantizeLinear", [x, f32(scale), zero], None)


def product(x, w, bias, scales, y_zero, clip=None, op="Conv"):
    """A Conv of one tap, a Gemm or a ConvTranspose with the same values, of
    dequantized tensors; steps of one are allowed to floats' rounding, so that
    the values are chosen where it is none."""
    sx, sw, sb, sy = scales
    flat = dequantize(x, sx) @ dequantize(w, sw)
    real = flat.astype(np.float64) + bias * np.float64(f32(sb))
    if clip:
        real = np.minimum(np.maximum(real, clip[0]), clip[1])
    want = quantize(real, sy, y_zero, np.int8)
    model = Model(x=x if op == "Gemm" else x[:, :, None])
    zero = np.int8(0)
    a = add_dequantize(model, "x", sx, zero)
    stored = w if op == "Gemm" else w.T[:, :, None]
    if op == "ConvTranspose":
        stored = w[:, :, None]
    k = add_dequantize(model, stored, sw, zero)
    b = add_dequantize(model, bias.astype(np.int32), sb, np.int32(0))
    y = model.add(op, [a, k, b], None)
    if clip:
        y = model.add("Clip", [y, f32(clip[0]), f32(clip[1])], None)
    model.add("QuantizeLinear", [y, f32(sy), np.int8(y_zero)],
              want if op == "Gemm" else want[:, :, None])
    model.test()


def products():
    x = np.array([[100, -50, 3], [7, -128, 127]], np.int8)
    w = np.array([[50, -3], [20, 127], [-90, 8]], np.int8)
    for op in ("Conv", "Gemm", "ConvTranspose"):
        # a scale of the bias that is 1.0001 times that of the sum
        product(x, w, np.array([1000000, -500000]), (1, 1, 1.0001, 1000), 3,
                op=op)
        product(x, w, np.array([1000000, -500000]), (1, 1, 1.0001, 11), -12,
                op=op)
        # the sum leaves int32
        product(x, w, np.array([2147483647, -2147483648]),
                (0.5, 0.25, 0.125, 4194304), 1, op=op)
        # the bias is a whole number of the sum's steps, by another scale
        product(x, w, np.array([3, -2]), (0.5, 0.25, 4, 1), 2, op=op)
        for clip in ((178, 98), (-20, 35), (98, -178), (np.inf, -np.inf),
                     (0.5, 2.5)):
            product(x, w, np.array([30, -7]), (0.5, 0.25, 0.125, 8), -5, clip,
                    op)


EXACT = ("--atol", "0")


def biases():
    """Biases of floats, most of them no whole numbers of the sum's units; and a
    bias for each row of a Gemm, where there are as many rows as columns."""
    q = np.array([0, 1, -1, 2, 50, -128], np.int8)
    for op, shape in (("Conv", (1, 1, 6)), ("Gemm", (6, 1))):
        model = Model(x=q.reshape(shape))
        a = add_dequantize(model, "x", 1, np.int8(0))
        for bias, sy, zero in ((0.0009, 1e-4, 0), (0.25, 0.5, 3),
                               (0.4999, 1, 0), (-0.01, 0.001, 2),
                               (2.0 ** 20 + 0.5, 2.0 ** 14, -5),
                               (2.0 ** 21 + 0.5, 2.0 ** 15, -5)):
            for w in (1, -2):
                k = np.full((1, 1, 1) if op == "Conv" else (1, 1), w, np.int8)
                k = add_dequantize(model, k, 1, np.int8(0))
                y = model.add(op, [a, k, np.array([bias], f32)], None)
                real = q.astype(float) * w + float(f32(bias))
                model.add("QuantizeLinear", [y, f32(sy), np.int8(zero)],
                          quantize(real, sy, zero, np.int8).reshape(shape))
        model.test(*EXACT)
        model.test("--fp", "strict", *EXACT)
    x = np.array([[1, 2], [3, 4]], np.int8)
    model = Model(x=x)
    a = add_dequantize(model, "x", 1, np.int8(0))
    k = add_dequantize(model, np.eye(2, dtype=np.int8), 1, np.int8(0))
    for bias in (np.array([[10], [20]]), np.array([[10, 20]])):
        for b in (bias.astype(f32),
                  add_dequantize(model, bias.astype(np.int32), 1,
                                 np.int32(0))):
            y = model.add("Gemm", [a, k, b], None)
            model.add("QuantizeLinear", [y, f32(1), np.int8(0)],
                      (x + bias).astype(np.int8))
    model.test(*EXACT)


def same():
    """Quantized by the scale that it was dequantized by."""
    every = {"a": np.arange(-128, 128).astype(np.int8),
             "b": np.arange(256).astype(np.uint8),
             "c": np.arange(-32768, 32768, 97).astype(np.int16),
             "d": np.arange(0, 65536, 97).astype(np.uint16)}
    model = Model(**every)
    for name, x in every.items():
        zero = model.constant(x.dtype.type(3))
        for form, scale in ((f32, 1e37), (f32, 0.0123), (f32, 3e-39),
                            (np.float16, 1000), (np.float16, 0.0123),
                            (np.float16, 1e-6)):
            scale = form(scale)
            with np.errstate(over="ignore"):
                # The product in float32, rounded to the type.
                real = dequantize(x, scale, 3).astype(form)
            given = [model.constant(scale), zero]
            a = model.add("DequantizeLinear", [name, *given], None)
            q = model.add("QuantizeLinear", [a, *given], None)
            want = quantize(real, scale, 3, x.dtype)
            model.add("Concat", [q, name], np.concatenate([want, x]), axis=0)
    model.test(*EXACT)
    model.test("--fp", "strict", *EXACT)


def order():
    x = np.array([[[-128, -7, 3, 127, 0, 64]]], np.int8)
    for scale in (0.5, -0.5):
        real = dequantize(x, scale, 4)
        pooled = np.max(np.lib.stride_tricks.sliding_window_view(
            real, 2, axis=2), axis=3)
        model = Model(x=x)
        a = add_dequantize(model, "x", scale, np.int8(4))
        y = model.add("MaxPool", [a], None, kernel_shape=[2])
        model.add("QuantizeLinear", [y, f32(scale), np.int8(4)],
                  quantize(pooled, scale, 4, np.int8))
        y = model.add("Relu", [a], None)
        model.add("QuantizeLinear", [y, f32(scale), np.int8(4)],
                  quantize(np.maximum(real, 0), scale, 4, np.int8))
        y = model.add("Clip", [a, f32(-3), f32(20)], None)
        model.add("QuantizeLinear", [y, f32(scale), np.int8(4)],
                  quantize(np.clip(real, -3, 20), scale, 4, np.int8))
        y = model.add("Concat", [a, a], None, axis=2)
        model.add("QuantizeLinear", [y, f32(-scale), np.int8(4)],
                  quantize(np.concatenate([real, real], 2), -scale, 4,
                           np.int8))
        w = np.array([[[3]]], np.int8)
        for sw in (0.25, -0.25):
            k = add_dequantize(model, w, sw, np.int8(0))
            y = model.add("Conv", [a, k], None)
            y = model.add("Relu", [y], None)
            model.add("QuantizeLinear", [y, f32(scale), np.int8(4)],
                      quantize(np.maximum(real * f32(3 * sw), 0), scale, 4,
                               np.int8))
        model.test()


def pads():
    lowest = np.finfo(f32).min
    for kind, none in ((f32, -np.inf), (f32, lowest), (np.int8, -128)):
        x = np.array([[[3, 1, -4, 1, 5, 9]]], kind)
        model = Model(x=x)
        for ends, ceil in ((1, 1), (4, 0), (4, 1), (0, 0)):
            padded = np.concatenate(
                [np.full((1, 1, 2), none, kind), x,
                 np.full((1, 1, ends), none, kind)], 2)
            size = padded.shape[2]
            count = -(-(size - 2) // 3) if ceil else (size - 2) // 3
            count += 1
            count -= ceil and (count - 1) * 3 >= size
            want = [padded[0, 0, 3 * i:3 * i + 2].max() for i in range(count)]
            a = model.add("Pad", ["x", np.array([0, 0, 2, 0, 0, ends]),
                                  kind(none)], None)
            model.add("MaxPool", [a], np.array([[want]], kind),
                      kernel_shape=[2], strides=[3], ceil_mode=ceil)
        model.test()
    # AveragePool divides by the number of elements, where there are none by 0.
    x = np.arange(1, 11, dtype=f32).reshape(1, 1, 2, 5)
    for before, behind in ((3, 3), (2, 0), (0, 4)):
        for count in (0, 1):
            want = np.zeros((1, 1, 2, 5 + before + behind - 1), f32)
            for row in range(2):
                for i in range(want.shape[3]):
                    taps = [x[0, 0, row, k] for k in (i - before, i - before + 1)
                            if 0 <= k < 5]
                    number = 2 if count else len(taps)
                    want[0, 0, row, i] = sum(taps) / f32(number) if number \
                        else np.nan
            model = Model(x=x)
            model.add("AveragePool", ["x"], want, kernel_shape=[1, 2],
                      pads=[0, before, 0, behind], count_include_pad=count)
            model.test()


def scales():
    """Scales beyond which products of floats overflow; parameters that follow
    from a byte, which are no elements of a table."""
    x = np.array([[[[10, 20], [30, 100]]]], np.uint8)
    large = [f32(3e37), np.uint8(0)], [f32(6e37), np.uint8(0)]
    model = Model(x=x, a=x[0, 0])
    model.add("QLinearConv", ["x", *large[0], np.array([[[[2]]]], np.int8),
                              f32(1), np.int8(0), *large[1]], x)
    model.add("QLinearMatMul", ["a", *large[0], 2 * np.eye(2, dtype=np.int8),
                                f32(1), np.int8(0), *large[1]], x[0, 0])
    model.test()
    model = Model(x=np.array(2, np.uint8))
    two = model.add("Cast", ["x"], None, to=1)
    e = model.add("Exp", [two], None)
    model.add("QuantizeLinear", [f32(100), e, np.uint8(3)],
              np.array(np.rint(100 / np.exp(2)) + 3, np.uint8))
    model.add("Cast", [model.add("Clip", [two, "", e], None)],
              np.array(2, np.uint8), to=2)
    real = model.add("DequantizeLinear", [np.uint8(4), two, np.uint8(3)], None)
    model.add("Cast", [model.add("Mul", [model.add("Tanh", [real], None),
                                         f32(100)], None)],
              np.array(100 * np.tanh(2), np.uint8), to=2)
    model.test()
    # Bounds of channels are found for tensors of up to eight dimensions.
    x = np.arange(8, dtype=np.int8).reshape((1, 4, 2) + 7 * (1,))
    model = Model(x=x, image=np.ones((1, 2, 3, 3), np.int8))
    zero = np.int8(0)
    real = model.add("Relu", [add_dequantize(model, "x", 0.5, zero)], None)
    model.add("QuantizeLinear", [real, f32(0.5), zero], x)
    y = model.add("Conv", [add_dequantize(model, "image", 1, zero),
                           add_dequantize(model, np.ones((2, 2, 1, 1), np.int8),
                                          1, zero)], None)
    model.add("QuantizeLinear", [y, f32(1), zero],
              np.full((1, 2, 3, 3), 2, np.int8))
    model.test()


def quotients():
    """From opset 23 on, QuantizeLinear divides in the type that `precision` names,
    or in that of the scale; before, in float32."""
    rng = np.random.default_rng(5)
    names = {np.float16: 10, np.float32: 1, np.float64: 11}
    for opset in (21, 23, 25):
        x = rng.standard_normal(3000).astype(f32) * 4
        model = Model(x=x, h=x.astype(np.float16))
        model.opset = opset
        for name, kind in (("x", f32), ("h", np.float16)):
            scale = kind(0.0371)
            for form in (None, *names) if opset > 21 else (None,):
                t = form or (f32 if opset == 21 else kind)
                real = (x.astype(kind).astype(t) / t(scale)).astype(t)
                more = {} if form is None else {"precision": names[form]}
                for zero in (np.int8(3), np.int16(-7)):
                    info = np.iinfo(zero.dtype)
                    want = np.clip(np.rint(real).astype(np.int64) + zero,
                                   info.min, info.max).astype(zero.dtype)
                    model.add("QuantizeLinear", [name, scale, zero], want,
                              **more)
        model.test(*EXACT)
    model = Model(x=x)
    model.opset = 23
    model.add("QuantizeLinear", ["x", f32(1), np.int8(0)], x.astype(np.int8),
              precision=6)
    model.refuse("its precision is not a float of 16 bits or more")


{"products": products, "biases": biases, "order": order, "pads": pads,
 "same": same, "scales": scales, "quotients": quotients}[sys.argv[1]]()
