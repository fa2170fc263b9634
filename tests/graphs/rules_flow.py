# SPDX-License-Identifier: Apache-2.0
"""Rules for branches, loops, and sizes that are known only when the model runs.
The masks, boxes and counts are inputs or constants, which no run moves, so that
sizes are the same in all runs."""
import numpy as np
from onnx import helper as make

import values
from maker import MOST_ELEMENTS, SYMBOL

WHOLE = ["int32", "int64"]


def mask(g, shape):
    return g.add(g.rng.random(shape) < g.choice([0, 0.3, 0.7, 1]), "input")


def non_zero(g):
    kind = g.choice(["bool", "float32", "int32", "int64", "uint8"])
    return g.node("NonZero", [g.fresh(kind, g.shape(1, 3), constant=False)])


def compress(g):
    x = g.data(WHOLE + ["float32"], 1, 3, lambda shape: 0 not in shape)
    shape = g.value(x).shape
    if g.chance(0.3) and SYMBOL not in shape:
        return g.node("Compress", [x, mask(g, [g.value(x).size])])
    axis = g.number(0, len(shape) - 1)
    most = shape[axis] if shape[axis] != SYMBOL else 1
    return g.node("Compress", [x, mask(g, [g.number(1, most)])], axis=axis)


def unique(g):
    """Of types that onnxruntime has: onnx.reference sorts, whatever the node
    says, where only the values are asked."""
    shape = [max(1, size) for size in g.shape(1, 3)]
    x = g.add(g.rng.integers(-3, 4, shape).astype(
        g.choice(["int64", "float32"])), "input")
    more = {"axis": g.number(0, len(shape) - 1)} if g.chance(0.6) else {}
    return g.node("Unique", [x], g.number(1, 4), sorted=g.number(0, 1),
                  **more)


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
    return g.node("Range", [g.add(np.array(v, kind), "input") for v in (
        start, start + step * g.number(0, 12) + g.choice([0, np.sign(step)]),
        step)])


def given_k(g):
    """A TopK whose k is an input."""
    x = g.data(g.types("TopK"), 1, 3, lambda s: 0 not in s, "integers")
    shape = g.value(x).shape
    axis = g.number(0, len(shape) - 1)
    k = np.array([g.number(0 if g.chance(0.2) else 1, shape[axis])])
    return g.node("TopK", [x, g.add(k, "input")], 2, axis=axis,
                  largest=g.number(0, 1))


def given_shape(g):
    """An operator whose sizes are an input."""
    op = g.choice(["Expand", "Tile", "Reshape", "ConstantOfShape"])
    if op == "ConstantOfShape":
        target = g.shape(1, 3)
        inputs = []
    else:
        x = g.data(WHOLE + ["float32"], 1, 3,
                   lambda s: SYMBOL not in s and np.prod(s) < 300)
        shape = list(g.value(x).shape)
        inputs = [x]
        target = {"Expand": [g.number(1, 5) if n == 1 else n for n in shape],
                  "Tile": [g.number(0 if g.chance(0.1) else 1, 3)
                           for _ in shape],
                  "Reshape": shape[::-1]}[op]
    more = {"allowzero": 1} if op == "Reshape" and 0 in target else {}
    return g.node(op, inputs + [g.add(np.array(target, np.int64), "input")],
                  **more)


def part(g):
    """A Slice whose starts and ends are inputs."""
    x = g.data(WHOLE + ["float32"], 1, 3, lambda s: 0 not in s)
    shape = g.value(x).shape
    axes = [int(d) for d in g.rng.permutation(len(shape))][
        :g.number(1, len(shape))]
    starts, ends, steps = zip(*[
        (g.number(-shape[d] - 1, shape[d] + 1),
         g.number(-shape[d] - 1, shape[d] + 1),
         g.choice([1, 1, 2, -1, -3])) for d in axes])
    given = [g.add(np.array(v), "input") for v in (starts, ends)]
    if g.chance(0.3):
        given[0] = g.constant(list(starts))
    return g.node("Slice", [x, *given, g.constant(axes),
                            g.constant(list(steps))])


