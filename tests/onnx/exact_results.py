#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests' own results (exact.py) of operators that onnxruntime computes
otherwise on some processors: where its sums of two products fit 16 bits, on
every processor, both are the same; with the largest bytes the sums are those of
Python's integers. A model is computed in parts around such nodes."""
import sys

from helper import skip

try:
    import numpy as np
    import onnx
    import exact
except ImportError as missing:
    skip(str(missing))
from onnx import helper as make, numpy_helper

random = np.random.default_rng(4)
failures = []


def u8(*shape):
    return random.integers(0, 256, shape).astype(np.uint8)


def small(*shape):
    """Two products of these and bytes fit 16 bits."""
    return random.integers(-63, 64, shape).astype(np.int8)


def real(*values):
    return np.array(values if len(values) > 1 else values[0], np.float32)


def byte(value, kind=np.uint8):
    return np.array(value, kind)


def node_of(op, inputs, attributes, outputs=1, domain=None):
    if domain is None:
        domain = next(d for d, name in exact.OWN if name == op)
    return make.make_node(
        op, ["x%d" % i if x is not None else "" for i, x in enumerate(inputs)],
        ["y%d" % i for i in range(outputs)], domain=domain, **attributes)


def model_of(nodes, inputs, outputs):
    return make.make_model(make.make_graph(nodes, "g", [
        make.make_tensor_value_info(
            "x%d" % i, make.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for i, x in enumerate(inputs) if x is not None],
        [make.make_empty_tensor_value_info(name) for name in outputs]),
        ir_version=9, opset_imports=[
            make.make_opsetid("", 17), make.make_opsetid("com.microsoft", 1)])


def same(title, got, want, steps=0):
    """`steps`: whether a float or a quantized number may be rounded in another
    way."""
    if got.dtype != want.dtype or got.shape != want.shape:
        failures.append("%s: %s%s, not %s%s" % (
            title, got.dtype, got.shape, want.dtype, want.shape))
    elif got.dtype.kind == "f":
        if not np.allclose(got, want, 1e-6, 1e-6):
            failures.append("%s: off by %g" % (title, np.abs(
                got - want).max()))
    elif np.abs(got.astype(np.int64) - want.astype(np.int64)).max(
            initial=0) > steps:
        failures.append("%s: %s, not %s" % (title, got, want))


def check(op, inputs, attributes=None, steps=0, domain=None):
    model = model_of([node_of(op, inputs, attributes or {}, domain=domain)],
                     inputs, ["y0"])
    feed = {"x%d" % i: x for i, x in enumerate(inputs) if x is not None}
    same("%s %s" % (op, attributes or ""), exact.run(model, feed)[0],
         exact.session(model).run(None, feed)[0], steps)


for a, b in ((u8(5, 33), small(33, 7)), (u8(2, 5, 33), small(33, 7))):
    check("MatMulInteger", [a, b])
    check("MatMulInteger", [a, b, byte(7), byte(-3, np.int8)])
    check("MatMulInteger", [a, b, byte(7), small(7)])
    check("QLinearMatMul", [a, real(0.1), byte(7), b, real(0.02),
                            byte(0, np.int8), real(0.3), byte(99)], steps=1)
    check("MatMulIntegerToFloat", [a, b, real(0.1), real(0.2), byte(4),
                                   byte(0, np.int8), real(*range(7))])
    check("MatMulIntegerToFloat", [a, b, real(0.1), real(*range(7))])
    check("DynamicQuantizeMatMul", [a.astype(np.float32) / 9 - 5, b,
                                    real(0.2)])
check("MatMulIntegerToFloat", [u8(3, 8), small(8, 5), real(0.1), real(0.2),
                               byte(4), None, real(*range(5))])
for attributes in ({}, {"pads": [1, 0, 2, 1]}, {"strides": [2, 3]},
                   {"dilations": [2, 1], "pads": [2, 1, 2, 1]},
                   {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
                   {"auto_pad": "VALID"}):
    x, w = u8(2, 4, 9, 8), small(6, 4, 3, 2)
    check("ConvInteger", [x, w, byte(90)], attributes)
    check("ConvInteger", [x, w[:, :2], byte(90)], {**attributes, "group": 2})
    check("QLinearConv", [
        x, real(0.1), byte(9), w, real(*range(1, 7)) / 50,
        np.zeros(6, np.int8), real(1), byte(99),
        np.arange(-300, 300, 100).astype(np.int32)], attributes, 1)
check("ConvInteger", [u8(1, 2, 9), small(3, 2, 4)])
check("ConvInteger", [u8(1, 2, 4, 5, 6), small(3, 2, 2, 3, 2)])
for more in ([], [real(0.3), byte(90)]):
    check("QGemm", [u8(3, 40), real(0.1), byte(7), small(5, 40), real(0.02),
                    byte(0, np.int8), np.arange(5).astype(np.int32), *more],
          {"transB": 1, "alpha": 0.5}, 1)
    check("QGemm", [u8(40, 3), real(0.1), byte(7), small(40, 5),
                    real(*range(1, 6)), small(5), None, *more],
          {"transA": 1}, 1)
check("QLinearConv", [u8(1, 5, 6, 4), real(0.1), byte(9), small(6, 2, 3, 3),
                      real(0.2), byte(0, np.int8), real(2), byte(99)],
      {"channels_last": 1, "group": 2}, 1, "com.microsoft")
check("QAttention", [u8(2, 5, 16), small(16, 24), real(*range(24)) / 9,
                     real(0.01), real(0.02), None, byte(120)],
      {"num_heads": 2, "unidirectional": 1})


def lstm(way, columns, kind, **attributes):
    """One row: onnxruntime's threads quantize their rows for themselves."""
    n, hidden = 2 if way == "bidirectional" else 1, 6
    of = [n, 4 * hidden] if columns else [n]
    w, r = small(n, 5, 4 * hidden), small(n, hidden, 4 * hidden)
    zero = np.zeros(of, np.int8)
    if kind == np.uint8:
        w, r, zero = abs(w).astype(kind), abs(r).astype(kind), \
            np.full(of, 20, kind)
    return [random.standard_normal((7, 1, 5)).astype(np.float32), w, r,
            random.standard_normal((n, 8 * hidden)).astype(np.float32) / 4,
            None, *random.standard_normal((2, n, 1, hidden)).astype(
                np.float32), None if columns else random.standard_normal(
                    (n, 3 * hidden)).astype(np.float32),
            abs(random.standard_normal(of)).astype(np.float32) / 99, zero,
            abs(random.standard_normal(of)).astype(np.float32) / 99, zero], {
                "hidden_size": hidden, "direction": way, **attributes}


for way in ("forward", "reverse", "bidirectional"):
    for columns in (False, True):
        for kind in (np.int8, np.uint8):
            check("DynamicQuantizeLSTM", *lstm(way, columns, kind))
check("DynamicQuantizeLSTM", *lstm("forward", False, np.int8, clip=0.7))
check("DynamicQuantizeLSTM", *lstm("forward", False, np.int8, input_forget=1))
inputs, attributes = lstm("reverse", True, np.int8)
inputs[4] = np.array([4], np.int32)
check("DynamicQuantizeLSTM", inputs, attributes)

# The largest bytes, whose sums saturate where products are added in 16 bits.
full, least = np.full((1, 64), 255, np.uint8), np.full((64, 1), -128, np.int8)
for title, op, inputs, want in (
        ("MatMulInteger", "MatMulInteger", [full, least], -64 * 255 * 128),
        ("ConvInteger", "ConvInteger", [full.reshape(1, 64, 1),
                                        least.reshape(1, 64, 1)],
         -64 * 255 * 128),
        ("ReduceSum", "ReduceSum", [np.int64([2 ** 53 + 1, 2 ** 62, 2 ** 62])],
         2 ** 53 + 1 - 2 ** 63),
        ("ReduceProd", "ReduceProd", [np.int64([3 ** 20, 3 ** 19])],
         3 ** 39)):
    # Between other nodes, which onnxruntime computes.
    before = make.make_node("Identity", ["x0"], ["a"])
    node = node_of(op, inputs, {})
    node.input[0], node.output[0] = "a", "b"
    after = make.make_node("Neg", ["b"], ["y0"])
    results = exact.run(model_of([before, node, after], inputs, ["y0", "a"]), {
        "x%d" % i: x for i, x in enumerate(inputs)})
    if results[0].ravel().tolist() != [-want] or \
            results[1].tolist() != inputs[0].tolist():
        failures.append("%s: %s, not %d" % (title, results[0], -want))
print("\n".join(failures))
sys.exit(1 if failures else 0)
