# SPDX-License-Identifier: Apache-2.0
"""A random graph, made node by node: rules (rules_*.py) ask for tensors of
some type and shape, and get what an earlier node gave, or a new input or
constant. Each node is computed as it is added (reference.py), so that the
types, shapes and values of all tensors are known, and no graph holds a node
that the references refuse."""
import os
import re

import numpy as np
import onnx
from onnx import helper as make
from onnx import numpy_helper

import dtypes
import values
from reference import EXACT, SUMS, Rejected

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
SIZES = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 8, 9, 12, 15, 16, 16, 17, 24,
         33]
MOST_ELEMENTS = 3000
# Operators of opsets that are newer than those of the graphs.
NEWER = {"BitCast": 26, "CumProd": 26, "LinearAttention": 27}
# The opset since which axes are an input; before, they are an attribute.
AXES_INPUT = {"Reduce" + name: 18 for name in (
    "Mean", "Prod", "Max", "Min", "L1", "L2", "SumSquare", "LogSum",
    "LogSumExp")}
SYMBOL = 11  # a size that only symbolic dimensions have


def rows():
    """{name: types of input 0} of the operators in passes/ops/core/ops.def, those
    of tirc's own as "tirc.NAME"."""
    with open(os.path.join(ROOT, "passes", "ops", "core", "ops.def"),
              encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    found = {}
    for name, types in re.findall(
            r"^MAP\((\w+),\s*-?\d+,\s*-?\d+,\s*(\w+)", text, re.M):
        found[name] = types
    for name, domain, types in re.findall(
            r'^OP\((\w+),\s*"(\w*)"(?:,\s*-?\d+){4},\s*(\w+)', text, re.M):
        found[(domain and domain + ".") + name] = types
    return found


def schema_types(op, index=0, version=24):
    """The types that ONNX allows for input `index` of an operator."""
    try:
        schema = onnx.defs.get_schema(op, version)
    except onnx.defs.SchemaError:
        schema = onnx.defs.get_schema(op)
    given = schema.inputs[min(index, len(schema.inputs) - 1)]
    names = {t.onnx.lower(): name for name, t in dtypes.TYPES.items()}
    found = []
    for text in given.types:
        inner = re.fullmatch(r"tensor\((\w+)\)", text)
        if inner and names.get(inner[1]) in values.CODES:
            found.append(names[inner[1]])
    return sorted(found)


class Tensor:
    """kind is input, constant or result; `node` is the index of the node that
    gives a result."""

    def __init__(self, name, value, kind, node=None):
        self.name, self.value, self.kind, self.node = name, value, kind, node
        self.read = False


class Graph:
    """Nodes in order, and tensors by name; `outputs` names the results that are
    outputs of the model."""

    def __init__(self, opset=24):
        self.nodes, self.tensors, self.outputs = [], {}, []
        self.opset = opset
        self.symbolic = False
        self.ranges = False  # whether ranges.py predicts the results
        self.options = []  # for tirc
        self.opencl = False  # whether it is compiled for OpenCL

    def model(self):
        """An onnx.ModelProto. In a symbolic graph each size SYMBOL of an input
        is the symbol n."""
        used = {name for node in self.nodes for name in node.input} | \
            set(self.outputs)
        infos, constants = [], []
        for tensor in self.tensors.values():
            if tensor.name not in used:
                continue
            if tensor.kind == "input":
                infos.append(make.make_tensor_value_info(
                    tensor.name, values.CODES[tensor.value.dtype.name],
                    ["n" if self.symbolic and size == SYMBOL else size
                     for size in tensor.value.shape]))
            elif tensor.kind == "constant":
                constants.append(numpy_helper.from_array(
                    tensor.value, tensor.name))
        outputs = [make.make_tensor_value_info(
            name, values.CODES[self.tensors[name].value.dtype.name],
            None if self.symbolic else self.tensors[name].value.shape)
            for name in self.outputs]
        return make.make_model(
            make.make_graph(self.nodes, "g", infos, outputs, constants),
            opset_imports=[make.make_opsetid("", self.opset),
                           make.make_opsetid("ai.onnx.ml", 3),
                           make.make_opsetid("com.microsoft", 1)],
            ir_version=10)


class Maker:
    """Builds the graph: rules call its methods. All random numbers come from
    `rng`."""

    def __init__(self, rng, evaluator):
        self.rng, self.evaluator = rng, evaluator
        self.graph = Graph(int(rng.integers(13, 24))
                           if rng.random() < 0.3 else 24)
        evaluator.opset = self.graph.opset
        self.graph.symbolic = rng.random() < 0.15
        self.rows = rows()

    # -- random choices

    def number(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, share=0.5):
        return bool(self.rng.random() < share)

    def choice(self, options):
        return options[int(self.rng.integers(len(options)))]

    def size(self, most=None):
        return self.choice([s for s in SIZES if most is None or s <= most])

    def shape(self, low=0, high=4, empty=True):
        """A shape of random rank, at times without elements."""
        shape = [self.size() for _ in range(self.number(low, high))]
        while np.prod(shape) > MOST_ELEMENTS:
            shape[int(np.argmax(shape))] //= 2
        if shape and empty and self.chance(0.015):
            shape[self.number(0, len(shape) - 1)] = 0
        return shape

    def types(self, op, index=0):
        """The types that both ONNX and tirc's table allow for an input."""
        known = schema_types(op, index)
        if index == 0 and op != "Where":
            known = [t for t in values.CLASSES[self.rows[op]] if t in known]
        return known

    def type(self, names):
        names = list(names)
        if "float32" in names and self.chance(0.5):
            return "float32"
        rare = values.SMALL_FLOATS + values.SHORT
        often = [n for n in names if n not in rare]
        return self.choice(often if often and self.chance(0.95) else names)

    # -- tensors

    def value(self, name):
        return self.graph.tensors[name].value

    def add(self, value, kind, node=None):
        name = "%s%d" % ({"input": "x", "constant": "c", "result": "t"}[kind],
                         len(self.graph.tensors))
        self.graph.tensors[name] = Tensor(name, np.asarray(value), kind, node)
        return name

    def constant(self, value, dtype=np.int64):
        """A constant of given values, as axes and shapes are."""
        return self.add(np.array(value, dtype), "constant")

    def fresh(self, dtype, shape, profile=None, constant=None):
        shape = list(shape)
        if constant is None:
            constant = self.chance(0.35)
        if SYMBOL in shape:
            constant = False
        return self.add(values.random(self.rng, dtype, shape, profile),
                        "constant" if constant else "input")

    def take(self, accept):
        """The name of an earlier result or input that `accept` passes, or None;
        rather a result that no node has read yet."""
        fit = [t for t in self.graph.tensors.values()
               if t.kind != "constant" and accept(t.value)]
        unread = [t for t in fit if t.kind == "result" and not t.read]
        if unread and self.chance(0.7):
            fit = unread
        return self.choice(fit).name if fit else None

    def data(self, types, low=0, high=4, accept=lambda shape: True,
             profile=None, share=0.85):
        """An earlier or new tensor of one of the types, with `low` to `high`
        dimensions, whose shape `accept` passes."""
        if self.chance(share):
            name = self.take(lambda v: v.dtype.name in types and
                             low <= v.ndim <= high and accept(v.shape))
            if name:
                return name
        for _ in range(50):
            shape = self.shape(low, high)
            if self.graph.symbolic and shape and self.chance(0.7):
                shape[0] = SYMBOL
            if accept(tuple(shape)):
                return self.fresh(self.type(types), shape, profile)
        raise Rejected("no shape")

    def exact(self, dtype, shape, profile=None, constant=None, share=0.6):
        """An earlier or new tensor of exactly this type and shape."""
        if constant is not True and self.chance(share):
            name = self.take(lambda v: v.dtype.name == dtype and
                             v.shape == tuple(shape))
            if name:
                return name
        return self.fresh(dtype, shape, profile, constant)

    def partner(self, name, types=None):
        """An earlier or new tensor that broadcasts with the given one."""
        value = self.value(name)
        types = types or [value.dtype.name]

        def fits(v):
            try:
                both = np.broadcast_shapes(v.shape, value.shape)
            except ValueError:
                return False
            return v.dtype.name in types and \
                np.prod(both, dtype=int) <= MOST_ELEMENTS
        if self.chance(0.6):
            found = self.take(fits)
            if found:
                return found
        shape = list(value.shape[self.number(0, value.ndim):])
        shape = [1 if self.chance(0.3) else n for n in shape]
        if self.chance(0.1) and value.size < 100:
            shape = [self.size(5)] + [1] * (value.ndim - len(shape)) + shape
        if self.graph.symbolic and self.chance(0.7):
            shape = [1 if n == SYMBOL else n for n in shape]
        return self.fresh(self.type(types), shape)

    def dtype(self, name):
        return self.value(name).dtype.name

    # -- nodes

    def node(self, op, inputs, outputs=1, domain="", **attributes):
        """Adds a node and computes its results; gives the names of its outputs,
        or the name of the only one. Raises Rejected where no reference
        computes it."""
        inputs = list(inputs)
        if self.graph.opset < AXES_INPUT.get(op, 0) and len(inputs) > 1:
            # axes are an attribute in this opset
            attributes["axes"] = [int(d) for d in self.value(inputs.pop())]
            attributes.pop("noop_with_empty_axes", None)
            if not attributes["axes"]:
                raise Rejected("no axes")
        node = make.make_node(op, [name or "" for name in inputs], [],
                              domain=domain, **attributes)
        results = self.evaluator.compute(
            node, [self.value(name) if name else None for name in inputs],
            outputs)
        if sum(r.size for r in results) > 4 * MOST_ELEMENTS:
            raise Rejected("too large")
        self.graph.opset = max(self.graph.opset, NEWER.get(op, 0))
        names = [self.add(value, "result", len(self.graph.nodes))
                 for value in results]
        node.output.extend(names)
        for name in inputs:
            if name:
                self.graph.tensors[name].read = True
        self.graph.nodes.append(node)
        return names[0] if outputs == 1 else names

    def choose_outputs(self):
        """Makes most results that no node reads outputs of the model, and some
        of the others."""
        results = [t for t in self.graph.tensors.values()
                   if t.kind == "result"]
        chosen = [t.name for t in results
                  if self.chance(0.2 if t.read else 0.85)]
        unread = [t.name for t in results if not t.read]
        self.graph.outputs = chosen or unread[-1:]


def random_graph(seed, rules, evaluator):
    """The graph of a seed (a sequence of integers); `rules` are functions of
    a Maker, each of which adds one node or several."""
    maker = Maker(np.random.default_rng(seed), evaluator)
    count = maker.choice([1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12])
    for _ in range(count * 4):
        if len(maker.graph.nodes) >= count:
            break
        before = (len(maker.graph.nodes), list(maker.graph.tensors),
                  [t.read for t in maker.graph.tensors.values()])
        try:
            maker.choice(rules)(maker)
        except Rejected:
            undo(maker.graph, *before)
    maker.choose_outputs()
    maker.graph.options = options(maker)
    return maker.graph


def options(maker):
    """Random options for tirc: results stay those of ONNX, or, with winograd
    and tflite, differ by no more than reference.Moved allows for."""
    ops = {node.op_type for node in maker.graph.nodes}
    chosen = []
    if maker.chance(0.15):
        chosen += ["--optimize", "memory"]
    if maker.chance(0.3) and ops <= EXACT | SUMS:  # without libm's functions
        chosen += ["--fp", "strict"]
    if "Conv" in ops and maker.chance(0.3):
        chosen += ["--conv", "winograd"]
    if "QuantizeLinear" in ops and maker.chance(0.2):
        chosen += ["--requant", "tflite"]
    return chosen


def undo(graph, count, names, read):
    del graph.nodes[count:]
    for name in list(graph.tensors)[len(names):]:
        del graph.tensors[name]
    for name, flag in zip(names, read):
        graph.tensors[name].read = flag
