# SPDX-License-Identifier: Apache-2.0
"""Random models of nodes that move elements: what tests of operators and of
emitted code share."""
import numpy as np
from onnx import TensorProto, numpy_helper
from onnx import helper as make

OPSET = 21


class Batch:
    """A model under construction; every node's outputs are the model's."""

    def __init__(self, rng, as_inputs):
        self.rng = rng
        self.as_inputs = as_inputs
        self.nodes, self.initializers = [], []
        self.inputs, self.values = [], {}

    def constant(self, value):
        name = "c%d" % len(self.initializers)
        self.initializers.append(
            numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def data(self, shape, dtype=np.float32):
        """What a model computes with: an initializer, or an input."""
        return self.feed(self.rng.integers(-50, 50, size=shape).astype(dtype))

    def feed(self, value):
        if not self.as_inputs:
            return self.constant(value)
        value = np.array(value, order="C")
        name = "x%d" % len(self.inputs)
        self.inputs.append(make.make_tensor_value_info(
            name, make.np_dtype_to_tensor_dtype(value.dtype), value.shape))
        self.values[name] = value
        return name

    def ints(self, values):
        return self.constant(np.array(values, np.int64))

    def add(self, op, inputs, outputs=1, **attributes):
        names = ["%s_%d_%d" % (op, len(self.nodes), k)
                 for k in range(outputs)]
        self.nodes.append(make.make_node(op, inputs, names, **attributes))

    def shape(self, low=1, high=5, rank=None, least=1, most=6):
        rank = int(self.rng.integers(low, high)) if rank is None else rank
        return [int(d) for d in self.rng.integers(least, most, size=rank)]

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]


def factors(rng, n, rank):
    shape = [1] * rank
    for prime in (2, 3, 5, 7):
        while n % prime == 0:
            shape[int(rng.integers(rank))] *= prime
            n //= prime
    return shape


def add_reshape(b):
    total = int(b.pick(12, 24, 36, 60, 72, 120, 210))
    before = factors(b.rng, total, int(b.rng.integers(1, 5)))
    after = factors(b.rng, total, int(b.rng.integers(1, 5)))
    if b.rng.random() < 0.5:
        after[int(b.rng.integers(len(after)))] = -1
    b.add("Reshape", [b.data(before), b.ints(after)])


def add_slice(b):
    shape = b.shape()
    starts = b.rng.integers(-8, 8, size=len(shape))
    ends = b.rng.integers(-8, 8, size=len(shape))
    steps = [b.pick(1, 1, 2, 3, -1, -2, -3) for _ in shape]
    axes = b.rng.permutation(len(shape))
    size = np.zeros(shape)[tuple(
        slice_of(shape, axes, starts, ends, steps))].size
    if size == 0:
        return
    axes = [int(a) - len(shape) if b.rng.random() < 0.3 else int(a)
            for a in axes]
    ends = [b.pick(int(e), 2 ** 63 - 1) if step > 0 and e > 4 else
            b.pick(int(e), -2 ** 63) if step < 0 and e < -6 else int(e)
            for e, step in zip(ends, steps)]
    b.add("Slice", [b.data(shape), b.ints(starts), b.ints(ends),
                    b.ints(axes), b.ints(steps)])


def slice_of(shape, axes, starts, ends, steps):
    result = [slice(None)] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps):
        result[axis] = slice(int(start), int(end), int(step))
    return result


def add_pad(b):
    shape = b.shape(least=2)
    mode = b.pick("constant", "reflect", "edge", "wrap")
    pads = b.rng.integers(-1 if mode == "constant" else 0,
                          4 if mode == "constant" else 2,
                          size=2 * len(shape))
    inputs = [b.data(shape), b.ints(pads)]
    if mode == "constant" and b.rng.random() < 0.5:
        inputs.append(b.constant(np.array(7, np.float32)))
    if mode == "constant" and min(pads) < 0:
        return  # the reference has no negative pads
    b.add("Pad", inputs, mode=mode)


def add_transpose(b):
    shape = b.shape()
    b.add("Transpose", [b.data(shape)],
          perm=[int(p) for p in b.rng.permutation(len(shape))])


def add_concat(b):
    shape = b.shape()
    axis = int(b.rng.integers(len(shape)))
    inputs = []
    for _ in range(int(b.rng.integers(1, 5))):
        shape[axis] = int(b.rng.integers(1, 5))
        inputs.append(b.data(shape))
    b.add("Concat", inputs, axis=axis - b.pick(0, len(shape)))


def add_split(b):
    shape = b.shape(least=3, most=9)
    axis = int(b.rng.integers(len(shape)))
    if b.rng.random() < 0.5:
        b.add("Split", [b.data(shape)], 2, axis=axis, num_outputs=2)
    else:
        sizes = [1, shape[axis] - 2, 1]
        b.add("Split", [b.data(shape), b.ints(sizes)], 3, axis=axis)


def add_gather(b):
    shape = b.shape()
    axis = int(b.rng.integers(len(shape)))
    indices = b.rng.integers(-shape[axis], shape[axis],
                             size=b.shape(low=0, high=3, least=1, most=4))
    b.add("Gather", [b.data(shape), b.pick(b.constant, b.feed)(
        np.array(indices, b.pick(np.int64, np.int32)))], axis=axis)


def add_gather_elements(b):
    shape = b.shape()
    axis = int(b.rng.integers(len(shape)))
    size = list(shape)  # the reference takes no smaller ones
    size[axis] = int(b.rng.integers(1, 5))
    b.add("GatherElements", [b.data(shape), b.feed(
        b.rng.integers(-shape[axis], shape[axis], size=size))], axis=axis)


