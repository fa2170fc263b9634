# SPDX-License-Identifier: Apache-2.0
"""Constants that repeat their elements, whatever made them, and operators that
read them."""
import numpy as np
from onnx import numpy_helper

from maker import MOST_ELEMENTS
from reference import Rejected


def thinned(g, shape):
    """Some dimensions are 1, or a part of theirs."""
    small = []
    for size in shape:
        parts = [n for n in (2, 3, 4) if size % n == 0 and n < size]
        small.append(1 if g.chance(0.55) else
                     g.choice(parts) if parts and g.chance(0.4) else size)
    return small


def expanded(g, kind, shape):
    small = [1 if g.chance(0.6) else n for n in shape]
    if g.chance(0.3):
        small = small[g.number(0, len(small)):]
    x = g.fresh(kind, small, constant=True)
    return g.node("Expand", [x, g.constant(shape)])


def tiled(g, kind, shape):
    small = thinned(g, shape)
    x = g.fresh(kind, small, constant=True)
    return g.node("Tile", [x, g.constant([n // s
                                          for n, s in zip(shape, small)])])


def filled(g, kind, shape):
    value = g.value(g.fresh(kind, [1], constant=True))
    return g.node("ConstantOfShape", [g.constant(shape)],
                  value=numpy_helper.from_array(value))


