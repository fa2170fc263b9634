# SPDX-License-Identifier: Apache-2.0
"""Rules for operators that move elements, make shapes, or look elements up."""
import numpy as np

import values
from maker import MOST_ELEMENTS, SYMBOL
from reference import Rejected
from large import CONST, F, I, IMAGE, ROW, case, floats, ints


def axis_of(g, x, low=None):
    rank = g.value(x).ndim
    return g.number(-rank if low is None else low, rank - 1)


def moves(op):
    def rule(g):
        g.node(op, [g.data(g.types(op))])
    return rule


def shape_of(g):
    x = g.data(g.types("Shape"))
    more = {}
    if g.chance(0.4):
        more["start"] = g.number(-5, 5)
    if g.chance(0.4):
        more["end"] = g.number(-5, 5)
    g.node("Shape", [x], **more)


def reshape(g):
    x = g.data(g.types("Reshape"))
    shape = list(g.value(x).shape)
    target = []
    for size in shape:  # merge or split sizes
        if target and g.chance(0.4) and size != SYMBOL and \
                target[-1] != SYMBOL:
            target[-1] *= size
        elif size > 3 and size % 2 == 0 and g.chance(0.3):
            target += [2, size // 2]
        else:
            target.append(size)
    if g.chance(0.3):
        target.insert(g.number(0, len(target)), 1)
    more = {}
    if 0 in shape:
        more["allowzero"] = 1
    else:
        for i, size in enumerate(target):
            if i < len(shape) and shape[i] == size and \
                    (size == SYMBOL or g.chance(0.2)):
                target[i] = 0
        if g.chance(0.5) and target:
            i = target.index(SYMBOL) if SYMBOL in target \
                else g.number(0, len(target) - 1)
            target[i] = -1
    g.node("Reshape", [x, g.constant(target)], **more)


def flatten(g):
    x = g.data(g.types("Flatten"))
    rank = g.value(x).ndim
    g.node("Flatten", [x], axis=g.number(-rank, rank))


def squeeze(g):
    x = g.data(g.types("Squeeze"), accept=lambda s: 1 in s)
    shape = g.value(x).shape
    axes = [d - (len(shape) if g.chance() else 0)
            for d, n in enumerate(shape) if n == 1 and g.chance(0.7)]
    g.node("Squeeze", [x, g.constant(axes)] if axes else [x])


def unsqueeze(g):
    x = g.data(g.types("Unsqueeze"), high=3)
    count = g.number(1, 2)
    rank = g.value(x).ndim + count
    axes = [int(d) - (rank if g.chance() else 0)
            for d in g.rng.permutation(rank)[:count]]
    g.node("Unsqueeze", [x, g.constant(axes)])


def symbolic_size(g):
    """A tensor of one element: the symbolic size of another tensor."""
    x = g.data(g.types("Shape"), 1, 4, lambda s: SYMBOL in s)
    axis = g.value(x).shape.index(SYMBOL)
    return g.node("Shape", [x], start=axis, end=axis + 1)


def symbolic_shape(g):
    size = symbolic_size(g)
    if g.chance():
        return size
    pair = [size, g.constant([g.size(9)])]
    return g.node("Concat", pair if g.chance() else pair[::-1], axis=0)


def constant_of_shape(g):
    """tirc folds a ConstantOfShape whose sizes are known; a symbolic size
    makes it a kernel."""
    shape = g.constant(g.shape(0, 3))
    if g.graph.symbolic and g.chance(0.8):
        shape = symbolic_shape(g)
    elif g.chance(0.2):
        found = g.take(lambda v: v.dtype.name == "int64" and v.ndim == 1 and
                       v.size < 4 and (v > 0).all() and
                       v.prod() < MOST_ELEMENTS)
        shape = found or shape
    more = {}
    if g.chance(0.8):
        from onnx import numpy_helper
        kind = g.type(values.CLASSES["NUMBER"] + ["bool"])
        more["value"] = numpy_helper.from_array(
            values.random(g.rng, kind, [1]), "v")
    g.node("ConstantOfShape", [shape], **more)


def range_of(g):
    """tirc folds a Range of constants; a limit that is a symbolic size makes it
    a kernel. Other limits are refused: the size would depend on data."""
    if g.graph.symbolic and g.chance(0.8):
        limit = g.node("Squeeze", [symbolic_size(g), g.constant([0])])
        usual = g.chance(0.7)
        g.node("Range", [
            g.constant(0 if usual else g.number(-3, 1)), limit,
            g.constant(1 if usual else g.number(1, 3))])
        return
    kind = g.choice(["int32", "int64", "float32", "float64", "int16"])
    start, step = g.number(-9, 9), g.choice([-3, -1, 1, 2, 4])
    stop = start + step * g.number(0, 20)
    if kind.startswith("f"):
        start, step, stop = start / 4, step / 4, stop / 4 + 0.05
    g.node("Range", [g.constant(v, values.DTYPES[kind])
                     for v in (start, stop, step)])


def eye_like(g):
    x = g.data(g.types("EyeLike"), 2, 2)
    more = {"k": g.number(-3, 3)} if g.chance() else {}
    if g.chance():
        more["dtype"] = values.CODES[g.type(
            ["float32", "int32", "int64", "uint8", "float64", "float16"])]
    g.node("EyeLike", [x], **more)


def expand(g):
    x = g.data(g.types("Expand"), accept=lambda s: np.prod(s) < 600)
    shape = [g.choice([1, 1, 2, 3]) if n == 1 else n
             for n in g.value(x).shape]
    target = [1 if g.chance(0.2) or n == SYMBOL else n for n in shape]
    if g.chance(0.3):
        target.insert(0, g.number(1, 3))
    elif g.chance(0.2):
        target = target[g.number(0, len(target)):]
    g.node("Expand", [x, g.constant(target)])


def tile(g):
    x = g.data(g.types("Tile"), 1, 4, lambda s: np.prod(s) < 400)
    g.node("Tile", [x, g.constant([g.choice([1, 1, 2, 3])
                                   for _ in g.value(x).shape])])


def transpose(g):
    x = g.data(g.types("Transpose"), high=5)
    rank = g.value(x).ndim
    more = {"perm": [int(d) for d in g.rng.permutation(rank)]} \
        if rank and g.chance(0.85) else {}
    g.node("Transpose", [x], **more)


def concat(g):
    x = g.data(g.types("Concat"), 1, 4)
    shape = list(g.value(x).shape)
    axis = g.number(0, len(shape) - 1)
    inputs = [x]
    for _ in range(g.number(0, 3)):
        other = list(shape)
        if shape[axis] != SYMBOL:
            other[axis] = g.number(0 if g.chance(0.1) else 1, 5)
        inputs.append(g.exact(g.dtype(x), other))
    g.node("Concat", inputs, axis=axis - (len(shape) if g.chance() else 0))


def split(g):
    x = g.data(g.types("Split"), 1, 4)
    shape = g.value(x).shape
    axis = axis_of(g, x)
    size = shape[axis]
    if g.chance(0.5):
        count = g.number(1, min(4, max(size, 1)))
        g.node("Split", [x], count, axis=axis, num_outputs=count)
        return
    cuts = sorted(int(c) for c in g.rng.integers(0, size + 1,
                                                 g.number(0, 3)))
    parts = np.diff([0] + cuts + [size]).tolist()
    names = g.node("Split", [x, g.constant(parts)], len(parts), axis=axis)
    if len(parts) > 1 and g.chance(0.3):  # a part that no node reads
        g.graph.tensors[names[g.number(0, len(names) - 1)]].read = True


def blocks(op):
    def rule(g):
        block = g.number(2, 3)
        wide = block * block if op == "DepthToSpace" else 1
        high = 1 if op == "DepthToSpace" else block
        x = g.data(g.types(op), 4, 4, lambda s: s[1] % wide == 0 and
                   s[2] % high == 0 and s[3] % high == 0)
        more = {"mode": g.choice(["DCR", "CRD"])} \
            if op == "DepthToSpace" else {}
        g.node(op, [x], blocksize=block, **more)
    return rule


def slices(g):
    x = g.data(g.types("Slice"), 1, 5)
    shape = g.value(x).shape
    axes = [int(d) for d in g.rng.permutation(len(shape))
            [:g.number(1, len(shape))] if shape[d] != SYMBOL]
    if not axes:
        raise Rejected("nothing to slice")
    starts, ends, steps = [], [], []
    for axis in axes:
        size = shape[axis]
        step = g.choice([1, 1, 1, 2, 3, -1, -2])
        starts.append(g.number(-size - 2, size + 2))
        ends.append(g.choice([g.number(-size - 2, size + 2), 2 ** 31 - 1,
                              -2 ** 31]))
        steps.append(step)
    kind = g.choice([np.int64, np.int64, np.int32])
    inputs = [x, g.constant(starts, kind), g.constant(ends, kind)]
    if axes != list(range(len(axes))) or g.chance():
        signed = [d - (len(shape) if g.chance() else 0) for d in axes]
        inputs.append(g.constant(signed, kind))
        if any(s != 1 for s in steps) or g.chance():
            inputs.append(g.constant(steps, kind))
    elif any(s != 1 for s in steps):
        inputs += [None, g.constant(steps, kind)]
    g.node("Slice", inputs)


def pad(g):
    x = g.data(g.types("Pad"), 1, 4)
    shape = g.value(x).shape
    mode = g.choice(["constant", "constant", "reflect", "edge", "wrap"])
    axes = list(range(len(shape)))
    if g.chance(0.3):
        axes = [int(d) for d in g.rng.permutation(len(shape))
                [:g.number(1, len(shape))]]
    low = -1 if mode == "constant" and g.chance(0.3) else 0
    begin, end = [], []
    for d in axes:
        most = 3 if mode == "constant" else min(3, max(shape[d] - 1, 0))
        if shape[d] == SYMBOL:
            most = 0
        begin.append(g.number(min(low, most), most))
        end.append(g.number(min(low, most), most))
    inputs = [x, g.constant(begin + end), None]
    if mode == "constant" and g.chance(0.7):
        inputs[2] = g.exact(g.dtype(x), [], "plain")
    if axes != list(range(len(shape))):
        inputs.append(g.constant([d - (len(shape) if g.chance() else 0)
                                  for d in axes]))
    while inputs[-1] is None:
        inputs.pop()
    g.node("Pad", inputs, mode=mode)


def center_crop_pad(g):
    x = g.data(g.types("CenterCropPad"), 1, 4)
    shape = g.value(x).shape
    axes = [int(d) for d in g.rng.permutation(len(shape))
            if shape[d] < SYMBOL][:g.number(1, len(shape))]
    if not axes:
        return
    sizes = [max(0, shape[d] + g.number(-3, 3)) for d in axes]
    more = {} if axes == list(range(len(shape))) else {"axes": [
        d - (len(shape) if g.chance() else 0) for d in axes]}
    g.node("CenterCropPad", [x, g.constant(sizes)], **more)


def trilu(g):
    x = g.data(g.types("Trilu"), 2, 4)
    inputs = [x] + ([g.constant(g.number(-4, 4))] if g.chance(0.6) else [])
    g.node("Trilu", inputs, upper=g.number(0, 1))


def cumulate(op):
    def rule(g):
        x = g.data(g.types(op), 1, 4)
        g.node(op, [x, g.constant(axis_of(g, x), g.choice(
            [np.int64, np.int32]))], exclusive=g.number(0, 1),
            reverse=g.number(0, 1))
    return rule


def one_hot(g):
    depth = g.number(1, 9)
    shape = g.shape(0, 2)
    kind = g.choice(["int64", "int32", "float32"])
    x = g.exact(kind, shape, "plain")
    pair = g.fresh(g.type(["float32", "int64", "int32", "float64", "uint8"]),
                   [2], "plain", g.chance())
    g.node("OneHot", [x, g.constant(depth, np.int64), pair],
           axis=g.number(-len(shape) - 1, len(shape)))


def reverse_sequence(g):
    x = g.data(g.types("ReverseSequence"), 2, 4,
               lambda s: 0 not in s[:2] and s[0] != SYMBOL)
    time = g.number(0, 1)
    shape = g.value(x).shape
    lengths = g.rng.integers(1, shape[time] + 1, shape[1 - time])
    lengths = g.add(lengths.astype(np.int64),
                    "constant" if g.chance() or SYMBOL in shape else "input")
    g.node("ReverseSequence", [x, lengths], time_axis=time,
           batch_axis=1 - time)


def indices(g, shape, size, kind="int64"):
    """Indices in range, counted from either end; an input or a constant."""
    if size == 0:
        raise Rejected("nothing to index")
    array = g.rng.integers(-size, size, shape).astype(kind)
    return g.add(np.asarray(array), "constant" if g.chance() else "input")


def gather(g):
    x = g.data(g.types("Gather"), 1, 4, lambda s: np.prod(s) < 800)
    axis = axis_of(g, x)
    size = g.value(x).shape[axis]
    if size == SYMBOL:
        raise Rejected("indices into what is symbolic")
    g.node("Gather", [x, indices(g, g.shape(0, 2)[:2], size,
                                 g.choice(["int64", "int32"]))], axis=axis)


def gather_elements(g):
    x = g.data(g.types("GatherElements"), 1, 4)
    axis = axis_of(g, x)
    shape = list(g.value(x).shape)
    size = shape[axis]
    shape[axis] = g.number(1, 6)
    if SYMBOL in shape + [size]:
        raise Rejected("indices into what is symbolic")
    g.node("GatherElements", [x, indices(g, shape, size)], axis=axis)


def tuples(g, shape, batch, count):
    """Indices of `count` leading dimensions behind `batch` others."""
    some = list(shape[:batch]) + [g.number(1, 4)]
    if 0 in shape or SYMBOL in shape:
        raise Rejected("nothing to index")
    columns = [g.rng.integers(-n, n, some)
               for n in shape[batch:batch + count]]
    return np.stack(columns, -1).astype(np.int64)


def gather_nd(g):
    x = g.data(g.types("GatherND"), 1, 4)
    shape = g.value(x).shape
    batch = g.number(0, min(1, len(shape) - 1))
    array = tuples(g, shape, batch, g.number(1, len(shape) - batch))
    g.node("GatherND", [x, g.add(array, "constant" if g.chance()
                                 else "input")], batch_dims=batch)


def reductions(g, kind):
    options = ["none", "add", "mul", "max", "min"]
    return g.choice(options[:1] if kind == "bool" else options)


def scatter_elements(g):
    x = g.data(g.types("ScatterElements"), 1, 3)
    shape = list(g.value(x).shape)
    axis = axis_of(g, x)
    if SYMBOL in shape or 0 in shape:
        raise Rejected("indices into what is symbolic")
    how = reductions(g, g.dtype(x))
    size = shape[axis]
    part = [g.number(1, n) for n in shape]
    part[axis] = g.number(1, size if how == "none" else size + 2)
    if how == "none":  # each element at most once
        array = np.argsort(g.rng.random(part[:axis] + [size] +
                                        part[axis % len(part) + 1:]),
                           axis) if axis >= 0 else \
            np.argsort(g.rng.random(
                part[:axis] + [size] + (part[axis + 1:] if axis != -1
                                        else [])), axis)
        array = np.take(array, range(part[axis]), axis)
        array = np.where(g.rng.random(array.shape) < 0.3, array - size, array)
    else:
        array = g.rng.integers(-size, size, part)
    where = g.add(array.astype(np.int64),
                  "constant" if g.chance() else "input")
    more = {} if how == "none" and g.chance() else {"reduction": how}
    g.node("ScatterElements", [x, where, g.exact(g.dtype(x), array.shape)],
           axis=axis, **more)


def scatter_nd(g):
    x = g.data(g.types("ScatterND"), 1, 4)
    shape = g.value(x).shape
    count = g.number(1, len(shape))
    how = reductions(g, g.dtype(x))
    array = tuples(g, shape, 0, count)
    if how == "none":
        array = np.unique(array % np.array(shape[:count]), axis=0)
        g.rng.shuffle(array)
    updates = g.exact(g.dtype(x), list(array.shape[:-1]) +
                      list(shape[count:]))
    more = {} if how == "none" and g.chance() else {"reduction": how}
    g.node("ScatterND", [x, g.add(array, "constant" if g.chance()
                                  else "input"), updates], **more)


def tensor_scatter(g):
    batch, places, size = g.number(1, 3), g.number(1, 6), g.number(1, 4)
    shape = [batch, places, size]
    kind = g.choice(["float32", "float64", "float16"])
    tokens = g.number(1, places)
    mode = g.choice(["linear", "circular"])
    last = places - tokens if mode == "linear" else places - 1
    at = g.rng.integers(0, last + 1, batch)
    inputs = [g.exact(kind, shape), g.exact(kind, [batch, tokens, size])]
    if g.chance(0.8):
        inputs.append(g.add(at, "constant" if g.chance() else "input"))
    g.node("TensorScatter", inputs, mode=mode)


RULES = {
    "Shape": shape_of, "Size": moves("Size"), "Reshape": reshape,
    "Flatten": flatten, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
    "ConstantOfShape": constant_of_shape, "Range": range_of,
    "EyeLike": eye_like, "Expand": expand, "Tile": tile,
    "Transpose": transpose, "Concat": concat, "Split": split,
    "DepthToSpace": blocks("DepthToSpace"),
    "SpaceToDepth": blocks("SpaceToDepth"), "Slice": slices, "Pad": pad,
    "CenterCropPad": center_crop_pad,
    "Trilu": trilu, "CumSum": cumulate("CumSum"),
    "CumProd": cumulate("CumProd"), "OneHot": one_hot,
    "ReverseSequence": reverse_sequence, "Gather": gather,
    "GatherElements": gather_elements, "GatherND": gather_nd,
    "ScatterElements": scatter_elements, "ScatterND": scatter_nd,
    "TensorScatter": tensor_scatter}

# One node of the size that models have, for tests/ops/work.py.
LARGE = {
    "Shape": case([ROW]),
    "Size": case([ROW]),
    "Reshape": case([ROW, ints(512, 64)]),
    "Flatten": case([IMAGE]),
    "Squeeze": case([IMAGE, ints(0)]),
    "Unsqueeze": case([ROW, ints(0)]),
    "ConstantOfShape": case([ints(64, 512)]),
    "Range": case([floats(), np.float32(2000), np.float32(1)]),
    "EyeLike": case([(F, [256, 256])]),
    "Expand": case([(F, [64, 1]), ints(64, 512)]),
    "Tile": case([ROW, ints(2, 3)]),
    "Transpose": case([IMAGE], perm=[0, 2, 3, 1]),
    "Concat": case([ROW, ROW, ROW], axis=1),
    "Split": case([ROW], outputs=4, axis=1, num_outputs=4),
    "DepthToSpace": case([IMAGE], blocksize=2),
    "SpaceToDepth": case([IMAGE], blocksize=2),
    "Slice": case([ROW, ints(3), ints(400), ints(1), ints(2)]),
    "Pad": case([IMAGE, ints(0, 0, 1, 1, 0, 0, 2, 2)]),
    "CenterCropPad": case([IMAGE, ints(1, 16, 30, 50)]),
    "Trilu": case([(F, [256, 256])]),
    "CumSum": case([ROW, CONST(1)]),
    "CumProd": case([ROW, CONST(0)]),
    "OneHot": case([(I, [64]), CONST(512), floats(2)]),
    "ReverseSequence": case([(F, [64, 32, 8]), (I, [32])]),
    "Gather": case([ROW, (I, [200])]),
    "GatherElements": case([ROW, (I, [64, 512])], axis=1),
    "GatherND": case([ROW, (I, [300, 1])]),
    "ScatterElements": case([ROW, (I, [60, 500]), (F, [60, 500])], axis=1,
        reduction="add"),
    "ScatterND": case([ROW, (I, [60, 500, 2]), (F, [60, 500])]),
    "TensorScatter": case([(F, [4, 64, 512]), (F, [4, 8, 512]), (I, [4])]),
}
