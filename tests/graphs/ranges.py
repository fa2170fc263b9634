# SPDX-License-Identifier: Apache-2.0
"""Graphs in arithmetic of ranges: for each element the numbers that a correct
implementation may give, whatever else it computes exactly or rounds. A result
of Add, Sub, Mul, Div and others that IEEE 754 rounds correctly lies between the
exact results of the ends, rounded or not: a range without width, as of a
number that float32 holds, stays one where the result is such a number, too. So
Floor((x + 1) / 10) of -631 is -63, and no other number. Functions may be a few
units in the last place off, and a sum of n terms n units of the sum of their
absolute values.

Everything is computed as float64, which holds the product of two floats, and
whose sum or quotient of two floats, rounded once more to float32, is the one
that is rounded once."""
import itertools

import numpy as np

import exact
import values
from exact import attribute

UNIT = 2.0 ** -24  # the rounding of float32, in which narrow floats are summed
# How many units in the last place a function may be off.
FUNCTION = 8
# How many units in the last place of the type a result may be off that no step
# reads: of ONNX's formula an implementation may take one with another rounding.
SLACK = 4


class Range:
    """The least and largest number that an element may be, where it may be NaN,
    and `at`, the number with one rounding after each operator. Where an element
    must be NaN, the least is larger than the largest."""

    def __init__(self, low, high, nan, at):
        self.low, self.high, self.nan, self.at = low, high, nan, at

    def ends(self):
        return self.low, self.high

    def moved(self, function):
        """The range of elements that an operator only moves."""
        return Range(*(function(a) for a in (
            self.low, self.high, self.nan, self.at)))


def of_array(array):
    if not values.is_float(array):
        wide = array.astype(np.int64)
        return Range(wide, wide, np.zeros(array.shape, bool), array)
    wide = array.astype(np.float64)
    nan = np.isnan(wide)
    return Range(np.where(nan, np.inf, wide), np.where(nan, -np.inf, wide),
                 nan, array)


def all_numbers(shape):
    return np.full(shape, -np.inf), np.full(shape, np.inf), \
        np.ones(shape, bool)


def nearest(x, kind):
    """Numbers of float64 rounded to a type."""
    with np.errstate(all="ignore"):
        return values.cast(x, kind).astype(np.float64)


def spacing(x, kind):
    """The distance of a type's numbers near x."""
    size = np.abs(np.where(np.isfinite(x), x, 0))
    with np.errstate(all="ignore"):
        step = 2.0 ** (np.floor(np.log2(np.maximum(
            size, values.LEAST[kind]))))
    return step * values.EPSILON[kind]


class Rules:
    """How results may be rounded: in between not at all, or, with `strict`, at
    each operator of float32."""

    def __init__(self, strict=False):
        self.strict = strict

    def rounded(self, low, high, nan, at, kind, units=0, size=None):
        """A Range of results in a type, from the exact ones. `size`: the number
        whose rounding the error is, times `units`."""
        with np.errstate(all="ignore"):
            empty = low > high
            if units:
                far = units * np.maximum(
                    spacing(low, kind), spacing(high, kind)) \
                    if size is None else units * size
                low, high = low - far, high + far
            near = nearest(low, kind), nearest(high, kind)
            if self.strict and kind == "float32":
                low, high = near
            else:
                low = np.minimum(low, near[0])
                high = np.maximum(high, near[1])
            low = np.where(empty, np.inf, low)
            high = np.where(empty, -np.inf, high)
        return Range(low, high, nan, values.cast(at, kind))


def at_ends(function, *ranges):
    """Least and largest result of a function that is monotone in each of its
    arguments, and where it may be NaN."""
    with np.errstate(all="ignore"):
        results = [np.asarray(function(*ends), np.float64) for ends in
                   itertools.product(*(r.ends() for r in ranges))]
        # An empty range has no ends.
        empty = np.zeros((), bool)
        nan = np.zeros((), bool)
        wide = np.zeros((), bool)
        for r in ranges:
            empty = empty | (r.low > r.high)
            nan = nan | r.nan
            wide = wide | (r.low != r.high)
        low, high = results[0], results[0]
        for result in results[1:]:
            low, high = np.fmin(low, result), np.fmax(high, result)
        for result in results:
            nan = nan | np.isnan(result)
        empty = empty | np.isnan(low)
        # float64 rounds ends of ranges that are no numbers of the type.
        low = np.where(wide, np.nextafter(low, -np.inf), low)
        high = np.where(wide, np.nextafter(high, np.inf), high)
    shape = low.shape
    return (np.where(empty, np.inf, low), np.where(empty, -np.inf, high),
            np.broadcast_to(nan | empty, shape).copy())


