#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No constant takes more bytes than the model's own: what Expand, Tile, Resize,
ConstantOfShape and equal rows repeat is stored once, a single number not at all,
and with --optimize memory the weights of products, too; nor what is larger than its
sources without repeating any, which is computed at run time. NAME.json says what an
array was made of; its bytes are compared with the initializers'."""
import json
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import compilers, contents, fail, results_alone, tirc, work_folder
from onnx_data import write_data

results_alone()

rng = np.random.default_rng(1)
X = [1, 16, 32, 32]


class Model:
    """Nodes behind each other, and what they give."""

    def __init__(self, shape):
        self.nodes, self.constants, self.count = [], {}, 0
        self.x = rng.standard_normal(shape).astype(np.float32)
        self.name, self.value, self.outputs = "x", self.x.astype(float), []

    def constant(self, array):
        name = "k%d" % len(self.constants)
        self.constants[name] = array
        return name

    def floats(self, *shape):
        array = rng.standard_normal(shape).astype(np.float32)
        return self.constant(array), array.astype(float)

    def node(self, op, *inputs, **attributes):
        self.count += 1
        name = "t%d" % self.count
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def then(self, op, name, value, **attributes):
        """The result so far and a constant."""
        self.name = self.node(op, self.name, name, **attributes)
        self.value = value

    def write(self):
        path = os.path.join(work_folder(), "m.onnx")
        results = [(self.name, self.value), *self.outputs]
        save(helper.make_model(helper.make_graph(
            self.nodes, "m",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT,
                                           self.x.shape)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape)
             for name, value in results],
            [numpy_helper.from_array(array, name)
             for name, array in self.constants.items()]),
            opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
        write_data(os.path.dirname(path), [self.x],
                   [value.astype(np.float32) for _, value in results])
        return path


def ints(*values):
    return np.array(values, np.int64)


def elementwise():
    """Sums with constants that were made in different ways."""
    m = Model(X)
    name, v = m.floats(16, 1, 1)
    m.then("Add", m.node("Expand", name, m.constant(ints(*X))), m.value + v)
    name, v = m.floats(1, 1, 1, 1)
    m.then("Mul", m.node("Expand", name, m.constant(ints(*X))), m.value * v)
    name, v = m.floats(1, 4, 8, 32)
    m.then("Add", m.node("Tile", name, m.constant(ints(1, 4, 4, 1))),
           m.value + np.tile(v, (1, 4, 4, 1)))
    name, v = m.floats(1, 16, 4, 32)
    m.then("Mul", m.node("Resize", name, "", "", m.constant(ints(*X)),
                         mode="nearest", nearest_mode="floor",
                         coordinate_transformation_mode="asymmetric"),
           m.value * np.repeat(v, 8, 2))
    name = m.node("ConstantOfShape", m.constant(ints(*X)),
                  value=numpy_helper.from_array(np.array([0.37], np.float32)))
    m.then("Add", name, m.value + np.float32(0.37))
    name, v = m.floats(1, 1, 1, 32)
    name = m.node("Exp", m.node("Concat", *[name] * 32, axis=2))
    m.then("Sub", name, m.value - np.exp(v))
    name, v = m.floats(8, 1)
    name = m.node("Expand", name, m.constant(ints(8, 4096)))
    m.outputs.append((m.node("Identity", name),
                      np.broadcast_to(v, (8, 4096))))
    return m


def product():
    """Weights with equal columns, and a bias of equal numbers."""
    m = Model([24, 96])
    name, w = m.floats(96, 1)
    m.then("MatMul", m.node("Expand", name, m.constant(ints(96, 80))),
           m.value @ np.broadcast_to(w, (96, 80)))
    name, v = m.floats(1)
    m.then("Add", m.node("Expand", name, m.constant(ints(80))), m.value + v)
    return m


def mask():
    """An initializer with equal rows, and one of equal numbers."""
    m = Model([2, 128, 128])
    row = rng.standard_normal(128).astype(np.float32)
    m.then("Add", m.constant(np.tile(row, (128, 1))), m.value + row)
    m.then("Mul", m.constant(np.full((128, 128), 1.5, np.float32)),
           m.value * 1.5)
    return m


