# SPDX-License-Identifier: Apache-2.0
"""The expected results of a graph. Each node is computed by onnxruntime,
without its optimizations, or by onnx.reference where onnxruntime has no kernel
for a type. Floats of 16 bits and fewer are computed as float32 and rounded, as
tirc computes them.

How far the results of another correct implementation may differ is measured:
the graph is computed several times more, with the inputs and results of inexact
nodes moved by a few units in the last place, and with other values where ONNX
leaves a result open (excuses.py). A result that moves far is ill-conditioned;
one that changes altogether, as a number half-way between two integers does when
it is rounded, is not determined."""
import collections
import warnings

import numpy as np
import onnx
from onnx import helper as make
from onnx.reference import ReferenceEvaluator

import dtypes
import exact
import excuses
import values

# Newer operators than those of opset 24, and their opset.
NEWER = {"BitCast": 26, "CumProd": 26, "LinearAttention": 27}
# Operators whose results are exact, those that ONNX rounds included.
EXACT = set("""
    Abs Neg Sign Floor Ceil Round IsNaN IsInf Not BitwiseNot Identity Cast
    CastLike Relu ThresholdedRelu Clip Min Max And Or Xor BitwiseAnd BitwiseOr
    BitwiseXor BitShift Equal Greater GreaterOrEqual Less LessOrEqual Where
    Shape Size Reshape Flatten Squeeze Unsqueeze ConstantOfShape EyeLike Expand
    Tile Transpose Concat Split DepthToSpace SpaceToDepth Slice Pad Trilu
    OneHot ReverseSequence Gather GatherElements GatherND ReduceMax ReduceMin
    ArgMax ArgMin Hardmax MatMulInteger ConvInteger MaxPool GlobalMaxPool
    MaxUnpool TopK BitCast Bernoulli""".split())
# Operators that are exact as long as all numbers are small integers.
SUMS = set("""Add Sub Mul Sum MatMul Gemm Einsum Conv ConvTranspose ReduceSum
    ReduceL1 ReduceSumSquare CumSum DequantizeLinear""".split())
# Operators that get narrow floats as they are, not as float32: their results
# depend on the type.
TYPED = {"Cast", "CastLike", "QuantizeLinear", "DequantizeLinear",
         "DynamicQuantizeLinear"}
# Types that onnxruntime's Python interface takes as numpy arrays.
KNOWN = {"float32", "float64", "float16", "bool"} | set(
    values.SIGNED + values.UNSIGNED)
RUNS = 10
# How many times larger the errors of convolutions by tiles are
# (docs/explanation/performance.md).
WINOGRAD = 16
# The names of types in ONNX's schemas.
TYPE_NAMES = {name: "tensor(%s)" % t.onnx.lower()
              for name, t in dtypes.TYPES.items()}
# Operators whose results --requant tflite rounds in another way, so that they
# may differ by one.
STEPS = {"QuantizeLinear", "QLinearConv", "QLinearMatMul"}


class Rejected(Exception):
    """No reference computes a node, or a rule finds no shape."""


def single(node, inputs, outputs, opset):
    """A model of one node; absent inputs stay absent."""
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    alone.input[:] = ["x%d" % i if x is not None else ""
                      for i, x in enumerate(inputs)]
    alone.output[:] = ["y%d" % i for i in range(outputs)]
    infos = [make.make_tensor_value_info(
        "x%d" % i, values.CODES[x.dtype.name], [None] * x.ndim)
        for i, x in enumerate(inputs) if x is not None]
    graph = make.make_graph([alone], "one", infos,
                            [onnx.ValueInfoProto(name="y%d" % i)
                             for i in range(outputs)])
    return make.make_model(graph, ir_version=10, opset_imports=[
        make.make_opsetid("", max(opset, NEWER.get(node.op_type, 0)))])


def narrow_outputs(node, inputs, outputs):
    """For each output the narrow type that ONNX gives it, or None: that of
    the inputs which share its type variable."""
    version = NEWER.get(node.op_type, 24)
    schema = onnx.defs.get_schema(node.op_type, version)
    found = {}
    for i, x in enumerate(inputs):
        if x is not None:
            given = schema.inputs[min(i, len(schema.inputs) - 1)]
            found.setdefault(given.type_str, x.dtype.name)
    names = [found.get(schema.outputs[min(k, len(schema.outputs) - 1)]
                       .type_str) for k in range(outputs)]
    if node.op_type == "EyeLike" and excuses.attribute(
            node, "dtype") is None:
        names = [inputs[0].dtype.name]
    return [n if n in values.NARROW else None for n in names]


