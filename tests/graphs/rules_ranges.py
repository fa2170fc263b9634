# SPDX-License-Identifier: Apache-2.0
"""Random graphs whose results arithmetic of ranges predicts (ranges.py): chains
of arithmetic with constants of all magnitudes, at their end a step as Floor, a
comparison or ArgMax, in floats of 32 and 16 bits; and operators whose
attributes are at the ends of their type."""
import numpy as np
from onnx import helper as make

import ranges
import values
from maker import Maker, undo
from reference import Rejected

KINDS = ["float32"] * 6 + ["float16"] * 3 + ["bfloat16"] * 2
NICE = [10, 0.1, 255, 1 / 255, 100, 3600, 60, 3, 7, 1000, 0.5, 2, 1, -1, 0.2]
# The largest power of ten that constants of a type have, and the least.
POWERS = {"float32": (-30, 30), "float16": (-7, 4.8), "bfloat16": (-30, 30)}
LARGEST = {"float32": 3.4028234663852886e38, "float16": 65504.0,
           "bfloat16": 3.3895313892515355e38}
MOST, LEAST = 2 ** 63 - 1, -2 ** 63
STEPS = [1, 2, 3, -1, -2, 2 ** 31 - 1, 2 ** 31, 2 ** 40, MOST, -2 ** 31,
         -2 ** 40, -MOST, LEAST]
ENDS = [0, 1, -1, 2 ** 31 - 1, 2 ** 31, -2 ** 31 - 1, MOST, LEAST, LEAST + 1]


class Evaluator:
    """Computes nodes with one rounding after each operator."""

    opset = 24

    def compute(self, node, inputs, outputs):
        with np.errstate(all="ignore"):
            found = ranges.OPERATORS[node.op_type](
                ranges.Rules(), node, [ranges.of_array(x) for x in inputs])
        return [r.at for r in found]


def start(g):
    """An input of floats."""
    kind = g.choice(KINDS)
    shape = g.choice([[7], [2, 6], [3, 5], [1, 3, 4, 5], [2, 4, 3, 3],
                      [1, 2, 6, 6], [1, 8, 3, 2]])
    profile = g.choice(["whole", "whole", "far", "normal", "halves", "tenths",
                        "magnitudes", "special"])
    size = g.choice([5, 40, 700])
    x = g.rng.integers(-size, size + 1, shape).astype(np.float64)
    if profile == "far":
        far = g.choice([1e3, 1e4] if kind == "float16" else
                       [1e3, 1e6, 1.7e9])
        x = far + x * g.choice([1, far * 2.0 ** -10])
    elif profile == "normal":
        x = g.rng.normal(0, 1, shape) * 10.0 ** g.rng.uniform(-3, 3)
    elif profile == "halves":
        x = x / 2
    elif profile == "tenths":
        x = x / 10
    elif profile == "magnitudes":
        low, high = POWERS[kind]
        x = g.rng.choice([-1, 1], shape) * 10.0 ** g.rng.uniform(
            low / 2, high / 2, shape)
    elif profile == "special":
        x = np.where(g.rng.random(shape) < 0.3, g.rng.choice(
            [np.nan, np.inf, -np.inf, 0.0, 1.0, LARGEST[kind]], shape), x)
    return g.add(values.cast(x, kind), "input")


def number(g, kind, near=None):
    """A constant: a usual one, a power of two, one of any magnitude, one at an
    end of its type, or `near`."""
    how = g.choice(["nice"] * 4 + ["power"] + ["any"] * 3 + ["end"] +
                   ["near"] * 2)
    if how == "near" and near is not None and np.isfinite(near):
        return near
    if how == "power":
        return 2.0 ** g.number(-8, 8)
    if how == "any":
        low, high = POWERS[kind]
        return g.choice([-1, 1]) * 10.0 ** g.rng.uniform(low, high)
    if how == "end":
        return g.choice([LARGEST[kind], values.LEAST[kind], 0.0,
                         values.LEAST[kind] * values.EPSILON[kind]])
    return g.choice(NICE)


def constant(g, x, near=None):
    """A constant for x: one number, or one for each channel."""
    value, kind = g.value(x), g.dtype(x)
    if value.ndim > 2 and g.chance(0.4):
        count = value.shape[1]
        array = np.array([number(g, kind, near) for _ in range(count)])
        array = array.reshape([count] + [1] * (value.ndim - 2))
    else:
        array = np.array(number(g, kind, near)).reshape(
            g.choice([[], [], [1]]))
    return g.add(values.cast(array, kind), "constant")


def mean_of(g, x):
    wide = g.value(x).astype(np.float64)
    wide = wide[np.isfinite(wide)]
    return float(np.rint(wide.mean())) if wide.size else None


def with_constant(g, x):
    op = g.choice(["Add", "Sub", "Mul", "Mul", "Div", "Div", "Min", "Max"])
    near = mean_of(g, x) if op in ("Sub", "Min", "Max") else None
    inputs = [x, constant(g, x, near)]
    if op in ("Add", "Sub", "Mul") and g.chance(0.2):
        inputs.reverse()
    return g.node(op, inputs)


