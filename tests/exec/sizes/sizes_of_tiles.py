#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels with sizes that the caller gives, at sizes about those of their tiles:
1, 2, one less and one more than a tile, several tiles.

    sizes_of_tiles.py NAME

NAME is a kind of layer here. A model is compiled once for a target, and run with
all sizes."""
import itertools
import os
import sys

import helper
import turns

try:
    import numpy as np
    import onnx
    from answers_model import Model, arguments_of
    import exact
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

SIZES = [1, 2, 5, 6, 7, 8, 13, 14, 15, 16, 17, 31, 33, 64, 97]
FEW = [1, 5, 7, 8, 16, 17, 33]
LARGEST = 97
TARGETS = ["x86-64-v3", "gnu-c", "c99", "c99-avx2", "c-openmp", "x86-64-v4"]
rng = np.random.default_rng(5)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


class Layers(Model):
    """x is the only kind of input: its sizes are numbers, or names."""

    def __init__(self, name):
        super().__init__(name)
        self.shapes = {}

    def given(self, *shape):
        name = "x%d" % len(self.shapes)
        self.shapes[name] = shape
        self.sizes[name] = list(shape)
        return self.input(name, np.zeros([
            d if isinstance(d, int) else 8 for d in shape], np.float32))

    def weight(self, *shape):
        return self.constant(floats(*shape) / np.float32(
            np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 1)))

    def conv(self, x, channels, results, kernel, group=1, **attributes):
        return self.node("Conv", [
            x, self.weight(results, channels // group, *kernel),
            self.weight(results)], group=group, **attributes)

    def check_sizes(self, sizes=None, least=1, targets=TARGETS):
        """With all combinations of the sizes of the names in shapes."""
        names = sorted({d for shape in self.shapes.values() for d in shape
                        if isinstance(d, str)})
        sizes = sizes or (SIZES if len(names) == 1 else FEW)
        path = self.write_model()
        model = exact.Model(path)
        number = 0
        for values in itertools.product(
                [n for n in sizes if n >= least], repeat=len(names)):
            known = dict(zip(names, values))
            feed = {name: floats(*[known.get(d, d) for d in shape])
                    for name, shape in self.shapes.items()}
            write_data(os.path.dirname(path), list(feed.items()),
                       list(zip(self.outputs, model.run(feed))), number)
            number += 1
        dims = [word for name in names
                for word in ("--dim", "%s=%d..%d" % (name, least, LARGEST))]
        Layers.checked += 1
        case = "%s %d" % (self.name, Layers.checked)
        for target in [*targets[:1], *turns.some(case, targets[1:])]:
            arguments = arguments_of(target)
            if arguments is not None and helper.has_processor(target):
                helper.tirc("test", path, *arguments, *dims)


def conv1d():
    for channels, results, taps, attributes in [
            (1, 17, 9, {"strides": [4]}), (16, 24, 3, {"pads": [1, 1]}),
            (6, 16, 5, {}), (12, 12, 7, {"group": 12, "pads": [3, 3]}),
            (8, 8, 3, {"dilations": [2], "pads": [2, 2]})]:
        m = Layers("conv1d")
        x = m.conv(m.given(1, channels, "n"), channels, results, [taps],
                   **attributes)
        m.output(m.node("Relu", [x]))
        m.check_sizes(least=1 if "pads" in attributes else taps)


def conv2d():
    for shape, results, kernel, attributes in [
            ((1, 8, "h", "w"), 16, [3, 3], {"pads": [1, 1, 1, 1]}),
            ((1, 3, "h", "w"), 16, [3, 3], {"pads": [1, 1, 1, 1],
                                            "strides": [2, 2]}),
            ((1, 8, "h", "w"), 5, [1, 1], {}),
            ((1, 16, "h", "w"), 16, [3, 3], {"pads": [1, 1, 1, 1],
                                             "group": 16}),
            ((1, 6, "h", "w"), 6, [5, 5], {"pads": [2, 2, 2, 2], "group": 6,
                                           "strides": [2, 1]}),
            ((2, 8, 7, "w"), 16, [3, 3], {"pads": [0, 1, 1, 0]})]:
        m = Layers("conv2d")
        x = m.conv(m.given(*shape), shape[1], results, kernel, **attributes)
        m.output(m.node("Relu", [x]))
        m.check_sizes(least=3 if shape[0] == 2 else 1)


def chains():
    """Convolutions after one another, sums of two, what follows a pool."""
    m = Layers("chain")
    x = m.conv(m.given(1, 3, "h", "w"), 3, 16, [3, 3], pads=[1, 1, 1, 1],
               strides=[2, 2])
    y = m.conv(m.node("Relu", [x]), 16, 16, [3, 3], pads=[1, 1, 1, 1])
    y = m.node("Add", [x, y])
    y = m.conv(y, 16, 16, [3, 3], pads=[1, 1, 1, 1], group=16)
    m.output(m.conv(y, 16, 4, [1, 1]))
    m.output(m.node("GlobalAveragePool", [y]))
    m.check_sizes()


def pools():
    for op, attributes in [
            ("MaxPool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1],
                         "strides": [2, 2]}),
            ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
            ("MaxPool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
            ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
            ("AveragePool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
            ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 0, 1, 2],
                             "strides": [1, 2], "ceil_mode": 1}),
            ("MaxPool", {"kernel_shape": [2, 3], "pads": [1, 2, 0, 1],
                         "dilations": [1, 2], "strides": [1, 3]}),
            ("LpPool", {"kernel_shape": [3, 2], "pads": [1, 1, 1, 0]}),
            ("GlobalMaxPool", {}), ("GlobalAveragePool", {})]:
        m = Layers("pool")
        m.output(m.node(op, [m.given(1, 5, "h", "w")], **attributes))
        m.check_sizes(least=3)


def products():
    for left, right in [(("n", 24), (24, 40)), (("n", 24), (24, 5)),
                        (("n", 24), (24, 33)), ((3, "n", 8), (8, 16))]:
        m = Layers("product")
        x = m.given(*left)
        y = m.node("MatMul", [x, m.weight(*right)])
        y = m.node("Add", [y, m.weight(right[1])])
        m.output(m.node("Add", [x, y]) if right[1] == 8 else y)
        m.check_sizes()
    for left, right in [((2, "n", 24), (2, 24, "m")),
                        ((2, 24, "n"), (2, "n", 16)),
                        (("n", "m"), ("m", "n")),
                        ((2, "n", 1), (2, 1, "n"))]:
        m = Layers("product_of_two")
        m.output(m.node("MatMul", [m.given(*left), m.given(*right)]))
        m.check_sizes()
    m = Layers("residual")
    x = m.given("n", 24)
    m.output(m.node("Add", [x, m.node("MatMul", [x, m.weight(24, 24)])]))
    m.check_sizes()


def attention():
    for heads in (1, 3):
        m = Layers("attention")
        q, k, v = [m.given(1, heads, size, 16) for size in "nmm"]
        scores = m.node("MatMul", [q, m.node("Transpose", [k],
                                             perm=[0, 1, 3, 2])])
        scores = m.node("Softmax", [m.node("Mul", [
            scores, m.constant(np.float32(0.25))])], axis=-1)
        m.output(m.node("MatMul", [scores, v]))
        m.check_sizes()


def rows():
    """Statistics along sizes, and beside them."""
    for shape, axis in [((3, "n"), 1), ((3, "n"), 0), (("n", 20), 1),
                        ((2, 20, "n"), 1), (("n", "m"), 1), (("n", "m"), 0)]:
        m = Layers("rows")
        x = m.given(*shape)
        m.output(m.node("Softmax", [x], axis=axis))
        for op in ("ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2"):
            m.output(m.node(op, [x, m.constant(np.array([axis]))]))
        m.check_sizes()
    m = Layers("norm")
    m.output(m.node("LayerNormalization", [
        m.given(1, "n", 24), m.weight(24), m.weight(24)], axis=-1))
    m.output(m.node("InstanceNormalization", [
        m.given(1, 6, "n"), m.weight(6), m.weight(6)]))
    m.check_sizes()


def elements():
    for shape, perm in [(("n", 24), [1, 0]), ((21, "n"), [1, 0]),
                        ((2, "n", 3, "m"), [0, 3, 2, 1])]:
        m = Layers("transpose")
        m.output(m.node("Transpose", [m.given(*shape)], perm=perm))
        m.check_sizes()
    for shape, other in [((3, "n"), (3, 1)), (("n", 20), (20,)),
                         ((2, "n", "m"), (1, 1))]:
        m = Layers("elements")
        x = m.given(*shape)
        y = m.node("Mul", [m.node("Add", [x, m.weight(*other)]),
                           m.node("Sigmoid", [x])])
        m.output(y)
        m.output(m.node("Transpose", [y]))
        m.check_sizes()


def recurrent():
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, count in (("forward", 1), ("bidirectional", 2)):
            m = Layers("recurrent")
            out = m.node(op, [
                m.given("n", 2, 12), m.weight(count, gates * 16, 12),
                m.weight(count, gates * 16, 16),
                m.weight(count, 2 * gates * 16)], n=2, hidden_size=16,
                direction=direction)
            m.output(out[0])
            m.output(out[1])
            m.check_sizes(sizes=[1, 2, 6, 7, 16, 17])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
