#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ranges of results (ranges.py) are wide enough for what is computed as it
stands, in the type or in float32, and too narrow for rewrites that change
results: constants that are merged in front of a step, where a difference
cancels, beyond a type's range, or rounded to 16 bits."""
import sys

import helper

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    helper.skip(str(missing))

import ranges
import values
from maker import Maker
from rules_ranges import Evaluator

failures = []
f32, f16 = np.float32, np.float16


def build(x, steps):
    """A graph: x through (operator, constant or None, attributes)."""
    g = Maker(np.random.default_rng(0), Evaluator())
    g.graph.symbolic, g.graph.opset = False, 24
    name = g.add(x, "input")
    for op, constant, *more in steps:
        constants = constant if isinstance(constant, list) else [constant]
        name = g.node(op, [name] + [
            g.add(values.cast(np.asarray(c), g.dtype(name)), "constant")
            for c in constants if c is not None], **dict(*more))
    g.graph.outputs = [name]
    return g.graph, name


def check(title, x, steps, right, wrong):
    """`right` and `wrong` compute the result from x."""
    graph, name = build(x, steps)
    found = ranges.Ranges(graph, {
        t.name: t.value for t in graph.tensors.values() if t.kind == "input"})
    want = found.want[name]
    with np.errstate(all="ignore"):
        good, bad = (np.asarray(values.cast(function(x), want.dtype.name)
                                if values.is_float(want) else
                                function(x).astype(want.dtype))
                     for function in (right, wrong))
    if found.check(name, want)[0] or found.check(name, good)[0]:
        failures.append("%s: %s" % (title, found.check(name, good)[0] or
                                    found.check(name, want)[0]))
    if not found.check(name, bad)[0]:
        failures.append("%s: the rewrite is not found" % title)


whole = np.arange(-700, 700).astype(f32)
tenth = f32(0.1)
check("Floor", whole, [("Add", 1), ("Div", 10), ("Floor", None)],
      lambda x: np.floor((x + f32(1)) / f32(10)),
      lambda x: np.floor(x * tenth + tenth))
check("Cast", whole, [("Mul", 13), ("Div", 10), ("Cast", None, {"to": 6})],
      lambda x: np.trunc(x * f32(13) / f32(10)),
      lambda x: np.trunc(x * f32(1.3)))
check("Equal", whole, [("Div", 7), ("Equal", 3)],
      lambda x: x / f32(7) == 3, lambda x: x * f32(1 / f32(9)) == 3)
check("ArgMax", whole, [("Div", 7), ("ArgMax", None, {"keepdims": 0})],
      lambda x: np.argmax(x / f32(7)), lambda x: np.argmax(x) - 1)
times = (1.7e9 + 128 * np.arange(50)).astype(f32)
check("a time stamp", times, [("Sub", 1.7e9), ("Div", 3600)],
      lambda x: (x - f32(1.7e9)) / f32(3600),
      lambda x: x * f32(1 / 3600) - f32(f32(1.7e9) / f32(3600)))
check("a large factor", whole, [("Mul", 1e30), ("Mul", 1e30)],
      lambda x: x * f32(1e30) * f32(1e30), lambda x: x * (
          f32(1e30) * f32(1e30)))
halves = (1000 + np.arange(20) / 2).astype(f16)
check("float16 as float16", halves, [("Sub", 1000), ("Mul", 0.1)],
      lambda x: (x - f16(1000)) * f16(0.1),
      lambda x: x * f16(0.1) - f16(f16(1000) * f16(0.1)))
check("float16 as float32", halves, [("Sub", 1000), ("Mul", 0.1)],
      lambda x: (x.astype(f32) - 1000) * f32(f16(0.1)),
      lambda x: np.full(x.shape, np.nan))
check("small factors", np.arange(1, 30).astype(f16), [
    ("Mul", 1e-2), ("Mul", 1e-5)], lambda x: x * f16(1e-2) * f16(1e-5),
    lambda x: x * f16(1e-7 / 2))
picture = (300 + np.arange(24) / 4).astype(f16).reshape(1, 2, 3, 4)
rows = [np.ones(2), np.zeros(2), np.full(2, 300), np.full(2, 0.04)]


def normalized(x, kind):
    factor = kind(1) / np.sqrt(f32(f16(0.04)) + f32(1e-5)).astype(kind)
    return (x.astype(kind) - kind(300)) * factor


check("BatchNormalization", picture, [("BatchNormalization", rows)],
      lambda x: normalized(x, f32),
      lambda x: x * f16(5) - f16(300) * f16(5))
print("\n".join(failures))
sys.exit(1 if failures else 0)