class Evaluator:
    """Computes nodes. Each node is computed often, so sessions are kept."""

    def __init__(self):
        self.kept = {}
        self.opset = 24  # of the graph at hand
        self.by = {"onnxruntime": 0, "onnx.reference": 0, "tests": 0}

    def compute(self, node, inputs, outputs=None):
        """The outputs of a node as arrays, elements that ONNX leaves open
        included."""
        outputs = len(node.output) if outputs is None else outputs
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            self.check(node, inputs, outputs)
            own = excuses.definition(node, inputs)
            if own is not None:
                self.by["tests"] += 1
                return [np.asarray(a) for a in own(node, inputs)][:outputs]
            if node.op_type in TYPED:
                results = self.plain(node, inputs, outputs)
            else:
                results = self.wide(node, inputs, outputs)
            return [np.asarray(a)
                    for a in excuses.amended(node, inputs, results)]

    def check(self, node, inputs, outputs):
        """Raises Rejected where the graph's opset does not have the node, or
        has it without these types."""
        if self.opset >= 24:
            return
        context = onnx.checker.C.CheckerContext()
        context.ir_version = 10
        context.opset_imports = {"": self.opset}
        try:
            given = onnx.NodeProto()
            given.CopyFrom(node)
            given.output[:] = ["y%d" % i for i in range(outputs)]
            onnx.checker.check_node(given, context)
            schema = onnx.defs.get_schema(node.op_type, self.opset)
        except (onnx.checker.ValidationError, onnx.defs.SchemaError) as error:
            raise Rejected(str(error)) from error
        for i, x in enumerate(inputs):
            allowed = schema.inputs[min(i, len(schema.inputs) - 1)].types
            if x is not None and TYPE_NAMES[x.dtype.name] not in allowed:
                raise Rejected("an input's type")

    def wide(self, node, inputs, outputs):
        """The outputs of a node, narrow floats computed as float32 and then
        rounded."""
        kinds = narrow_outputs(node, inputs, outputs)
        results = self.plain(node, [
            x if x is None or x.dtype.name not in values.NARROW
            else x.astype(np.float32) for x in inputs], outputs)
        return [r if kind is None or r.dtype != np.float32
                else values.cast(r, kind) for r, kind in zip(results, kinds)]

    def plain(self, node, inputs, outputs):
        otherwise = excuses.not_by_onnxruntime(node, inputs)
        key = (node.SerializeToString(), outputs, otherwise, self.opset,
               tuple(x is not None and (x.dtype.name, x.ndim)
                     for x in inputs))
        if key not in self.kept:
            if len(self.kept) > 500:
                self.kept.clear()
            self.kept[key] = self.prepare(
                node, inputs, outputs, otherwise)
        return self.kept[key](inputs)

    def prepare(self, node, inputs, outputs, otherwise):
        model = single(node, inputs, outputs, self.opset)
        if all(x is None or x.dtype.name in KNOWN for x in inputs) and \
                not otherwise:
            try:
                session = exact.session(model)
                if all("bfloat16" not in o.type and "float8" not in o.type and
                       "int4" not in o.type for o in session.get_outputs()):
                    return lambda given: self.by_runtime(
                        session, model, node, given)
            except Exception:  # no kernel for these types, or wrong
                pass
        try:
            evaluator = ReferenceEvaluator(model)
        except Exception as error:
            raise Rejected(str(error)) from error
        return lambda given: self.by_reference(evaluator, node, given)

    def by_runtime(self, session, model, node, inputs):
        """Resize is left to onnx.reference where onnxruntime finds only now
        that it cannot compute it, as with other than four dimensions."""
        given = feed(inputs)
        try:
            results = session.run(None, given)
        except Exception as error:
            if node.op_type != "Resize":
                raise Rejected(str(error)) from error
            return self.by_reference(ReferenceEvaluator(model), node, inputs)
        self.by["onnxruntime"] += 1
        return [np.asarray(r) for r in results]

    def by_reference(self, evaluator, node, inputs):
        self.by["onnx.reference"] += 1
        given = feed(inputs)
        try:
            results = evaluator.run(None, given)
        except Exception as error:
            raise Rejected(str(error)) from error
        results = [np.asarray(r) for r in results]
        kinds = excuses.reference_types(node, inputs)
        return [r if kind is None else r.astype(kind)
                for r, kind in zip(results, kinds + [None] * len(results))]

    def chain(self, graph, given, moved=None, opened=None):
        """{name: array} of all tensors; `given` has those of the inputs.
        `moved`, a Moved, moves what is not exact. `opened`, a Counter, counts
        the elements that are left open, by reason and operator."""
        self.opset = graph.opset
        known = {t.name: t.value for t in graph.tensors.values()
                 if t.kind == "constant"}
        known.update(given)
        if moved is not None:
            moved.options, moved.opencl = graph.options, graph.opencl
            moved.made = {name for node in graph.nodes
                          for name in node.output}
        if moved is not None and moved.wide:
            known = {name: widened(value) for name, value in known.items()}
        for node in graph.nodes:
            inputs = [known[name] if name else None for name in node.input]
            results = self.compute(node, inputs)
            with np.errstate(all="ignore"):
                masks, reasons = excuses.open_results(
                    node, inputs, results, self.compute)
            for why, mask in reasons.items() if opened is not None else ():
                opened["%s (%s)" % (why, node.op_type)] += int(sum(
                    np.broadcast_to(mask, r.shape).sum() for r in results
                    if excuses.is_mask_of(mask, r)))
            if moved is not None:
                # numpy makes numbers of arrays without dimensions.
                results = [np.asarray(r) for r in self.move(
                    moved, node, inputs, results, masks)]
                if moved.place == "nan":
                    moved.open.update(zip(node.output, masks))
            known.update(zip(node.output, results))
        return known

    def move(self, moved, node, inputs, results, masks):
        """The results of a node as another correct implementation may compute
        them."""
        if moved.wide:
            results = [widened(r) for r in results]
        results = [moved.other(r, m) for r, m in zip(results, masks)]
        floats = excuses.rounded(node, inputs)
        if floats is not None:
            moved.rounds = True
            real = self.compute(node, floats)[0].astype(np.float64)
            far = 1e-3 + values.EPSILON["float32"] * excuses.cancels(
                node, floats, moved.opencl)
            return [exact.cut(
                real + far * moved.sign(real.shape), results[0].dtype)]
        if inexact(node, inputs, results):
            count = excuses.data_inputs(node)
            again = self.compute(node, [
                moved.shift(x) if x is not None and i < count and
                values.is_float(x) else x for i, x in enumerate(inputs)])
            again = [moved.other(r, m) for r, m in zip(again, masks)]
            if all(a.shape == r.shape for a, r in zip(again, results)):
                results = again
            size = excuses.cancels(node, inputs, moved.opencl) + excuses.terms(
                node, inputs, results, self.compute)
            if "winograd" in moved.options and node.op_type == "Conv":
                size = size * WINOGRAD
            most = 1 if node.op_type == "SVMClassifier" else 0
            results = [moved.shift(r, size if k == most else 0)
                       if values.is_float(r) else r
                       for k, r in enumerate(results)]
        # QuantizeLinear of the model's inputs follows ONNX: only results of
        # other nodes are requantized.
        if "tflite" in moved.options and node.op_type in STEPS and (
                node.op_type != "QuantizeLinear" or
                node.input[0] in moved.made):
            results = [moved.step(results[0]), *results[1:]]
        if node.op_type == "BitCast" and values.is_float(inputs[0]):
            moved.rounds = True
        mask = moved.open.get(node.input[0])
        if node.op_type == "DequantizeLinear" and mask is not None:
            results = [np.where(mask, np.nan, results[0]).astype(
                results[0].dtype)]
        if node.op_type == "Equal":
            results = [moved.equal(node, inputs, results[0])]
        if node.op_type == "Tan":
            results = [moved.beyond_pole(node, inputs, results[0])]
        if node.op_type in ("ArgMax", "ArgMin"):
            results = [moved.tied(node, inputs, results[0])]
        if node.op_type == "TopK":
            results[1:] = [moved.ranked(node, inputs, k) for k in results[1:]]
        if node.op_type == "Hardmax" and moved.tie:
            near = moved.near_largest(node, inputs, excuses.attribute(
                node, "axis", -1))
            results = [np.where(near, moved.tie > 0, results[0]).astype(
                results[0].dtype)]
        if node.op_type == "Pow" and values.is_float(inputs[1]):
            whole = moved.to_whole(node.input[1], inputs[1])
            if whole is not inputs[1]:
                results = self.compute(node, [inputs[0], whole])
        return results