def tuples(b, shape, length, lead):
    """Index tuples, distinct, into the first `length` dimensions."""
    count = int(np.prod(lead, dtype=int))
    total = int(np.prod(shape[:length]))
    if count > total:
        return None
    flat = b.rng.permutation(total)[:count]
    return np.stack(np.unravel_index(flat, shape[:length]),
                    axis=-1).reshape(lead + [length])


def add_nd(b):
    shape = b.shape(low=2)
    length = int(b.rng.integers(1, len(shape) + 1))
    lead = b.shape(low=0, high=3, least=1, most=3) \
        if b.rng.random() < 0.8 else []
    indices = tuples(b, shape, length, lead)
    if indices is None:
        return
    b.add("GatherND", [b.data(shape), b.feed(indices)])
    b.add("ScatterND", [b.data(shape), b.feed(indices),
                        b.data(lead + shape[length:])],
          reduction=b.pick("none", "add", "mul", "max", "min"))


def add_scatter_elements(b):
    shape = b.shape()
    axis = int(b.rng.integers(len(shape)))
    size = [int(b.rng.integers(1, d + 1)) for d in shape]
    order = np.argsort(b.rng.random([shape[axis] if k == axis else d
                                     for k, d in enumerate(size)]), axis=axis)
    indices = np.take(order, range(size[axis]), axis=axis)
    b.add("ScatterElements",
          [b.data(shape), b.feed(indices), b.data(size)], axis=axis,
          reduction=b.pick("none", "add", "mul", "max", "min"))


def add_tile(b):
    shape = b.shape()
    b.add("Tile", [b.data(shape), b.ints(b.shape(rank=len(shape), most=4))])


def add_cumsum(b):
    shape = b.shape()
    axis = int(b.rng.integers(-len(shape), len(shape)))
    b.add("CumSum", [b.data(shape), b.ints(axis)],
          exclusive=b.pick(0, 1), reverse=b.pick(0, 1))


def add_trilu(b):
    b.add("Trilu", [b.data(b.shape(low=2)), b.ints(b.rng.integers(-4, 5))],
          upper=b.pick(0, 1))


def add_blocks(b):
    block = b.pick(2, 3)
    n, c, h, w = b.shape(rank=4, most=4)
    b.add("DepthToSpace", [b.data([n, c * block * block, h, w])],
          blocksize=block, mode=b.pick("DCR", "CRD"))
    b.add("SpaceToDepth", [b.data([n, c, h * block, w * block])],
          blocksize=block)


def add_resize(b):
    rank = b.pick(1, 2, 2, 3)
    mode = b.pick("nearest", "linear", "cubic")
    coordinates = b.pick("half_pixel", "pytorch_half_pixel", "align_corners",
                         "asymmetric")
    attributes = {"mode": mode,
                  "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        # Where a coordinate is a whole number, the reference rounds it off
        # with floor and ceil.
        attributes["nearest_mode"] = b.pick(
            "round_prefer_floor", "round_prefer_ceil",
            *(["floor", "ceil"] if coordinates == "asymmetric" else []))
    elif b.rng.random() < 0.3:
        attributes["antialias"] = 1
    if mode == "cubic":
        attributes["cubic_coeff_a"] = b.pick(-0.5, -0.75)
        attributes["exclude_outside"] = b.pick(0, 1)
    shape = b.shape(rank=rank, least=2, most=9)
    sizes = b.shape(rank=rank, least=2, most=14)
    inputs = [b.data(shape), "", "", b.ints(sizes)]
    if b.rng.random() < 0.5:
        scales = [b.pick(2, 3, 1, 0.5, 1.5, 0.75, 0.6, 0.7713, 1.31)
                  for _ in shape]
        if min(np.floor(np.float32(scales) * np.array(shape))) < 2:
            return
        inputs = [inputs[0], "", b.constant(np.array(scales, np.float32))]
    b.add("Resize", inputs, **attributes)


def add_einsum(b):
    equation = b.pick("bij,bjk->bik", "ij,jk,kl->il", "...ij,...jk->...ik",
                      "ij,ij", "ijk->kij", "ii->i", "i,j->ij", "bhqd,bhkd",
                      "ab,b,bc,c->a", "i...,i...->...", "A b, b -> A")
    size = {label: int(b.rng.integers(1, 5)) for label in equation}
    more = b.shape(low=0, high=3)
    inputs = []
    for term in equation.split("->")[0].replace(" ", "").split(","):
        shape = []
        for part in term.replace("...", "."):
            shape += more if part == "." else [size[part]]
        inputs.append(b.data(shape))
    b.add("Einsum", inputs, equation=equation)


KINDS = [add_reshape, add_slice, add_pad, add_transpose, add_concat,
         add_split, add_gather, add_gather_elements, add_nd,
         add_scatter_elements, add_tile, add_cumsum, add_trilu, add_blocks,
         add_resize, add_einsum]


def random_model(seed, as_inputs=False, per_kind=6, only=None):
    """(model, values of its inputs by name, nodes). Without as_inputs all
    data is in the model."""
    batch = Batch(np.random.default_rng(seed), as_inputs)
    for kind in KINDS:
        for _ in range(per_kind):
            if only is None or only in kind.__name__:
                kind(batch)
    names = [name for node in batch.nodes for name in node.output]
    graph = make.make_graph(
        batch.nodes, "movement", batch.inputs,
        [make.make_tensor_value_info(name, TensorProto.FLOAT, None)
         for name in names], batch.initializers)
    model = make.make_model(graph, ir_version=10, opset_imports=[
        make.make_opsetid("", OPSET)])
    return model, batch.values, names