def computed(function, *ranges):
    """The function of the numbers with one rounding after each operator."""
    with np.errstate(all="ignore"):
        return function(*(r.at.astype(np.float64) for r in ranges))


def kind_of(r):
    return r.at.dtype.name


def elementwise(function, units=0):
    def compute(rules, node, inputs):
        kind = kind_of(inputs[0])
        return [rules.rounded(*at_ends(function, *inputs),
                              computed(function, *inputs), kind, units)]
    return compute


def divide(rules, node, inputs):
    """Where the divisor may be 0, of either sign, the quotient may be
    anything."""
    kind, by = kind_of(inputs[0]), inputs[-1]
    a = inputs[0] if len(inputs) == 2 else of_array(
        np.ones((), inputs[0].at.dtype))
    low, high, nan = at_ends(np.divide, a, by)
    zero = np.broadcast_to((by.low <= 0) & (by.high >= 0), low.shape)
    low, high = np.where(zero, -np.inf, low), np.where(zero, np.inf, high)
    return [rules.rounded(low, high, nan | zero, computed(np.divide, a, by),
                          kind)]


def root(rules, node, inputs):
    """NaN of numbers below 0, of which a range may have some."""
    x, = inputs
    with np.errstate(all="ignore"):
        nan = x.nan | (x.low < 0)
        low, high = np.sqrt(np.maximum(x.low, 0)), np.sqrt(x.high)
        empty = (x.low > x.high) | (x.high < 0)
        low, high = np.where(empty, np.inf, low), np.where(
            empty, -np.inf, high)
    return [rules.rounded(low, high, nan, computed(np.sqrt, x), kind_of(x),
                          1)]


def absolute(rules, node, inputs):
    x, = inputs
    low = np.where((x.low <= 0) & (x.high >= 0), 0,
                   np.minimum(np.abs(x.low), np.abs(x.high)))
    empty = x.low > x.high
    return [Range(np.where(empty, np.inf, low),
                  np.where(empty, -np.inf,
                           np.maximum(np.abs(x.low), np.abs(x.high))),
                  x.nan, np.abs(x.at))]


def clip(rules, node, inputs):
    def bounded(x, low, high):
        return np.minimum(np.maximum(x, low), high)
    return [rules.rounded(*at_ends(bounded, *inputs),
                          computed(bounded, *inputs), kind_of(inputs[0]))]


# -- steps

def compare(op):
    ufunc = {"Greater": np.greater, "Less": np.less,
             "GreaterOrEqual": np.greater_equal,
             "LessOrEqual": np.less_equal, "Equal": np.equal}[op]

    def compute(rules, node, inputs):
        a, b = inputs
        if op == "Equal":
            may = (a.low <= b.high) & (b.low <= a.high)
            must = (a.low == a.high) & (b.low == b.high) & (a.low == b.low)
        elif op.startswith("Less"):
            may, must = ufunc(a.low, b.high), ufunc(a.high, b.low)
        else:
            may, must = ufunc(a.high, b.low), ufunc(a.low, b.high)
        empty = (a.low > a.high) | (b.low > b.high)
        may, must = may & ~empty, must & ~empty & ~a.nan & ~b.nan
        with np.errstate(all="ignore"):
            at = ufunc(a.at.astype(np.float64), b.at.astype(np.float64))
        return [Range(must.astype(np.int64), may.astype(np.int64),
                      np.zeros(may.shape, bool), at)]
    return compute


