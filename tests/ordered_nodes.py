# SPDX-License-Identifier: Apache-2.0
"""A model of what is stored in order: running sums along each axis, with what
is before and behind, and updates of which several meet one element. Data are
small whole numbers, so that every order of a sum gives the same."""
import os

import numpy as np
import onnx
from onnx import numpy_helper
from onnx import helper as make

from onnx_data import write_data


class Model:
    def __init__(self):
        self.random = np.random.default_rng(5)
        self.nodes, self.constants = [], []
        self.inputs, self.outputs = [], []

    def given(self, name, *shape):
        value = self.random.integers(-4, 5, shape).astype(np.float32)
        self.inputs.append((name, value))
        return value

    def indices(self, name, size, *shape):
        """From -size - 1 to size: two of them are out of range."""
        value = self.random.integers(-size - 1, size + 1, shape)
        self.inputs.append((name, value))
        return value

    def axis(self, value):
        self.constants.append(numpy_helper.from_array(
            np.array(value, np.int64), "axis%d" % len(self.constants)))
        return self.constants[-1].name

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(make.make_node(kind, inputs.split(), [output],
                                         **attributes))

    def gives(self, name, value):
        self.outputs.append((name, value.astype(np.float32)))

    def write(self, folder):
        """Paths of the model and of its data."""
        values = [make.make_tensor_value_info(
            name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype),
            value.shape) for name, value in self.inputs + self.outputs]
        n = len(self.inputs)
        model = make.make_model(
            make.make_graph(self.nodes, "ordered", values[:n], values[n:],
                            self.constants),
            opset_imports=[make.make_opsetid("", 18)], ir_version=8)
        onnx.checker.check_model(model)
        path = os.path.join(folder, "ordered.onnx")
        onnx.save(model, path)
        return path, write_data(folder, self.inputs, self.outputs)


def running(x, axis, exclusive=False, reverse=False):
    x = np.flip(x, axis) if reverse else x
    y = np.cumsum(x, axis)
    y = y - x if exclusive else y
    return np.flip(y, axis) if reverse else y


HOW = {"none": lambda old, new: new, "add": lambda old, new: old + new,
       "max": max, "min": min}


def scatter(x, places, updates, how):
    """places: of each update, an index per dimension of y that has one."""
    y = x.copy()
    for place, update in zip(places, updates):
        if all(-n <= k < n for k, n in zip(place, x.shape)):
            for at in np.ndindex(np.shape(update)):
                y[tuple(place) + at] = HOW[how](y[tuple(place) + at],
                                                update[at])
    return y


def sums(m):
    x = m.given("long", 96, 640)
    m.node("CumSum", "long " + m.axis(0), "down")
    m.gives("down", running(x, 0))
    x = m.given("wide", 5, 700)
    m.node("Abs", "wide", "positive")
    m.node("CumSum", "positive " + m.axis(1), "behind", exclusive=1,
           reverse=1)
    m.node("Neg", "behind", "below")
    m.node("Add", "below wide", "across")
    m.gives("across", x - running(abs(x), 1, True, True))
    x = m.given("cube", 3, 7, 20)
    m.node("CumSum", "cube " + m.axis(-2), "middle", reverse=1)
    m.gives("middle", running(x, 1, reverse=True))
    x = m.given("line", 300)
    m.node("CumSum", "line " + m.axis(0), "one")
    m.gives("one", running(x, 0))


def updates(m):
    x, i = m.given("rows", 40, 48), m.indices("which", 40, 90, 1)
    u = m.given("news", 90, 48)
    m.node("ScatterND", "rows which news", "largest", reduction="max")
    m.gives("largest", scatter(x, i, u, "max"))
    m.node("Relu", "rows", "relu")
    m.node("ScatterND", "relu which news", "replaced")
    m.node("Relu", "replaced", "again")
    m.gives("again", np.maximum(scatter(np.maximum(x, 0), i, u, "none"), 0))
    x, i = m.given("field", 300, 20), m.indices("points", 20, 9, 50, 2)
    u = m.given("values", 9, 50)
    for how in ("none", "add"):
        m.node("ScatterND", "field points values", "at_" + how, reduction=how)
        m.gives("at_" + how, scatter(x, i.reshape(-1, 2), u.reshape(-1), how))
    y, i = m.given("boxes", 64, 32, 16), m.indices("pairs", 32, 40, 2)
    u = m.given("slices", 40, 16)
    m.node("ScatterND", "boxes pairs slices", "sliced", reduction="add")
    m.gives("sliced", scatter(y, i, u, "add"))
    for axis in (0, 1):
        i = m.indices("along%d" % axis, x.shape[axis], 25, 18)
        u = m.given("given%d" % axis, 25, 18)
        places = [[i[at], at[1]] if axis == 0 else [at[0], i[at]]
                  for at in np.ndindex(i.shape)]
        m.node("ScatterElements", "field along%d given%d" % (axis, axis),
               "elements%d" % axis, axis=axis,
               reduction="min" if axis else "add")
        m.gives("elements%d" % axis, scatter(
            x, places, u.reshape(-1), "min" if axis else "add"))


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    sums(m)
    updates(m)
    return m.write(folder)