def widened(array):
    """Floats of 16 bits as float32: inside a kernel results are not rounded to
    16 bits."""
    return array.astype(np.float32) \
        if array.dtype.name in ("float16", "bfloat16") else array


def feed(inputs):
    """The inputs of a model of one node. Anything but arrays is an error of the
    tests, not a node that a reference does not compute."""
    assert all(x is None or isinstance(x, np.ndarray) for x in inputs)
    return {"x%d" % i: x for i, x in enumerate(inputs) if x is not None}


def inexact(node, inputs, results):
    if node.op_type in EXACT:
        return False
    floats = [v for v in list(inputs) + list(results)
              if v is not None and values.is_float(v)]
    if node.op_type in SUMS and floats:
        with np.errstate(all="ignore"):
            return not all(
                np.isfinite(v.astype(np.float64)).all() and
                (np.rint(v.astype(np.float64)) == v.astype(
                    np.float64)).all() and
                np.abs(v.astype(np.float64)).max(initial=0) <
                1 / values.EPSILON[v.dtype.name] for v in floats)
    return bool(floats)


class Moved:
    """One way to differ slightly. Numbers move all up (`way` 1), all down (-1),
    or each at random (0); with `wide`, float32 takes the place of narrower
    floats. `base` has the tensors as they are when nothing moves. Integers that
    are open are 0, or at three quarters of their range, where `place` says so;
    nothing else moves then. With the place "nan" DequantizeLinear makes NaN of
    them, which marks the sums that they are part of; `open` has the masks of the
    tensors then.
    `tie` decides between numbers that come so near to each other that they may
    be equal or not: 1 and -1 for the one or the other, 0 to leave them as they
    moved. It is the way where that is not 0; numbers that move at random get
    both, since some results, as those of Relu, move in one direction alone."""

    def __init__(self, rng, way, base, wide=False, place=None, tie=0):
        self.rng, self.way, self.base, self.wide = rng, way, base, wide
        self.place, self.tie = place, way or tie
        self.open = {}
        # Whether integers follow from inexact floats: from interpolated ones
        # that are rounded, or from their bits.
        self.rounds = False

    def equal(self, node, inputs, result):
        """The result of Equal. Numbers that moved as far as they are apart may
        be equal, though numbers that move at random hardly ever are."""
        if not values.is_float(inputs[0]):
            return result
        a, b = (self.base[name].astype(np.float64) for name in node.input)
        with np.errstate(all="ignore"):
            far = np.abs(inputs[0] - a) + np.abs(inputs[1] - b)
            near = (np.abs(a - b) <= 4 * far) & (far > 0) | (
                ~np.isfinite(far) & ~(np.isnan(a) & np.isnan(inputs[0])) &
                ~(np.isnan(b) & np.isnan(inputs[1])) &
                ((a != inputs[0]) | (b != inputs[1])))
        return np.where(near, self.tie > 0, result)

    def moved_along(self, node, inputs, axis):
        """The first input before it moved, and how far its elements moved at
        most along an axis: infinitely, if one of them is left open."""
        x = self.base[node.input[0]].astype(np.float64)
        with np.errstate(all="ignore"):
            now = inputs[0].astype(np.float64)
            far = np.where((now == x) | (np.isnan(now) & np.isnan(x)), 0,
                           np.nan_to_num(np.abs(now - x), nan=np.inf,
                                         posinf=np.inf))
        return x, far.max(axis, keepdims=True, initial=0)

    def near_largest(self, node, inputs, axis):
        """A mask of the elements that moved as far as they are from the largest
        along an axis (for ArgMin, from the least)."""
        sign = -1 if node.op_type == "ArgMin" else 1
        x, far = self.moved_along(node, inputs, axis)
        with np.errstate(all="ignore"):
            top = np.nan_to_num(sign * x, nan=-np.inf).max(
                axis, keepdims=True, initial=-np.inf)
            return (far > 0) & ((far == np.inf) | (
                sign * x >= top - 8 * far))

    def beyond_pole(self, node, inputs, result):
        """The result of Tan, NaN where the angle moved about as far as it is
        from a pole: on its other side is any number."""
        x = self.base[node.input[0]].astype(np.float64)
        with np.errstate(all="ignore"):
            far = np.abs(inputs[0].astype(np.float64) - x)
            turns = x / np.pi - 0.5
            near = 4 * far >= np.pi * np.abs(turns - np.rint(turns))
        return np.where(near & (far > 0), np.nan, result).astype(result.dtype)

    def tied(self, node, inputs, result):
        """The result of ArgMax or ArgMin: the last or the first of the elements
        that may be the largest (least)."""
        if not values.is_float(inputs[0]) or not self.tie:
            return result
        axis = excuses.attribute(node, "axis", 0)
        near = self.near_largest(node, inputs, axis)
        size = near.shape[axis]
        index = np.argmax(near, axis) if self.tie < 0 else \
            size - 1 - np.argmax(np.flip(near, axis), axis)
        some = near.any(axis)
        if excuses.attribute(node, "keepdims", 1):
            index, some = (np.expand_dims(a, axis % near.ndim)
                           for a in (index, some))
        return np.where(some, index, result)

    def ranked(self, node, inputs, index):
        """The indices of TopK: of the elements that may have the same rank the
        first or the last."""
        if not values.is_float(inputs[0]) or not self.tie or not index.size:
            return index
        axis = excuses.attribute(node, "axis", -1)
        x, far = (np.moveaxis(a, axis, -1)
                  for a in self.moved_along(node, inputs, axis))
        lanes = np.moveaxis(index, axis, -1)
        chosen = np.take_along_axis(x, lanes, -1)
        with np.errstate(all="ignore"):
            near = (far[..., None] == np.inf) | (far[..., None] > 0) & (
                np.abs(x[..., None, :] - chosen[..., None]) <=
                8 * far[..., None])
        at = np.argmax(near, -1) if self.tie < 0 else \
            x.shape[-1] - 1 - np.argmax(np.flip(near, -1), -1)
        return np.moveaxis(np.where(near.any(-1), at, lanes), -1, axis).astype(
            index.dtype)

    def to_whole(self, name, exponent):
        """Exponents, each replaced by the nearest whole number if it moved as
        far as that is away: a negative base has no other powers."""
        base = self.base[name].astype(np.float64)
        with np.errstate(all="ignore"):
            far = np.abs(exponent.astype(np.float64) - base)
            near = (np.abs(np.rint(base) - base) <= 4 * far) & (far > 0)
        return np.where(near, np.rint(base), exponent).astype(
            exponent.dtype) if self.tie > 0 and near.any() else exponent

    def step(self, array):
        """Integers, each moved by one or not at all."""
        if not values.is_integer(array):
            return array
        if self.place:
            return array
        low, high = values.limits(array.dtype.name)
        off = self.sign(array.shape) if self.way else self.rng.integers(
            -1, 2, array.shape)
        return np.clip(array.astype(np.int64) + np.int64(off), low,
                       high).astype(array.dtype)

    def sign(self, shape):
        """How far to move, and where to. In runs at random no two moves are
        alike, since of a chain of functions they would often cancel."""
        if self.place:
            return np.zeros(shape)
        return self.way if self.way else self.rng.choice(
            [-1.0, 1.0], size=shape) * self.rng.uniform(0.5, 1, size=shape)

    def shift(self, array, size=0):
        """The array moved by a few units in the last place of its elements, and
        of `size`."""
        kind = array.dtype.name
        step = values.EPSILON[kind] * (
            4 if kind in ("float32", "float64") else 1)
        sign = self.sign(array.shape)
        with np.errstate(all="ignore"):
            wide = array.astype(np.float64)
            least = values.LEAST[kind] if kind in values.NARROW else 0
            return values.cast(wide + sign * (
                step * (wide + size / 4) + least * (wide != 0)), kind)

    def other(self, array, mask):
        """The array with any values where the mask is set, the least and the
        largest of the type among them."""
        if mask is None or not np.any(mask):
            return array
        mask = np.broadcast_to(mask, array.shape)
        kind = array.dtype.name
        if array.dtype == bool:
            odd = np.full(array.shape, self.way > 0)
        elif self.way and kind in values.EPSILON:
            odd = values.cast(np.full(array.shape, np.inf * self.way), kind)
        elif self.way:
            odd = np.full(array.shape, values.limits(kind)[self.way > 0],
                          array.dtype)
        elif self.place and kind not in values.EPSILON:
            low, high = values.limits(kind)
            odd = np.full(array.shape, (low + 3 * high) // 4
                          if self.place == "high" else 0, array.dtype)
        elif self.place in ("zero", "nan"):
            # of floats NaN, since integers made of it are open, too
            odd = values.cast(np.full(array.shape, np.nan), kind)
        else:
            odd = values.random(self.rng, kind, array.shape, "special")
        return np.where(mask, odd, array)