def with_input(g, x):
    value = g.value(x)
    y = g.add(values.cast(g.rng.integers(1, 9, value.shape), g.dtype(x)),
              "input")
    return g.node(g.choice(["Add", "Sub", "Mul", "Div"]), [x, y])


def function(g, x):
    return g.node(g.choice(["Neg", "Abs", "Relu", "Sqrt", "Reciprocal", "Exp",
                            "Tanh", "Sigmoid"]), [x])


def clipped(g, x):
    ends = sorted([number(g, g.dtype(x)), number(g, g.dtype(x))])
    return g.node("Clip", [x] + [
        g.add(values.cast(np.array(e), g.dtype(x)), "constant")
        for e in ends])


def batch_norm(g, x):
    value, kind = g.value(x), g.dtype(x)
    if value.ndim < 2:
        raise Rejected("no channels")
    count = value.shape[1]
    mean = mean_of(g, x) if g.chance() else number(g, kind)
    variance = 10.0 ** g.rng.uniform(-4, 4)
    rows = [g.rng.uniform(0.5, 2, count), g.rng.uniform(-2, 2, count),
            np.full(count, mean or 0.0), g.rng.uniform(0.5, 2, count) *
            variance]
    return g.node("BatchNormalization", [x] + [
        g.add(values.cast(row, kind), "constant") for row in rows])


def weights(g, shape, kind):
    array = g.rng.integers(-3, 4, shape).astype(np.float64) \
        if g.chance() else g.rng.normal(0, 1, shape)
    power = 2 if kind == "float16" else g.choice([2, 2, 25])
    return g.add(values.cast(array * 10.0 ** g.choice(
        [0, 0, g.rng.uniform(-power, power)]), kind), "constant")


def conv(g, x):
    value, kind = g.value(x), g.dtype(x)
    if value.ndim != 4 or min(value.shape[2:]) < 2:
        raise Rejected("no picture")
    out, k = g.choice([1, 2, 4]), g.choice([1, 1, 2])
    if g.chance(0.3):
        pads = g.constant([0, 0, 1, 1, 0, 0, 1, 1])
        x = g.node("Pad", [x, pads, g.add(values.cast(
            np.array(0.0), kind), "constant")])
    inputs = [x, weights(g, [out, value.shape[1], k, k], kind)]
    if g.chance():
        inputs.append(weights(g, [out], kind))
    return g.node("Conv", inputs)


def matmul(g, x):
    value = g.value(x)
    if value.ndim < 2:
        raise Rejected("no matrix")
    return g.node("MatMul", [x, weights(
        g, [value.shape[-1], g.choice([1, 3, 8])], g.dtype(x))])


def reduced(g, x):
    axis = g.number(0, g.value(x).ndim - 1)
    return g.node(g.choice(["ReduceSum", "ReduceMean"]),
                  [x, g.constant([axis])])


ARITHMETIC = [with_constant] * 8 + [batch_norm] * 2 + [conv] * 2 + [
    matmul, reduced, with_input, function, clipped]


def rounding(g, x):
    return g.node(g.choice(["Floor", "Ceil", "Round", "Sign"]), [x])


def to_integer(g, x):
    kind = g.choice(["int32", "int32", "int64", "uint8", "bool"])
    y = g.node("Cast", [x], to=values.CODES[kind])
    if g.chance(0.4):
        return g.node("Cast", [y], to=values.CODES[g.dtype(x)])
    return None


def to_float(g, x):
    return g.node("Cast", [x], to=values.CODES[g.choice(list(POWERS))])


def comparison(g, x):
    wide = g.value(x).astype(np.float64).ravel()
    near = float(g.choice(wide)) if g.chance(0.7) else None
    y = g.node(g.choice(["Greater", "Less", "GreaterOrEqual", "LessOrEqual",
                         "Equal"]), [x, constant(g, x, near)])
    if g.chance(0.4):
        return g.node("Where", [y, x, g.node("Neg", [x])])
    return None


def largest(g, x):
    axis = g.number(0, g.value(x).ndim - 1)
    g.node(g.choice(["ArgMax", "ArgMin"]), [x], axis=axis, keepdims=0)


def ranked(g, x):
    count = g.value(x).shape[-1]
    g.node("TopK", [x, g.constant([g.number(1, count)])], 2)


STEP = [rounding] * 4 + [to_integer] * 3 + [comparison] * 2 + [
    largest, ranked, to_float]


def chain(g):
    x = start(g)
    for _ in range(g.choice([1, 1, 2, 2, 3, 4])):
        x = g.choice(ARITHMETIC)(g, x)
        finite = np.isfinite(g.value(x).astype(np.float64))
        if finite.mean() < 0.3:
            raise Rejected("hardly any numbers")
    if g.chance(0.7):
        x = g.choice(STEP)(g, x)
    if x is not None and g.chance(0.2):
        g.choice(ARITHMETIC)(g, x)