def resized(g, kind, shape):
    if kind != "float32" or not shape:
        raise Rejected("no picture")
    small = thinned(g, shape)
    x = g.fresh(kind, small, constant=True)
    return g.node("Resize", [x, None, None, g.constant(shape)],
                  mode=g.choice(["nearest", "nearest", "linear"]),
                  coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor")


def gathered(g, kind, shape):
    if not shape:
        raise Rejected("a scalar")
    axis = g.number(0, len(shape) - 1)
    rows = g.number(1, 3)
    x = g.fresh(kind, shape[:axis] + [rows] + shape[axis + 1:], constant=True)
    at = [0] * shape[axis] if g.chance(0.4) else [
        i % rows for i in range(shape[axis])] if g.chance() else [
        g.number(0, rows - 1) for _ in range(shape[axis])]
    return g.node("Gather", [x, g.constant(at)], axis=axis)


def joined(g, kind, shape):
    if not shape:
        raise Rejected("a scalar")
    axis = g.number(0, len(shape) - 1)
    parts = [n for n in (1, 2, 3, 4, 6) if shape[axis] % n == 0]
    count = g.choice(parts)
    x = g.fresh(kind, shape[:axis] + [shape[axis] // count] +
                shape[axis + 1:], constant=True)
    return g.node("Concat", [x] * count, axis=axis)


def padded(g, kind, shape):
    if not shape:
        raise Rejected("a scalar")
    axis = g.number(0, len(shape) - 1)
    before = g.number(0, shape[axis] - 1)
    pads = [0] * (2 * len(shape))
    pads[axis] = before
    x = g.fresh(kind, shape[:axis] + [shape[axis] - before] +
                shape[axis + 1:], constant=True)
    return g.node("Pad", [x, g.constant(pads)],
                  mode=g.choice(["constant", "edge"]))


def equal_rows(g, kind, shape):
    """An initializer with equal rows."""
    small = thinned(g, shape)
    value = g.value(g.fresh(kind, small, constant=True))
    for d, (n, s) in enumerate(zip(shape, small)):
        value = np.repeat(value, n // s, d) if g.chance() else \
            np.concatenate([value] * (n // s), d)
    return g.add(value, "constant")


def masked(g, kind, shape):
    """Where of a mask with equal rows."""
    if kind != "float32":
        raise Rejected("no mask")
    mask = equal_rows(g, "bool", shape)
    return g.node("Where", [mask, g.constant(0.0, kind),
                            g.constant(-1.0e4, kind)])


MAKERS = [expanded, expanded, tiled, tiled, filled, resized, gathered, joined,
          padded, equal_rows, equal_rows, masked]


def repeated(g, kind, shape):
    """A constant of that type and shape."""
    c = g.choice(MAKERS)(g, kind, list(shape))
    if kind == "float32" and g.chance(0.25):
        c = g.node(g.choice(["Neg", "Abs"]), [c])
    if kind == "float32" and g.chance(0.2):
        c = g.node("Add", [c, g.choice(MAKERS)(g, kind, list(shape))])
    return c


def size(g):
    return g.choice([1, 2, 3, 4, 6, 8, 8, 12, 16, 24])


def elementwise(g):
    """Add, Mul, Where, Max, with an operand of each size, rarely too large."""
    shape = [size(g) for _ in range(g.number(1, 4))]
    while np.prod(shape) > MOST_ELEMENTS:
        shape[int(np.argmax(shape))] //= 2
    kind = g.choice(["float32", "float32", "float32", "int32", "int64"])
    own = [1 if g.chance(0.15) else n for n in shape]
    c, x = repeated(g, kind, shape), g.exact(kind, own, constant=False)
    op = g.choice(["Add", "Sub", "Mul", "Max", "Where", "Concat", "Pad"])
    if op == "Where":
        y = g.node(op, [g.exact("bool", shape, constant=g.chance()), x, c])
    elif op == "Concat":
        axis = g.number(0, len(shape) - 1)
        own = list(shape)
        own[axis] = g.number(1, 3)
        y = g.node(op, [g.exact(kind, own, constant=False), c], axis=axis)
    elif op == "Pad":
        y = g.node(op, [g.node("Add", [x, c]),
                        g.constant([g.number(0, 2)
                                    for _ in range(2 * len(shape))])])
    else:
        y = g.node(op, [x, c] if g.chance() else [c, x])
    if kind == "float32" and g.chance(0.3):
        g.node(g.choice(["Relu", "Softmax", "Transpose"]), [y])


def product(g):
    """MatMul and Gemm, with repeated weights, biases, or data."""
    m, k, n = (g.choice([1, 3, 8, 16, 24]) for _ in range(3))
    if g.chance(0.25):
        k = n = 72  # weights of more than 16 KiB
    x = g.exact("float32", [m, k], "plain", False) if g.chance(0.8) else \
        repeated(g, "float32", [m, k])
    w = repeated(g, "float32", [k, n]) if g.chance(0.7) else \
        g.fresh("float32", [k, n], "plain", g.chance(0.8))
    if g.chance():
        g.node("Gemm", [x, w, repeated(g, "float32",
                                       g.choice([[n], [m, n], [1, n]]))])
    else:
        y = g.node("MatMul", [x, w])
        if g.chance():
            g.node("Add", [y, repeated(g, "float32", [m, n])])


def conv(g):
    """Conv with repeated weights, as of a blur, and a repeated bias."""
    channels, kernel = g.choice([1, 4, 8, 16]), g.number(1, 3)
    group = g.choice([1, channels])
    out = g.choice([channels, 2 * channels])
    shape = [out, channels // group, kernel, kernel]
    if g.chance(0.15):
        group, shape = 1, [48, channels, 3, 3]
    x = g.exact("float32", [1, channels, g.number(3, 9), g.number(3, 9)],
                "plain", False)
    inputs = [x, repeated(g, "float32", shape) if g.chance(0.7) else
              g.fresh("float32", shape, "plain", True)]
    if g.chance(0.7):
        inputs.append(repeated(g, "float32", shape[:1]))
    y = g.node("Conv", inputs, group=group, kernel_shape=shape[2:])
    if g.chance(0.3):
        g.node("Mul", [y, repeated(g, "float32", g.value(y).shape)])


def norm(g):
    """A scale and a shift of equal numbers, and the slope of a PRelu."""
    shape = [g.number(1, 3), size(g), size(g)]
    x = g.exact("float32", shape, "plain", False)
    y = g.node("LayerNormalization",
               [x, repeated(g, "float32", shape[2:]),
                repeated(g, "float32", shape[2:])])
    g.node("PRelu", [y, repeated(g, "float32", shape[1:])])


def lookup(g):
    """Gather from a table with repeated rows, and Scatter into one."""
    rows, columns = g.choice([2, 4, 8, 64]), size(g)
    table = repeated(g, "float32", [rows, columns])
    at = g.fresh("int64", [g.number(1, 5)], "plain", False)
    at = g.node("Mod", [at, g.constant(rows)])
    if g.chance(0.7):
        g.node("Gather", [table, at])
    else:
        g.node("ScatterElements",
               [table, g.constant([[g.number(0, rows - 1)] * columns]),
                g.exact("float32", [1, columns], constant=False)])


def output(g):
    """A constant that is an output of the model."""
    c = repeated(g, g.choice(["float32", "int32"]),
                 [size(g) for _ in range(g.number(1, 3))])
    g.graph.tensors[c].read = False


LIST = [elementwise, elementwise, elementwise, product, conv, norm, lookup,
        output]


def grown(g):
    g.choice(LIST)(g)