class Expected:
    """The expected outputs, and how far results may differ."""

    def __init__(self, evaluator, graph, given):
        rng = np.random.default_rng(1)
        self.opened = collections.Counter()
        self.want = evaluator.chain(graph, given, opened=self.opened)
        self.runs, self.placed, self.lost = [], [], 0
        self.open = {}  # integers that are sums of open ones
        self.rounds = False
        ways = [(1,), (-1,), (0, False, "zero"), (0, False, "high"),
                (0, False, None, 1), (0, False, None, -1)]
        ways += [(0,)] * (RUNS - len(ways))
        if "tflite" in graph.options:  # steps of one in any combination
            ways += [(0,)] * 2 * RUNS
        if self.opened:
            ways.append((0, False, "nan"))
        if any(t.value.dtype.name in ("float16", "bfloat16")
               for t in graph.tensors.values()):
            ways.append((0, True))
        for way, *more in ways:
            try:
                moved = Moved(rng, way, self.want, *more)
                self.runs.append(evaluator.chain(graph, given, moved))
                self.rounds |= moved.rounds
                self.open.update(moved.open)
                if moved.place:
                    self.placed.append(self.runs[-1])
            except Rejected:  # as an open element is an index or a size
                self.lost += 1
        if not self.runs:
            raise Rejected("what is left open decides on shapes or indices")

    def check(self, name, got):
        """(None or a description of the difference, the number of elements
        that are not determined)"""
        want = self.want[name]
        if got.shape != want.shape or got.dtype != want.dtype:
            return "%s%s, not %s%s" % (got.dtype, list(got.shape), want.dtype,
                                       list(want.shape)), 0
        others = [run[name] if run[name].dtype == want.dtype
                  else values.cast(run[name], want.dtype.name)
                  for run in self.runs if run[name].shape == want.shape]
        wrong, loose = differs(got, want, others, self.rounds)
        wrong &= ~self.is_open(name, want)
        if not wrong.any():
            return None, int(loose.sum())
        at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
        return "%d of %d elements, first at %s: %s, not %s" % (
            wrong.sum(), wrong.size, list(at), np.atleast_1d(got)[at],
            np.atleast_1d(want)[at]), int(loose.sum())

    def is_open(self, name, want):
        """A mask of the integers that follow from elements that are left open:
        they depend on the values of these alone. A few runs do not find the
        extremes of a sum of open elements."""
        runs = [values.wide(run[name]) for run in self.placed
                if run[name].shape == want.shape]
        if values.is_float(want) or len(runs) < 2:
            return np.zeros(want.shape, bool)
        mask = self.open.get(name)
        return np.any([run != runs[0] for run in runs], 0) | (
            False if mask is None else mask)