def given_size(g):
    """A Resize to sizes, or by scales, that are an input."""
    x = g.data(["float32"], 2, 4,
               lambda s: 0 not in s and SYMBOL not in s and np.prod(s) < 300)
    sizes = [max(1, n + g.number(-2, 3)) for n in g.value(x).shape]
    if len(sizes) > 2:
        sizes[:-2] = g.value(x).shape[:-2]
    if g.chance(0.4):
        scales = [1 if size == n else g.choice([0.5, 1.5, 2, 3])
                  for size, n in zip(sizes, g.value(x).shape)]
        return g.node("Resize", [x, "", g.add(np.float32(scales), "input")],
                      mode=g.choice(["linear", "nearest", "cubic"]),
                      coordinate_transformation_mode=g.choice(
                          ["asymmetric", "half_pixel"]), nearest_mode="floor")
    return g.node("Resize", [x, "", "", g.add(np.array(sizes), "input")],
                  mode=g.choice(["linear", "nearest"]),
                  coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor")


def run_sized(g):
    """A tensor with a size that is known when the model runs, and what reads
    it: operators on elements, sums, and indices."""
    made = g.choice([non_zero, compress, unique, numbers, given_k,
                     given_shape, given_size, part])(g)
    name = made if isinstance(made, str) else g.choice(made)
    for _ in range(g.number(1, 3)):
        if g.value(name).dtype == bool:
            break
        name = g.choice(READERS)(g, name)


def elements(g, x):
    kind = g.dtype(x)
    op = g.choice(["Abs", "Neg", "Cast", "Add", "Mul", "Max", "Where"])
    if op == "Cast":
        return g.node(op, [x], to=values.CODES[g.choice(
            ["float32", "int64"])])
    if op in ("Abs", "Neg"):
        return g.node(op, [x])
    other = g.choice([x, g.fresh(kind, g.choice([[], [1]]), "plain")])
    if op == "Where":
        return g.node(op, [g.node("Less", [x, g.fresh(kind, [], "plain")]),
                           x, other])
    return g.node(op, [x, other])


def along(g, x):
    """An operator along an axis, or all of them."""
    rank = g.value(x).ndim
    if rank == 0:
        return elements(g, x)
    op = g.choice(["ReduceSum", "ReduceMax", "CumSum", "ArgMax", "Softmax",
                   "Transpose", "Concat", "Slice", "TopK", "MatMul"])
    axis = g.number(-rank, rank - 1)
    if op.startswith("Reduce"):
        return g.node(op, [x, g.constant([axis])], keepdims=g.number(0, 1))
    if op == "CumSum":
        return g.node(op, [x, g.constant(axis)])
    if op == "Softmax":
        x = g.node("Cast", [x], to=values.CODES["float32"])
    if op in ("ArgMax", "Softmax"):
        return g.node(op, [x], axis=axis)
    if op == "Transpose":
        return g.node(op, [x])
    if op == "Concat":
        return g.node(op, [x, x] if g.chance() else [
            x, g.fresh(g.dtype(x), [2 if d == axis % rank else n for d, n in
                                    enumerate(g.value(x).shape)])], axis=axis)
    if op == "Slice":
        return g.node(op, [x, g.constant([g.number(-3, 2)]),
                           g.constant([g.number(1, 9)]),
                           g.constant([axis])])
    if op == "TopK":
        return g.node(op, [x, g.constant([1])], 2, axis=axis)[0]
    return g.node("MatMul", [x, g.node("Transpose", [x])])


def indices(g, x):
    """Elements at places that the tensor gives, or of it."""
    value = g.value(x)
    if value.dtype.kind == "i" and g.chance(0.7):
        size = 12
        whole = g.node("Mod", [x, g.constant(size, value.dtype)])
        return g.node("Gather", [g.fresh("float32", [size, 3]), whole],
                      axis=0)
    if value.ndim == 0 or 0 in value.shape:
        return elements(g, x)
    return g.node("Gather", [x, g.constant([0, -1])],
                  axis=g.number(0, value.ndim - 1))


READERS = [elements, along, indices]


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
       "tirc.Resize": given_size,
       "tirc.Part": part, "tirc.SliceCount": part, "tirc.SliceStart": part,
       "tirc.Copy": conditional, "tirc.EndIf": conditional,
       "tirc.Carry": loop, "tirc.EndLoop": loop, "tirc.Iteration": loop,
       "tirc.ScanInput": scan}
LIST = [non_zero, compress, unique, suppression, numbers, conditional, loop,
        scan, given_k, given_shape, given_size, part, run_sized, run_sized]