def stepped(g):
    """A step whose operand is often a whole number, exactly: whole numbers and
    usual constants."""
    kind = g.choice(KINDS)
    size = 50 if kind == "bfloat16" else 700
    shape = g.choice([[9], [2, 3, 4], [1, 2, 3, 5]])
    x = g.add(values.cast(g.rng.integers(-size, size + 1, shape), kind),
              "input")
    for op in g.choice([["Add", "Div"], ["Sub", "Mul"], ["Mul", "Div"],
                        ["Div", "Add"], ["Mul", "Add", "Div"], ["Div"],
                        ["Sub", "Div", "Mul"]]):
        near = np.array(g.choice([0.1, 0.2, 0.5, 1, 2, 3, 7, 10, 60, 100]))
        x = g.node(op, [x, g.add(values.cast(near, kind), "constant")])
    g.choice(STEP)(g, x)


# -- attributes at the ends of their type

def far_slice(g):
    x = start(g)
    shape = g.value(x).shape
    axes = [d for d in range(len(shape)) if g.chance()] or [0]
    wide = g.chance(0.8)

    def pick(options):
        array = np.array([g.choice(options) for _ in axes], object)
        return g.add(array.astype(np.int64) if wide else np.clip(
            array, -2 ** 31, 2 ** 31 - 1).astype(np.int32), "constant")
    starts, ends, steps = (pick(o + [len(shape), 2]) for o in (
        ENDS, ENDS, STEPS))
    axes = g.constant(axes, np.int64 if wide else np.int32)
    g.node("Slice", [x, starts, ends, axes, steps])


def far_pool(g):
    x = start(g)
    if g.value(x).ndim != 4:
        raise Rejected("no picture")
    if g.chance(0.3):
        least = g.choice([-np.inf, -LARGEST[g.dtype(x)], 0.0])
        x = g.node("Pad", [
            x, g.constant([0, 0, *(g.number(0, 2) for _ in range(2)), 0, 0,
                           *(g.number(0, 2) for _ in range(2))]),
            g.add(values.cast(np.array(least), g.dtype(x)), "constant")])
    kernel = [g.number(1, 3), g.number(1, 2)]
    more = {"strides": [g.choice([1, 2, 3, 2 ** 30, 2 ** 31 - 1])
                        for _ in range(2)]}
    if g.chance(0.4):
        more["auto_pad"] = g.choice(["SAME_UPPER", "SAME_LOWER"])
    else:
        more["ceil_mode"] = int(g.chance(0.7))
        if g.chance(0.3):
            more["pads"] = [k - 1 for k in kernel] * 2
    op = g.choice(["MaxPool", "MaxPool", "AveragePool"])
    g.node(op, [x], kernel_shape=kernel, **more)


def far_range(g):
    bits = g.choice([32, 64, 64])
    low, high = -2 ** (bits - 1), 2 ** (bits - 1) - 1
    count, forward = g.number(0, 7), g.chance()
    step = g.choice([1, 3, high // 3, high // 2 + 1, high])
    first, last = (low, high) if forward else (high, low)
    at = g.choice([first, first, last, 0])
    end = g.choice([last, at + (step if forward else -step) * count])
    end = min(max(end, low), high)
    if abs(end - at) // step > 50:
        raise Rejected("too long")
    kind = np.dtype("int%d" % bits)
    g.node("Range", [g.constant(v, kind) for v in (
        at, end, step if forward else -step)])


def far_parts(g):
    x = start(g)
    axis = g.number(0, g.value(x).ndim - 1)
    size = g.choice([1, 2, 2 ** 31, 2 ** 61, MOST])
    parts = -(-g.value(x).shape[axis] // size)
    sequence = "s%d" % len(g.graph.nodes)
    at = g.number(-parts, parts - 1)
    split = make.make_node("SplitToSequence", [x, g.constant(size)],
                           [sequence], axis=axis)
    part = make.make_node("SequenceAt", [sequence, g.constant(at)], [])
    rules = ranges.Rules()
    many, = ranges.split_to_sequence(rules, split, [
        ranges.of_array(g.value(n)) for n in split.input])
    name = g.add(many[at].at, "result", len(g.graph.nodes) + 1)
    part.output.append(name)
    g.graph.tensors[sequence] = type(g.graph.tensors[x])(
        sequence, np.zeros(0, np.float32), "sequence", len(g.graph.nodes))
    g.graph.tensors[x].read = True
    g.graph.nodes += [split, part]


RULES = [chain] * 9 + [stepped] * 4 + [far_slice] * 3 + [far_pool] * 2 + [
    far_range, far_parts]


def random_graph(seed):
    """The graph of a seed: several chains."""
    g = Maker(np.random.default_rng(seed), Evaluator())
    g.graph.opset, g.graph.symbolic, g.graph.ranges = 24, False, True
    count = g.number(3, 8)
    for _ in range(count * 6):
        before = (len(g.graph.nodes), list(g.graph.tensors),
                  [t.read for t in g.graph.tensors.values()])
        try:
            g.choice(RULES)(g)
            count -= 1
        except Rejected:
            undo(g.graph, *before)
        if count == 0:
            break
    g.choose_outputs()
    if g.chance(0.25):
        g.graph.options += ["--fp", "strict"]
    if g.chance(0.15):
        g.graph.options += ["--optimize", "memory"]
    return g.graph
