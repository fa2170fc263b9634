# SPDX-License-Identifier: Apache-2.0
"""Rules for branches, loops, and sizes that are known only when the model runs.
The masks, boxes and counts are inputs or constants, which no run moves, so that
sizes are the same in all runs."""
import numpy as np
from onnx import helper as make

import values
from maker import MOST_ELEMENTS

WHOLE = ["int32", "int64"]


def mask(g, shape):
    return g.add(g.rng.random(shape) < g.choice([0, 0.3, 0.7, 1]), "input")


def non_zero(g):
    kind = g.choice(["bool", "float32", "int32", "int64", "uint8"])
    g.node("NonZero", [g.fresh(kind, g.shape(1, 3), constant=False)])


def compress(g):
    x = g.data(WHOLE + ["float32"], 1, 3, lambda shape: 0 not in shape)
    shape = g.value(x).shape
    if g.chance(0.3):
        g.node("Compress", [x, mask(g, [g.value(x).size])])
        return
    axis = g.number(0, len(shape) - 1)
    g.node("Compress", [x, mask(g, [g.number(1, shape[axis])])], axis=axis)


def unique(g):
    """Of types that onnxruntime has: onnx.reference sorts, whatever the node
    says, where only the values are asked."""
    shape = [max(1, size) for size in g.shape(1, 3)]
    x = g.add(g.rng.integers(-3, 4, shape).astype(
        g.choice(["int64", "float32"])), "input")
    more = {"axis": g.number(0, len(shape) - 1)} if g.chance(0.6) else {}
    g.node("Unique", [x], g.number(1, 4), sorted=g.number(0, 1), **more)


def suppression(g):
    """Corners at quarters, so that overlaps are exact."""
    batch, classes, count = g.number(1, 2), g.number(1, 2), g.number(1, 20)
    corner = g.rng.integers(0, 40, (batch, count, 2)) / 4
    sides = g.rng.integers(1, 20, (batch, count, 2)) / 4
    boxes = np.concatenate([corner, corner + sides], -1).astype(np.float32)
    scores = g.rng.permutation(batch * classes * count).reshape(
        batch, classes, count).astype(np.float32) / 64
    g.node("NonMaxSuppression", [
        g.add(boxes, "input"), g.add(scores, "input"),
        g.constant([g.number(1, count)]),
        g.constant([0.3], np.float32), g.constant([0.2], np.float32)])


def numbers(g):
    """A Range with inputs (native.py gives its --bound)."""
    start = g.number(-5, 5)
    step = g.choice([-3, -1, 1, 2])
    kind = g.choice(WHOLE)
    g.node("Range", [g.add(np.array(v, kind), "input") for v in (
        start, start + step * g.number(0, 12) + g.choice([0, np.sign(step)]),
        step)])


def value_of(name, array):
    return make.make_tensor_value_info(
        name, values.CODES[array.dtype.name], array.shape)


def conditional(g):
    """Branches that give constants."""
    kind = g.choice(WHOLE + ["float32"])
    shape = g.shape(0, 2, empty=False)
    branches = []
    for name in ("then", "else"):
        array = g.rng.integers(-9, 9, shape).astype(kind)
        branches.append(make.make_graph(
            [make.make_node("Constant", [], [name], value=make.make_tensor(
                name + "_value", values.CODES[kind], shape, array.ravel()))],
            name, [], [value_of(name, array)]))
    g.node("If", [g.add(np.array(g.chance()), "input")],
           then_branch=branches[0], else_branch=branches[1])


def loop(g):
    """A loop over whole numbers, by a count that is a constant or an input, with
    a state and, if the count is known, a result for each iteration."""
    kind = g.choice(WHOLE)
    shape = g.shape(1, 2, empty=False)
    count, known = g.number(0, 40), g.chance()
    count = min(count, MOST_ELEMENTS // max(1, int(np.prod(shape))))
    state = g.exact(kind, shape)
    like = g.value(state)
    nodes = [make.make_node("Cast", ["i"], ["n"], to=values.CODES[kind]),
             make.make_node("Add", ["s", "n"], ["t"]),
             make.make_node("Add", ["s", "t"], ["u"]),
             make.make_node("Identity", ["go"], ["on"])]
    body = make.make_graph(
        nodes, "body",
        [make.make_tensor_value_info("i", 7, []),
         make.make_tensor_value_info("go", 9, []), value_of("s", like)],
        [make.make_tensor_value_info("on", 9, []), value_of("u", like)] +
        ([value_of("t", like)] if known else []))
    g.node("Loop", [g.add(np.array(count, np.int64),
                          "constant" if known else "input"),
                    g.constant(True, bool), state], 1 + known, body=body)


def scan(g):
    """A sum along slices, from either end, and the sums on the way."""
    kind = g.choice(WHOLE)
    shape = g.shape(0, 2, empty=False)
    steps = g.number(1, 40)
    steps = max(1, min(steps, MOST_ELEMENTS // max(1, int(np.prod(shape)))))
    state, slices = g.exact(kind, shape), g.exact(kind, [steps] + shape)
    like = g.value(state)
    body = make.make_graph(
        [make.make_node("Add", ["s", "x"], ["t"]),
         make.make_node("Sub", ["x", "s"], ["u"])],
        "body", [value_of("s", like), value_of("x", like)],
        [value_of("t", like), value_of("u", like)])
    more = {} if g.chance() else {"scan_input_directions": [1],
                                  "scan_output_directions": [g.number(0, 1)]}
    g.node("Scan", [state, slices], 2, body=body, num_scan_inputs=1, **more)


# The rows of tirc's own that each rule leads to.
OWN = {"tirc.NonZero": non_zero, "tirc.CountNonZero": compress,
       "tirc.RunSize": non_zero, "tirc.Unique": unique,
       "tirc.NonMaxSuppression": suppression, "tirc.Range": numbers,
       "tirc.Copy": conditional, "tirc.EndIf": conditional,
       "tirc.Carry": loop, "tirc.EndLoop": loop, "tirc.Iteration": loop,
       "tirc.ScanInput": scan}
LIST = [non_zero, compress, unique, suppression, numbers, conditional, loop,
        scan]
