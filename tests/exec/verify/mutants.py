#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc test` as an instrument: the right results of a model pass, and each of a
set of small mistakes in them fails: a wrong axis, a dropped bias of a thousandth,
rows that are one off, one wrong element, a step of a rounding where nothing is
near it. Elements within rounding of a step may be on either side, by one step,
and are counted; a wrong output with many of them fails."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper

RNG = np.random.default_rng(7)
TARGET = ["--target", "c99", *helper.STRICT_C]


class Model:
    """A model of `nodes`, whose results numpy gives: reference(inputs) in
    float64."""

    def __init__(self, name, nodes, inputs, constants, reference, kind=None,
                 shapes=None):
        self.name = name
        self.inputs = inputs
        self.reference = reference
        wide = {k: v.astype(np.float64) if v.dtype.kind == "f" else v
                for k, v in inputs.items()}
        self.right = np.asarray(reference(**wide))
        if kind is None and self.right.dtype.kind == "f":
            kind = next(v.dtype for v in [*inputs.values(),
                                          *constants.values()]
                        if v.dtype.kind == "f")
        self.right = self.right.astype(kind or self.right.dtype)
        self.folder = helper.work_folder()
        os.mkdir(self.path("test_data_set_0"))
        graph = make.make_graph(
            nodes, "g", [self.info(k, v, (shapes or {}).get(k))
                         for k, v in inputs.items()],
            [self.info("y", self.right,
                       ["n", *self.right.shape[1:]] if shapes else None)],
            [numpy_helper.from_array(v, k) for k, v in constants.items()])
        model = make.make_model(
            graph, opset_imports=[make.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(model, self.path("model.onnx"))
        for i, v in enumerate(inputs.values()):
            self.save("input_%d.pb" % i, v)

    @staticmethod
    def info(name, v, shape=None):
        return make.make_tensor_value_info(
            name, make.np_dtype_to_tensor_dtype(v.dtype), shape or v.shape)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def save(self, name, v):
        onnx.save_tensor(numpy_helper.from_array(np.ascontiguousarray(v)),
                         self.path("test_data_set_0", name))

    def run(self, what, expected, status, says=None, more=()):
        self.save("output_0.pb", expected.astype(self.right.dtype))
        out = helper.tirc("test", self.path("model.onnx"), *TARGET,
                          *more, status=status).stdout
        print("%s, %s: %s" % (self.name, what, out.splitlines()[0]))
        if "not compared" in out:
            sys.exit("%s, %s: nothing was compared" % (self.name, what))
        if says is not None and says not in out:
            sys.exit("%s, %s: does not say: %s" % (self.name, what, says))

    def passes(self, what="right", expected=None, says=None, more=()):
        self.run(what, self.right if expected is None else expected, 0, says,
                 more)

    def fails(self, what, expected, says=None, more=()):
        self.run(what, expected, 1, says, more)


def changed(y, at, by):
    y = y.copy()
    y[at] = y[at] + by
    return y


def mistakes(m, small=2e-3):
    """What any output of floats must not pass with: `small`, of its largest
    element, is wrong."""
    y = m.right
    most = np.abs(y).max()
    m.passes()
    m.fails("one element wrong", changed(
        y, np.unravel_index(y.size // 3, y.shape), small * most))
    m.fails("all wrong by %g" % small, y + small * most)
    m.fails("one row on", np.roll(y, 1, 0))
    m.fails("one column on", np.roll(y, 1, -1))
    m.fails("80 more", y + 80)


def normal(*shape, kind=np.float32):
    return RNG.standard_normal(shape).astype(kind)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layers():
    """Two layers and probabilities."""
    for kind in np.float32, np.float64:
        x, w, b, v = (normal(*s, kind=kind)
                      for s in ((8, 64), (64, 32), (32,), (32, 8)))
        b[3] = 1e-3

        def net(x, axis=-1, w=w, b=b):
            return softmax(np.tanh(x @ w.astype(np.float64) / 8 + b) @ v,
                           axis)
        m = Model("layers of %s" % kind.__name__, [
            make.make_node("MatMul", ["x", "w"], ["a"]),
            make.make_node("Div", ["a", "eight"], ["d"]),
            make.make_node("Add", ["d", "b"], ["s"]),
            make.make_node("Tanh", ["s"], ["t"]),
            make.make_node("MatMul", ["t", "v"], ["u"]),
            make.make_node("Softmax", ["u"], ["y"], axis=-1)],
            {"x": x}, {"w": w, "b": b, "v": v, "eight": kind(8)}, net)
        mistakes(m)
        wide = x.astype(np.float64)
        m.fails("wrong axis", net(wide, axis=0))
        m.fails("dropped bias of 1e-3", net(wide, b=changed(b, 3, -1e-3)))
        m.fails("dropped term", net(wide, w=changed(w, (5, 7), -w[5, 7])))


def cancelling():
    """Differences of large terms: the error is one of the terms."""
    x = normal(16, 256)
    x -= x.mean(1, keepdims=True)
    x += 100

    def net(x, drop=0.0):
        return x.sum(1, keepdims=True) - 25600 + 0.75 - drop
    m = Model("cancelling sums", [
        make.make_node("ReduceSum", ["x", "axes"], ["s"], keepdims=1),
        make.make_node("Sub", ["s", "c"], ["d"]),
        make.make_node("Add", ["d", "b"], ["y"])],
        {"x": x}, {"axes": np.array([1]), "c": np.float32(25600),
                   "b": np.float32(0.75)}, net)
    m.passes("within rounding of the terms", m.right + 1e-3)
    m.fails("dropped bias", net(x.astype(np.float64), drop=0.75))
    m.fails("half of it", net(x.astype(np.float64), drop=0.375))


def rounded(op, reference):
    """A step in the output. Elements 1, 8 and 30 are within rounding of one."""
    x = (RNG.integers(-50, 50, (10, 10)) + 0.3).astype(np.float32)
    half = 0.5 if op == "Round" else 0.0
    near = [0, 0, 3], [1, 8, 0]
    x[near] = np.float32([3, 10, -7]) + np.float32(half)
    x /= np.float32(0.7)

    def net(x):
        return reference(np.round(x * 0.7 * 10) / 10)
    m = Model(op, [make.make_node("Mul", ["x", "c"], ["a"]),
                   make.make_node(op, ["a"], ["y"])],
              {"x": x}, {"c": np.float32(0.7)}, net)
    y = m.right
    low = np.floor(x[near].astype(np.float64) * 0.7 + half - 0.25) + (
        op == "Ceil")
    for side in low, low + 1:
        z = y.copy()
        z[near] = side
        m.passes("near a step", z)
    m.fails("two steps", changed(y, (0, 1), 2))
    m.fails("half a step", changed(y, (0, 1), 0.5))
    m.fails("a step where none is near", changed(y, (5, 5), 1))
    m.fails("a step in all", y + 1)
    m.fails("80 in all", y + 80)


def whole_steps():
    """Every element is on a step exactly: many on the other side are no
    rounding."""
    x = np.arange(-32, 32, dtype=np.float32).reshape(8, 8)
    m = Model("all on steps", [make.make_node("Floor", ["x"], ["y"])],
              {"x": x}, {}, lambda x: np.floor(x))
    m.passes()
    m.passes("three on the other side", changed(
        m.right, (slice(1, 4), 2), -1),
        says="3 elements within rounding of a step took the other side")
    m.fails("all on the other side", m.right - 1,
            says="more than rounding errors explain")
    m.fails("all but a few", changed(m.right - 1, (0, slice(0, 3)), 1))
    m.fails("a third of them", changed(m.right, (slice(0, 8), 2), -80))
    m.fails("two steps", changed(m.right, (3, 3), -2))
    few = Model("few on steps", [make.make_node("Floor", ["x"], ["y"])],
                {"x": np.float32([1, 2, 3, 4])}, {}, lambda x: np.floor(x))
    few.fails("all on the other side", few.right - 1)
    few.passes("one on the other side", changed(few.right, 2, -1))


def common_step():
    """One step, in all elements: either all or none are on the other side."""
    x = np.float32([[3.0]])
    w = normal(1, 40)
    m = Model("common step", [make.make_node("Floor", ["x"], ["f"]),
                              make.make_node("MatMul", ["f", "w"], ["y"])],
              {"x": x}, {"w": w}, lambda x: np.floor(x) @ w)
    m.passes()
    m.passes("the other side", 2.0 * w)
    m.fails("between", 2.5 * w)
    m.fails("two steps", 1.0 * w)


def inner_steps():
    """A sum of many rounded values, of which a few are near a step."""
    x = (RNG.integers(-20, 20, (12, 64)) + 0.5 + RNG.choice(
        [-0.2, 0.2], (12, 64))).astype(np.float32)
    x[::3, 5] = np.round(x[::3, 5])
    w = normal(64, 16)
    b = np.float32(1e-3) + np.zeros(16, np.float32)
    m = Model("inner steps", [make.make_node("Floor", ["x"], ["f"]),
                              make.make_node("MatMul", ["f", "w"], ["a"]),
                              make.make_node("Add", ["a", "b"], ["y"])],
              {"x": x}, {"w": w, "b": b},
              lambda x: np.floor(x) @ w.astype(np.float64) + b)
    mistakes(m)
    m.passes("one floor on the other side",
             changed(m.right, (3, slice(None)), -w[5]))
    m.fails("it is at another place",
            changed(m.right, (4, slice(None)), -w[5]))
    # A hundredth of the terms is beyond 1e-5 of them.
    m.fails("dropped bias of 1e-2", m.right - np.float32(1e-2))


def choices():
    """Integers and bools that follow from floats."""
    x = normal(20, 10)
    x[4, 2] = x[4, 7] = 5.0  # two are the largest
    m = Model("ArgMax", [make.make_node("ArgMax", ["x"], ["y"], axis=1,
                                        keepdims=0)],
              {"x": x}, {}, lambda x: x.argmax(1))
    m.passes()
    m.passes("the other of two alike", changed(m.right, 4, 5),
             says="1 element within rounding of a step took the other side")
    m.fails("another one", changed(m.right, 4, 1))
    m.fails("another row", changed(m.right, 5, 1))
    m.fails("one row on", np.roll(m.right, 1))

    x = normal(20, 10)
    x[3, 3] = x[7, 7] = 0.25
    m = Model("Greater", [make.make_node("Greater", ["x", "c"], ["y"])],
              {"x": x}, {"c": np.float32(0.25)}, lambda x: x > 0.25)
    m.passes()
    m.passes("a tie is true", changed(m.right, (3, 3), True),
             says="1 element within rounding of a step")
    m.fails("another one", np.logical_xor(m.right, x == x[5, 5]))
    m.fails("none is", ~m.right)

    x = (RNG.integers(-50, 50, (20, 10)) + 0.4).astype(np.float32)
    x[2, 2] = 9
    m = Model("Cast", [make.make_node("Cast", ["x"], ["y"],
                                      to=TensorProto.INT64)],
              {"x": x}, {}, lambda x: np.trunc(x).astype(np.int64))
    m.passes()
    m.passes("8 for 9", changed(m.right, (2, 2), -1))
    m.fails("7 for 9", changed(m.right, (2, 2), -2))
    m.fails("10 for 9", changed(m.right, (2, 2), 1))
    m.fails("off by one", changed(m.right, (2, 3), 1))
    m.fails("all off by one", m.right + 1)


def quantized():
    """A step of a quantized result is allowed, but not everywhere."""
    x = normal(10, 10)
    m = Model("quantized", [make.make_node("QuantizeLinear", ["x", "s", "z"],
                                           ["y"])],
              {"x": x}, {"s": np.float32(0.05), "z": np.int8(3)},
              lambda x: (np.rint(x / np.float32(0.05)) + 3).clip(
                  -128, 127).astype(np.int8))
    m.passes()
    m.passes("a step", changed(m.right, (2, 2), 1),
             says="1 element is one step off")
    m.fails("two steps", changed(m.right, (2, 2), 2))
    m.fails("a step in all", m.right + 1,
            says="more than rounding errors explain")


def integers():
    """Inputs that cannot be perturbed: what follows from them is."""
    ids = RNG.integers(0, 50, (16, 64))
    table = (normal(50, 32) + 100).astype(np.float32)
    b = np.float32(0.75)

    def net(ids, drop=0.0, table=table):
        x = table.astype(np.float64)[ids]
        return x.sum(1) - 6400 + b - drop
    for what, shape in ("ids", ids.shape), ("symbolic ids", ["n", 64]):
        m = Model(what, [
            make.make_node("Gather", ["table", "ids"], ["x"]),
            make.make_node("ReduceSum", ["x", "axes"], ["s"], keepdims=0),
            make.make_node("Sub", ["s", "c"], ["d"]),
            make.make_node("Add", ["d", "b"], ["y"])],
            {"ids": ids}, {"table": table, "axes": np.array([1]), "b": b,
                           "c": np.float32(6400)}, net, np.float32,
            {"ids": shape})
        more = ["--dim", "n=1..20"] if "n" in shape else []
        m.passes("within rounding of the terms", m.right + 1e-3, more=more)
        m.fails("dropped bias", net(ids, drop=0.75), more=more)
        m.fails("another row of the table", net(
            ids, table=np.roll(table, 1, 0)), more=more)
    x = RNG.integers(-128, 128, (6, 32)).astype(np.int8)
    w = normal(32, 8)
    m = Model("dequantized", [
        make.make_node("DequantizeLinear", ["x", "s"], ["f"]),
        make.make_node("MatMul", ["f", "w"], ["a"]),
        make.make_node("Floor", ["a"], ["y"])],
        {"x": x}, {"s": np.float32(0.1), "w": w},
        lambda x: np.floor(x * np.float64(np.float32(0.1)) @ w))
    mistakes(m, 0.3)
    # 1 - mask is exactly 0 for what is kept, however large its factor.
    ids, table, w = RNG.integers(0, 50, (4, 16)), normal(50, 8), normal(8, 16)
    mask = np.ones((4, 16), np.int64)
    mask[:, 12:] = 0

    def attention(ids, mask, drop=0.0):
        x = table.astype(np.float64)[ids]
        scores = x @ w + ((1 - mask) * -1e4)[:, None, :] - drop * mask[
            :, None, :] * (np.arange(16) == 3)
        power = np.exp(scores - scores.max(-1, keepdims=True))
        return power / power.sum(-1, keepdims=True)
    m = Model("mask", [
        make.make_node("Gather", ["table", "ids"], ["x"]),
        make.make_node("MatMul", ["x", "w"], ["s"]),
        make.make_node("Cast", ["mask"], ["f"], to=1),
        make.make_node("Sub", ["one", "f"], ["inverse"]),
        make.make_node("Mul", ["inverse", "least"], ["bias"]),
        make.make_node("Unsqueeze", ["bias", "axis"], ["row"]),
        make.make_node("Add", ["s", "row"], ["masked"]),
        make.make_node("Softmax", ["masked"], ["y"])],
        {"ids": ids, "mask": mask},
        {"table": table, "w": w, "one": np.float32(1), "axis": np.array([1]),
         "least": np.float32(-1e4)}, attention)
    m.passes("as it is", m.right)
    m.fails("a score of each row", attention(ids, mask, 0.01))


def tails():
    """onnxruntime's Sigmoid has steps of 2^-24 where it is nearly zero."""
    x = np.linspace(-30, 30, 101, dtype=np.float32)
    m = Model("Sigmoid", [make.make_node("Sigmoid", ["x"], ["y"])],
              {"x": x}, {}, lambda x: 1 / (1 + np.exp(-x)))
    m.passes()
    m.passes("in steps", np.round(m.right * 2 ** 23) / 2 ** 23)
    m.fails("one element", changed(m.right, 20, 4e-7))
    m.fails("one element near 1", changed(m.right, 90, -3e-4))


layers()
cancelling()
rounded("Floor", np.floor)
rounded("Ceil", np.ceil)
rounded("Round", np.rint)
whole_steps()
common_step()
inner_steps()
choices()
quantized()
integers()
tails()