def cast(rules, node, inputs):
    x = inputs[0]
    to = next(name for name, code in values.CODES.items()
              if code == attribute(node, "to"))
    if to in values.EPSILON:
        low, high = (nearest(a.astype(np.float64), to) for a in x.ends())
        return [Range(low, high, x.nan, values.cast(x.at, to))]
    dtype = values.DTYPES[to]
    if to == "bool":
        zero = (x.low <= 0) & (x.high >= 0)
        must = ~zero
        may = ~((x.low == 0) & (x.high == 0)) | x.nan
        at = x.at.astype(np.float64) != 0
        return [Range((must & (x.low <= x.high)).astype(np.int64) | (
            x.low > x.high), may.astype(np.int64),
            np.zeros(must.shape, bool), at)]
    if not values.is_float(x.at):
        return [Range(x.low, x.high, x.nan, x.at.astype(dtype))]
    empty = x.low > x.high
    low = exact.cut(np.where(empty, 0, x.low), dtype).astype(np.int64)
    high = exact.cut(np.where(empty, 0, x.high), dtype).astype(np.int64)
    return [Range(np.where(x.nan, np.minimum(low, 0), low),
                  np.where(x.nan, np.maximum(high, 0), high),
                  np.zeros(low.shape, bool), exact.cut(x.at, dtype))]


def where(rules, node, inputs):
    c, a, b = inputs
    kind = kind_of(a)
    ends = np.broadcast_arrays(c.low, c.high, a.low, a.high, a.nan, b.low,
                               b.high, b.nan)
    c_low, c_high, a_low, a_high, a_nan, b_low, b_high, b_nan = ends

    def pick(of_a, of_b, both):
        return np.where(c_low == 1, of_a, np.where(c_high == 0, of_b, both))
    return [Range(pick(a_low, b_low, np.minimum(a_low, b_low)),
                  pick(a_high, b_high, np.maximum(a_high, b_high)),
                  pick(a_nan, b_nan, a_nan | b_nan),
                  np.where(c.at, a.at, b.at).astype(values.DTYPES[kind]))]


class Choice(Range):
    """Indices: `allowed` says for each element (last axis) whether the index may
    be chosen."""

    def __init__(self, allowed, at):
        index = np.arange(allowed.shape[-1])
        low = np.where(allowed, index, allowed.shape[-1]).min(-1)
        high = np.where(allowed, index, -1).max(-1)
        Range.__init__(self, low, high, np.zeros(low.shape, bool), at)
        self.allowed = allowed


def arg(rules, node, inputs):
    """The first of the largest (least); elements that come near to it may be
    larger."""
    x, axis = inputs[0], attribute(node, "axis", 0)
    low, high, nan = (np.moveaxis(a, axis, -1) for a in (x.low, x.high, x.nan))
    if node.op_type == "ArgMin":
        low, high = -high, -low
    allowed = high >= low.max(-1, keepdims=True)
    # Of equal numbers the first is chosen; they are equal without doubt only
    # where none has a width.
    sure = (low == high).all(-1, keepdims=True)
    first = np.cumsum(allowed, -1) == 1
    allowed = np.where(sure, allowed & first, allowed) | nan.any(
        -1, keepdims=True)
    wide = np.moveaxis(x.at.astype(np.float64), axis, -1)
    at = wide.argmin(-1) if node.op_type == "ArgMin" else wide.argmax(-1)
    return [Choice(allowed, at.astype(np.int64))]


def top_k(rules, node, inputs):
    """The largest numbers in order (axis -1), and which they are."""
    x, k = inputs[0], int(inputs[1].at[0])
    low = -np.sort(-x.low, -1)[..., :k]
    high = -np.sort(-x.high, -1)[..., :k]
    wide = x.at.astype(np.float64)
    index = np.argsort(-wide, -1, kind="stable")[..., :k]
    lost = np.broadcast_to(x.nan.any(-1, keepdims=True), low.shape)
    allowed = (x.high[..., None, :] >= low[..., None]) & (
        x.low[..., None, :] <= high[..., None])
    sure = np.broadcast_to((x.low == x.high).all(-1)[..., None, None],
                           allowed.shape)
    same = np.arange(x.low.shape[-1]) == index[..., None]
    allowed = np.where(sure, same, allowed) | lost[..., None]
    return [Range(np.where(lost, -np.inf, low), np.where(lost, np.inf, high),
                  lost, np.take_along_axis(x.at, index, -1)),
            Choice(allowed, index)]


# -- sums