def causal():
    """A mask of a range and comparisons, and a triangle: no array at all."""
    m = Model([2, 48, 48])
    zero, count, one = (m.constant(np.array(v, np.int64)) for v in (0, 48, 1))
    ends = m.node("Range", zero, count, one)
    row, column = (m.node("Unsqueeze", ends, m.constant(ints(axis)))
                   for axis in (0, 1))
    numbers = [m.constant(np.array(v, np.float32)) for v in (0, -10)]
    m.then("Add", m.node("Where", m.node("LessOrEqual", row, column), *numbers),
           m.value + np.tril(np.full((48, 48), 10.0)) - 10)
    ones = m.node("ConstantOfShape", m.constant(ints(48, 48)),
                  value=numpy_helper.from_array(np.array([1.5], np.float32)))
    m.then("Mul", m.node("Trilu", ones, upper=0),
           m.value * np.tril(np.full((48, 48), 1.5)))
    return m


def waves():
    """Sines of positions and frequencies, which two kernels read."""
    m = Model([64, 32])
    position, p = m.floats(64, 1)
    frequency, f = m.floats(1, 16)
    angle, a = m.node("Mul", position, frequency), p * f
    both = m.node("Concat", m.node("Sin", angle), m.node("Cos", angle), axis=1)
    v = np.concatenate([np.sin(a), np.cos(a)], 1)
    m.then("Add", both, m.value + v)
    m.value = np.exp(m.value) / np.exp(m.value).sum(1, keepdims=True)
    m.name = m.node("Softmax", m.name, axis=1)
    m.then("Mul", both, m.value * v)
    return m


def scattered():
    """Numbers at some places of zeros, and a plane that is resized."""
    m = Model([1, 2, 32, 32])
    zeros = m.node("ConstantOfShape", m.constant(ints(32, 32)))
    places = rng.integers(0, 32, (32, 1))
    name, v = m.floats(32, 1)
    v = np.where(np.arange(32) == places, v, 0)
    m.then("Add", m.node("ScatterElements", zeros, m.constant(places), name,
                         axis=1), m.value + v)
    name, v = m.floats(1, 2, 8, 8)
    at = np.clip((np.arange(32) + 0.5) / 4 - 0.5, 0, 7)
    weights = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(8)))
    m.then("Mul", m.node("Resize", name, "", "",
                         m.constant(ints(1, 2, 32, 32)), mode="linear"),
           m.value * (weights @ v @ weights.T))
    return m


def outer():
    """Weights of a product that are a product themselves."""
    m = Model([4, 48])
    u, v = m.floats(48, 1)
    w, x = m.floats(1, 48)
    m.then("MatMul", m.node("MatMul", u, w), m.value @ (v @ x))
    return m


def arrays(path, *words):
    out = os.path.join(work_folder(), "out")
    tirc("compile", path, "-o", out, "--weights", "c", *words)
    found = json.loads(next(text for name, text in contents(out).items()
                            if name.endswith(".json")))
    return found["weights"]


def check(model, most, *words):
    """Each array has no more bytes than the initializers that it is made of,
    all have at most `most`, and the results are the model's."""
    path = model.write()
    found = arrays(path, *words)
    for weight in found:
        own = sum(model.constants[name].nbytes for name in weight["from"])
        if weight["bytes"] > own:
            fail("%s: %d bytes of %d, %s" % (
                weight["symbol"], weight["bytes"], own, weight["recipe"]))
    total = sum(weight["bytes"] for weight in found)
    if total > most:
        fail("%d bytes, at most %d: %s" % (total, most, found))
    tirc("test", path, "--cc", compilers()[0], "--cflags", "-O0", *words)


for target in ("c99", "gnu-c"):
    for goal in ("speed", "memory"):
        words = ["--target", target, "--optimize", goal]
        sizes = [16, 4 * 8 * 32, 16 * 4 * 32, 32, 8]
        check(elementwise(), 4 * sum(sizes), *words)
        check(mask(), 4 * 128, *words)
    check(product(), 4 * 96, "--target", target, "--optimize", "memory")
    words = ["--target", target, "--optimize", "memory"]
    check(causal(), 0, *words)
    check(waves(), 4 * (64 + 16), *words)
    check(scattered(), (4 + 8) * 32 + 4 * 2 * 8 * 8, *words)
    check(outer(), 4 * 2 * 48, *words)
if sum(w["bytes"] for w in arrays(product().write(), "--target", "gnu-c")) < \
        4 * 96 * 80:
    fail("for speed, a product's weights are not in its layout")