def differs(got, want, others, rounds):
    """Two masks: elements that are wrong, and elements that are not
    determined. `rounds`: integers may be sums of rounded numbers."""
    if not values.is_float(want):
        a, b = values.wide(got), values.wide(want)
        low = high = b
        for other in others:
            low = np.minimum(low, values.wide(other))
            high = np.maximum(high, values.wide(other))
        wrong = np.asarray((a < low) | (a > high), bool)
        if rounds and want.dtype.itemsize >= 4:
            # As for floats, below. Sums that are apart by half of the type's
            # range wrap, and may be any number.
            up, down = np.asarray(high - b), np.asarray(b - low)
            spread = np.where(up > down, up, down)
            wrong &= ~np.asarray((spread > 2) & (abs(a - b) <= 4 * spread),
                                 bool)
            wrong &= ~np.asarray(
                high - low >= 2 ** (8 * want.dtype.itemsize - 1), bool)
        return wrong, np.asarray(low != high, bool)
    a, b = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        spread = np.zeros(b.shape)
        loose = np.zeros(b.shape, bool)
        for other in others:
            c = other.astype(np.float64)
            same = (b == c) | (np.isnan(b) & np.isnan(c))
            loose |= ~same & ~(np.isfinite(b) & np.isfinite(c))
            spread = np.fmax(spread, np.where(same, 0, np.abs(b - c)))
        kind = want.dtype.name
        factor = 8 if kind in ("float32", "float64") else 1.5
        allowed = 4 * spread + values.LEAST[kind] + \
            factor * values.EPSILON[kind] * np.abs(b)
        alike = (a == b) | (np.isnan(a) & np.isnan(b)) | (
            np.abs(a - b) <= np.where(np.isfinite(b), allowed, 0))
    return ~alike & ~loose, loose