def linear(rules, kind, function, terms, x, *factors, divisor=1):
    """A sum of products of x and factors, divided by `divisor`: function(x,
    *factors) computes it for arrays of float64. Sums of at most `terms` terms have
    at most so many roundings, and may leave float32 before they are divided."""
    wide = [f.at.astype(np.float64) for f in factors]
    with np.errstate(all="ignore"):
        middle = x.low / 2 + x.high / 2
        radius = x.high / 2 - x.low / 2
        odd = ~np.isfinite(middle) | ~np.isfinite(radius) | x.nan
        middle, radius = np.where(odd, 0, middle), np.where(odd, 0, radius)
        size = [np.abs(f) for f in wide]
        y, far = function(middle, *wide), function(radius, *size)
        total = function(np.abs(middle) + radius, *size)
        lost = function(odd.astype(np.float64), *(
            np.ones(f.shape) for f in wide)) > 0
        whole = all((np.rint(a) == a).all() for a in (middle, *wide)) and \
            not far.any()
        far = np.where(whole & (total < 2.0 ** 24), far, far + (
            terms + 4) * UNIT * total + 2.0 ** -149 * terms)
        lost = lost | ~(total * divisor < 1e38)
        r = rules.rounded(y - far, y + far, np.zeros(y.shape, bool),
                          y, kind)
        everything = all_numbers(y.shape)
        return [Range(np.where(lost, everything[0], r.low),
                      np.where(lost, everything[1], r.high),
                      r.nan | lost, r.at)]


def conv(rules, node, inputs):
    x, w = inputs[:2]

    def function(x, w, *bias):
        y = exact.conv_sums(node, x, w)
        for b in bias:
            y = y + b.reshape([-1] + [1] * (x.ndim - 2))
        return y
    return linear(rules, kind_of(x), function,
                  w.at[0].size + len(inputs) - 2, x, *inputs[1:])


def matmul(rules, node, inputs):
    return linear(rules, kind_of(inputs[0]), np.matmul,
                  inputs[1].at.shape[0], *inputs)


def reduction(mean):
    def compute(rules, node, inputs):
        x = inputs[0]
        axes = tuple(int(d) for d in inputs[1].at)
        count = int(np.prod([x.at.shape[d] for d in axes]))

        def function(x):
            y = x.sum(axes, keepdims=True)
            return y / count if mean else y
        return linear(rules, kind_of(x), function, count, x,
                      divisor=count if mean else 1)
    return compute


def batch_norm(rules, node, inputs):
    """(x - mean) / sqrt(variance + epsilon) * scale + shift; or one factor and
    one term for each channel, whose roundings are of the size of the terms."""
    x, *rest = inputs
    shape = [1, -1] + [1] * (x.at.ndim - 2)
    scale, shift, mean, variance = (
        r.at.astype(np.float64).reshape(shape) for r in rest)
    epsilon = np.float64(np.float32(attribute(node, "epsilon", 1e-5)))
    with np.errstate(all="ignore"):
        factor = scale / np.sqrt(variance + epsilon)

        def function(x):
            return (x - mean) * factor + shift
        low, high, nan = at_ends(function, x)
        most = np.maximum(np.abs(x.low), np.abs(x.high))
        size = (most + np.abs(mean)) * np.abs(factor) + np.abs(shift)
        size = UNIT * np.where(np.isfinite(size), size, 0) + 2.0 ** -149
        at = computed(function, x)
    return [rules.rounded(low, high, nan, at, kind_of(x), FUNCTION, size)]


# -- operators that move elements

def extreme_slice(rules, node, inputs):
    x, starts, ends, axes, steps = inputs
    index = [slice(None)] * x.at.ndim
    for start, end, axis, step in zip(*(r.at.tolist() for r in inputs[1:])):
        size = x.at.shape[axis]
        start = start + size if start < 0 else start
        end = end + size if end < 0 else end
        if step > 0:
            start, end = min(max(start, 0), size), min(max(end, 0), size)
        else:
            start, end = min(max(start, 0), size - 1), min(max(end, -1),
                                                           size - 1)
        index[axis] = np.array(range(start, end, step), np.int64)
    for axis, places in enumerate(index):
        if not isinstance(places, slice):
            x = x.moved(lambda a, d=axis, p=places: np.take(a, p, d))
    return [x]


def pad(rules, node, inputs):
    x, pads, value = inputs
    size = len(pads.at) // 2
    more = list(zip(pads.at[:size].tolist(), pads.at[size:].tolist()))
    return [Range(*(np.pad(a, more, constant_values=v) for a, v in zip(
        (x.low, x.high, x.nan, x.at),
        (value.low, value.high, value.nan, value.at))))]


def pooled_sizes(node, x, kernel):
    """For each dimension the number of windows, and the padding before."""
    strides = attribute(node, "strides", [1] * len(kernel))
    auto = attribute(node, "auto_pad", b"NOTSET")
    pads = attribute(node, "pads", [0] * 2 * len(kernel))
    found = []
    for d, (n, k, s) in enumerate(zip(x.shape[2:], kernel, strides)):
        before, behind = pads[d], pads[d + len(kernel)]
        if auto in (b"SAME_UPPER", b"SAME_LOWER"):
            count = -(-n // s)
            total = max((count - 1) * s + k - n, 0)
            before = total // 2 if auto == b"SAME_UPPER" else \
                total - total // 2
        else:
            room = n + before + behind - k
            count = room // s + 1
            if attribute(node, "ceil_mode", 0):
                count = -(-room // s) + 1
                # The last window begins inside the image or the padding
                # before it.
                if (count - 1) * s >= n + before:
                    count -= 1
        found.append((count, s, before))
    return found


def pool(rules, node, inputs):
    """MaxPool and AveragePool (without the padding in the count)."""
    x, = inputs
    kernel = attribute(node, "kernel_shape")
    sizes = pooled_sizes(node, x.at, kernel)
    shape = x.at.shape[:2] + tuple(n for n, _, _ in sizes)
    is_max = node.op_type == "MaxPool"
    parts = [np.empty(shape, a.dtype) for a in (x.low, x.high, x.nan, x.at)]
    far = np.zeros(shape)
    for at in np.ndindex(*shape[2:]):
        window = [slice(None), slice(None)]
        for d, (i, k, (_, s, before)) in enumerate(zip(at, kernel, sizes)):
            first = i * s - before
            window.append(slice(max(first, 0),
                                min(first + k, x.at.shape[2 + d])))
        place = (slice(None), slice(None)) + at
        axes = tuple(range(2, x.at.ndim))
        for part, a, least in zip(parts, (x.low, x.high, x.nan, x.at),
                                  (-np.inf, -np.inf, False, None)):
            cut = a[tuple(window)]
            if part.dtype == bool:
                part[place] = cut.any(axes)
            elif not cut.size:
                part[place] = -np.inf if is_max else np.nan
            elif is_max:
                part[place] = cut.max(axes)
            else:
                with np.errstate(all="ignore"):
                    part[place] = cut.astype(np.float64).mean(axes)
        if not is_max:
            cut = np.maximum(np.abs(x.low), np.abs(x.high))[tuple(window)]
            far[place] = cut.max(axes, initial=0) * (
                np.prod(cut.shape[2:]) + 2)
    low, high, nan, value = parts
    # The sum of numbers that large may overflow.
    odd = nan | ~np.isfinite(low) | ~np.isfinite(high) | ~(far < 1e38)
    if is_max:
        # NaN in a window may stay or not.
        return [Range(np.where(nan, -np.inf, low), high, nan, value)]
    r = rules.rounded(low, high, nan, value, kind_of(x), 1, UNIT * np.where(
        np.isfinite(far), far, 0))
    return [Range(np.where(odd, -np.inf, r.low), np.where(odd, np.inf, r.high),
                  r.nan | odd, r.at)]


def count_up(rules, node, inputs):
    start, limit, step = (int(r.at) for r in inputs)
    return [of_array(np.array(range(start, limit, step),
                              inputs[0].at.dtype))]


def split_to_sequence(rules, node, inputs):
    x, axis = inputs[0], attribute(node, "axis", 0)
    size = x.at.shape[axis]
    if inputs[1].at.ndim:
        ends = np.cumsum(inputs[1].at)[:-1].tolist()
    else:
        part = min(int(inputs[1].at), size)
        ends = list(range(part, size, part))
    split = [np.split(a, ends, axis) for a in (x.low, x.high, x.nan, x.at)]
    return [[Range(*arrays) for arrays in zip(*split)]]


def sequence_at(rules, node, inputs):
    return [inputs[0][int(inputs[1].at)]]


def joined(rules, node, inputs):
    axis = attribute(node, "axis")
    return [Range(*(np.concatenate(arrays, axis) for arrays in zip(*(
        (r.low, r.high, r.nan, r.at) for r in inputs))))]


def step_function(function):
    """Of floats, without a rounding of its own."""
    def compute(rules, node, inputs):
        x, = inputs
        low, high = function(x.low), function(x.high)
        return [Range(low, high, x.nan, values.cast(
            function(x.at.astype(np.float64)), kind_of(x)))]
    return compute


def relu(x):
    return np.maximum(x, 0)


OPERATORS = {
    "Add": elementwise(np.add), "Sub": elementwise(np.subtract),
    "Mul": elementwise(np.multiply), "Div": divide, "Reciprocal": divide,
    "Sqrt": root, "Exp": elementwise(np.exp, FUNCTION),
    "Tanh": elementwise(np.tanh, FUNCTION),
    "Sigmoid": elementwise(lambda x: 1 / (1 + np.exp(-x)), FUNCTION),
    "Min": elementwise(np.minimum), "Max": elementwise(np.maximum),
    "Neg": elementwise(np.negative), "Relu": elementwise(relu),
    "Abs": absolute, "Clip": clip,
    "Floor": step_function(np.floor), "Ceil": step_function(np.ceil),
    "Round": step_function(np.rint), "Sign": step_function(np.sign),
    "Cast": cast, "Where": where, "ArgMax": arg, "ArgMin": arg, "TopK": top_k,
    **{op: compare(op) for op in ("Greater", "Less", "GreaterOrEqual",
                                  "LessOrEqual", "Equal")},
    "Conv": conv, "MatMul": matmul, "ReduceSum": reduction(False),
    "ReduceMean": reduction(True), "BatchNormalization": batch_norm,
    "Slice": extreme_slice, "Pad": pad, "MaxPool": pool, "AveragePool": pool,
    "Range": count_up, "SplitToSequence": split_to_sequence,
    "SequenceAt": sequence_at, "Concat": joined}


class Ranges:
    """The outputs of a graph, as reference.Expected has them for others."""

    lost, opened = 0, {}

    def __init__(self, graph, given):
        rules = Rules("strict" in graph.options)
        known = {t.name: of_array(t.value) for t in graph.tensors.values()
                 if t.kind == "constant"}
        known.update((name, of_array(a)) for name, a in given.items())
        for node in graph.nodes:
            with np.errstate(all="ignore"):
                results = OPERATORS[node.op_type](
                    rules, node, [known[name] for name in node.input])
            known.update(zip(node.output, results))
        self.ranges = known
        self.strict = rules.strict
        self.want = {name: r.at for name, r in known.items()
                     if isinstance(r, Range)}

    def check(self, name, got):
        """(None or a description of the difference, the number of elements
        that are not determined)"""
        r, want = self.ranges[name], self.want[name]
        if got.shape != want.shape or got.dtype != want.dtype:
            return "%s%s, not %s%s" % (got.dtype, list(got.shape), want.dtype,
                                       list(want.shape)), 0
        if isinstance(r, Choice):
            right = (got >= 0) & (got < r.allowed.shape[-1])
            right &= np.take_along_axis(
                r.allowed, np.where(right, got, 0)[..., None], -1)[..., 0]
            loose = r.allowed.sum(-1) > 1
        elif values.is_float(want):
            kind, a = want.dtype.name, got.astype(np.float64)
            with np.errstate(all="ignore"):
                low, high = nearest(r.low, kind), nearest(r.high, kind)
                exactly = self.strict and kind == "float32"
                far = 0 if exactly else SLACK * np.maximum(
                    spacing(r.low, kind), spacing(r.high, kind))
                right = (a >= low - far) & (a <= high + far) & (
                    low <= high) | np.isnan(a) & r.nan
                loose = ~(high - low <= 1e-3 * np.abs(high)) & (low != high)
        else:
            a = got.astype(np.int64)
            right, loose = (a >= r.low) & (a <= r.high), r.low != r.high
        if right.all():
            return None, int(loose.sum())
        at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(~right)))
        return "%d of %d elements, first at %s: %s, not %s (from %s to %s)" % (
            (~right).sum(), right.size, list(at), np.atleast_1d(got)[at],
            *(np.atleast_1d(v)[at] for v in (want, r.low, r.high))), \
            int(loose.sum())
