# SPDX-License-Identifier: Apache-2.0
"""ONNX's formulas, for operators of which both onnxruntime and onnx.reference
compute something else, or compute it less exactly than tirc does. Each function
says how they differ."""
import math

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops import op_resize

import values
from defined import attribute, is_inside, windows
from exact import cut, wrapped


def shrink(node, inputs):
    """Of integers: onnxruntime computes floats, which do not hold large
    integers."""
    x = inputs[0].astype(object)
    bias = int(attribute(node, "bias", 0.0))
    edge = int(attribute(node, "lambd", 0.5))
    y = np.where(x < -edge, x + bias, np.where(x > edge, x - bias, 0))
    return [wrapped(y, inputs[0].dtype)]


def gemm(node, inputs):
    """Of integers: onnxruntime has no kernel, onnx.reference gives floats."""
    a, b = (x.astype(object) for x in inputs[:2])
    a = a.T if attribute(node, "transA", 0) else a
    b = b.T if attribute(node, "transB", 0) else b
    y = a.dot(b) * int(attribute(node, "alpha", 1.0))
    if not y.size or not a.size:
        y = np.zeros((a.shape[0], b.shape[1]), object)
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2].astype(object) * int(attribute(node, "beta", 1.0))
    return [wrapped(y, inputs[0].dtype)]


def einsum(node, inputs):
    """Of integers whose sums are large: onnxruntime adds them up as doubles,
    which rounds sums of int64, and saturates sums that do not fit the type.
    Here sums wrap, as docs/reference/results.md says."""
    equation = attribute(node, "equation").decode()
    total = np.einsum(equation, *(x.astype(object) for x in inputs))
    return [wrapped(total, inputs[0].dtype)]


def einsum_size(node, inputs):
    """The largest sum of the absolute values of an element's terms."""
    return np.einsum(attribute(node, "equation").decode(), *(
        np.abs(x.astype(np.float64)) for x in inputs)).max(initial=0)


def one_hot(node, inputs):
    """Indices of floats are cast to integers first; both references add the
    depth to negative ones before that. onnx.reference computes `off` plus a
    difference, which rounds."""
    index = np.trunc(inputs[0]).astype(np.int64)
    depth = int(inputs[1].ravel()[0])
    axis = attribute(node, "axis", -1)
    axis = axis + index.ndim + 1 if axis < 0 else axis
    index = np.where(index < 0, index + depth, index)
    places = np.arange(depth).reshape(
        [depth if d == axis else 1 for d in range(index.ndim + 1)])
    hot = np.expand_dims(index, axis) == places
    return [np.where(hot, inputs[2][1], inputs[2][0])]


def softplus(node, inputs):
    """log(exp(x) + 1), without adding 1 to a small number: in float64
    onnxruntime gives 0 where exp(x) is less than the last bit of 1."""
    x = inputs[0]
    return [np.logaddexp(0, x.astype(np.float64)).astype(x.dtype)]


def hard_swish(node, inputs):
    """Of float64: the factor is 1/6 as in ONNX's text; onnx.reference has it as
    float32."""
    x = inputs[0]
    return [x * np.clip(x / 6 + 0.5, 0, 1)]


def quantize(node, inputs):
    """Of types for which onnxruntime has no kernel; onnx.reference converts
    quotients to int32 before it saturates them."""
    x, scale, *rest = inputs
    zero = rest[0] if rest and rest[0] is not None else np.array(0, np.uint8)
    axis, block = attribute(node, "axis", 1), attribute(node, "block_size", 0)

    def spread(array):
        if block > 0:
            return np.take(np.repeat(array, block, axis),
                           range(x.shape[axis]), axis)
        return array.reshape([-1 if d == axis % x.ndim else 1
                              for d in range(x.ndim)]) if array.ndim else array
    low, high = values.limits(zero.dtype.name)
    y = np.rint(x.astype(np.float32) / spread(scale).astype(np.float32))
    y = np.clip(y.astype(np.float64) + spread(zero).astype(np.float64),
                low, high)
    return [np.where(np.isnan(y), 0, y).astype(np.int64).astype(zero.dtype)]


def softmax(node, inputs):
    """Of a row whose largest element is an infinity: its difference from
    itself is NaN, and so is the sum. onnxruntime's result is that of a library
    of vector functions, and differs from type to type."""
    x, axis = inputs[0].astype(np.float64), attribute(node, "axis", -1)
    y = x - x.max(axis, keepdims=True)
    total = np.exp(y).sum(axis, keepdims=True)
    y = y - np.log(total) if node.op_type == "LogSoftmax" \
        else np.exp(y) / total
    return [y.astype(inputs[0].dtype)]


def sigmoid(node, inputs):
    """onnxruntime approximates it for float32 with an absolute error of 1e-7,
    which may be larger than the result."""
    return [(1 / (1 + np.exp(-inputs[0].astype(np.float64)))).astype(
        inputs[0].dtype)]


def swish(node, inputs):
    """Differs as Sigmoid does."""
    x = inputs[0].astype(np.float64)
    y = x / (1 + np.exp(-attribute(node, "alpha", 1.0) * x))
    return [y.astype(inputs[0].dtype)]


def channel_values(node, inputs):
    """BatchNormalization's inputs as float64, those per channel with x's rank,
    epsilon added to the variance. In training mean and variance are those of
    x."""
    x, *rest = (i.astype(np.float64) for i in inputs)
    shape = [1, -1] + [1] * (x.ndim - 2) if x.ndim > 1 else [-1]
    scale, shift, mean, variance = (i.reshape(shape) for i in rest)
    if attribute(node, "training_mode", 0):
        axes = tuple(d for d in range(x.ndim) if d != 1)
        mean = x.mean(axes, keepdims=True)
        variance = ((x - mean) ** 2).mean(axes, keepdims=True)
    epsilon = np.float64(np.float32(attribute(node, "epsilon", 1e-5)))
    return x, scale, shift, mean, variance + epsilon


def batch_norm(node, inputs):
    """(x - mean) / sqrt(variance + epsilon) * scale + shift, as in ONNX's text:
    onnxruntime first computes one factor and one term, which are NaN where the
    scale is an infinity."""
    x, scale, shift, mean, variance = channel_values(node, inputs)
    y = [(x - mean) / np.sqrt(variance) * scale + shift]
    if len(node.output) > 1 or attribute(node, "training_mode", 0):
        keep = np.float64(np.float32(attribute(node, "momentum", 0.9)))
        epsilon = np.float64(np.float32(attribute(node, "epsilon", 1e-5)))
        for was, now in ((inputs[3], mean), (inputs[4], variance - epsilon)):
            y.append(was.astype(np.float64) * keep +
                     now.ravel() * (1 - keep))
    return [a.astype(i.dtype) for a, i in zip(y, (inputs[0], *inputs[3:]))]


def over_mean(node, x):
    """x in the shape in which a normalisation takes means, and their axes."""
    op = node.op_type
    if op == "GroupNormalization":
        return x.reshape(len(x), attribute(node, "num_groups"), -1), (2,)
    if op == "LayerNormalization":
        return x, tuple(range(attribute(node, "axis", -1) % x.ndim, x.ndim))
    if op == "MeanVarianceNormalization":
        return x, tuple(attribute(node, "axes", [0, 2, 3]))
    return x, tuple(d for d in range(x.ndim) if d > 1 or
                    op == "BatchNormalization" and d == 0)


def mean_size(node, inputs):
    """The mean over the deviation: how far the results of a normalisation,
    before they are scaled, move when the mean moves by a part of itself, over
    that part; times the error of the mean's sum, in units in the last place, as
    for other sums (excuses.terms). Of equal numbers the deviation is that error
    alone."""
    x, axes = over_mean(node, inputs[0].astype(np.float64))
    mean = x.mean(axes, keepdims=True)
    least = 1e-9 if node.op_type == "MeanVarianceNormalization" else np.sqrt(
        attribute(node, "epsilon", 1e-5))
    y = np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True))
    wide, count = np.abs(x), x.size / max(mean.size, 1)
    equal = wide.max(axes, keepdims=True, initial=0) <= 2 * wide.min(
        axes, keepdims=True, initial=np.inf)
    y = np.abs(mean) / np.maximum(y, least) * np.maximum(
        1, np.where(equal, count, np.sqrt(count)) / 4)
    return np.nan_to_num(np.broadcast_to(y, x.shape).reshape(
        inputs[0].shape), posinf=0)


def norm_scale(node, inputs):
    """The factors of a normalisation, as its results or with fewer axes."""
    if len(inputs) < 2:
        return np.float64(1)
    x, scale = inputs[0], inputs[1].astype(np.float64)
    if node.op_type in ("LayerNormalization", "RMSNormalization"):
        return scale
    # Before opset 21 GroupNormalization has one factor for each group.
    return np.repeat(scale, x.shape[1] // scale.size).reshape(
        [1, -1] + [1] * (x.ndim - 2))


def mish(node, inputs):
    """Of float64: onnx.reference computes the logarithm of 1 plus a power of e,
    in which a small power is lost."""
    x = inputs[0]
    return [x * np.tanh(np.logaddexp(0, x))]


def batch_norm_terms(node, inputs):
    """The sum of the absolute values of the terms of BatchNormalization, where
    mean, variance, scale and shift become one factor and one term."""
    x, scale, shift, mean, variance = channel_values(node, inputs)
    return (np.abs(x) + np.abs(mean)) * np.abs(scale) / np.sqrt(
        variance) + np.abs(shift)


def instance_norm(node, inputs):
    """onnxruntime computes one factor and one term for each channel; the
    difference loses digits where the mean is large beside the deviation."""
    x, scale, shift = (i.astype(np.float64) for i in inputs)
    axes = tuple(range(2, x.ndim))
    shape = [1, -1] + [1] * (x.ndim - 2)
    y = x - x.mean(axes, keepdims=True)
    epsilon = np.float64(np.float32(attribute(node, "epsilon", 1e-5)))
    y = y / np.sqrt((y * y).mean(axes, keepdims=True) + epsilon)
    return [(y * scale.reshape(shape) + shift.reshape(shape)).astype(
        inputs[0].dtype)]


def group_norm(node, inputs):
    """The variance is the difference of two means in onnxruntime and in
    ONNX's function, of float32 even for float64: it cancels where the mean of
    a group is large beside the deviation. Here it is the mean of the squared
    deviations."""
    x, scale, bias = (i.astype(np.float64) for i in inputs)
    groups = attribute(node, "num_groups")
    y = x.reshape(x.shape[0], groups, x[0].size // groups)
    y = y - y.mean(2, keepdims=True)
    epsilon = np.float64(np.float32(attribute(node, "epsilon", 1e-5)))
    y = y / np.sqrt((y * y).mean(2, keepdims=True) + epsilon)
    # Before opset 21 scale and bias have one element for each group.
    scale, bias = (np.repeat(v, x.shape[1] // v.size).reshape(
        [1, -1] + [1] * (x.ndim - 2)) for v in (scale, bias))
    return [(y.reshape(x.shape) * scale + bias).astype(inputs[0].dtype)]


ERF = np.vectorize(math.erf, otypes=[np.float64])


def erf(node, inputs):
    """Of float64: onnxruntime has no kernel, and onnx.reference computes
    float32."""
    return [ERF(inputs[0])]


def gelu(node, inputs):
    """Of float64: differs as Erf does."""
    x = inputs[0]
    if attribute(node, "approximate", b"none") == b"tanh":
        inner = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))
    else:
        inner = ERF(x / np.sqrt(2))
    return [0.5 * x * (1 + inner)]


def lrn(node, inputs):
    """onnxruntime moves a window by adding the next square to its sum and
    subtracting the last, so that a large number leaves an error behind and an
    infinity NaN; it has no kernel for float64. onnx.reference computes only as
    many channels as there are pictures in the batch."""
    x = inputs[0].astype(np.float64)
    size, count = attribute(node, "size", 1), x.shape[1]
    total = np.zeros(x.shape)
    for c in range(count):
        low = max(0, c - (size - 1) // 2)
        high = min(count, c + size // 2 + 1)
        total[:, c] = (x[:, low:high] ** 2).sum(1)
    factor = attribute(node, "bias", 1.0) + total * attribute(
        node, "alpha", float(np.float32(1e-4))) / size
    return [(x / factor ** attribute(node, "beta", 0.75)).astype(
        inputs[0].dtype)]


def lp_pool(node, inputs):
    """Of float64, which onnxruntime does not have: with ceil_mode onnx.reference
    moves the windows by the elements that the last one lacks."""
    x, p = inputs[0], attribute(node, "p", 2)
    y = np.zeros(evaluated(node, {node.input[0]: x}).shape)
    for at, places in windows(node, x, y.shape[2:]):
        terms = [np.abs(x[(slice(None), slice(None)) + place]) ** p
                 for place in places if is_inside(x, place)]
        y[(slice(None), slice(None)) + at] = sum(terms, np.zeros(
            x.shape[:2])) ** (1 / p)
    return [y]


def global_lp_pool(node, inputs):
    """Neither reference has the operator in this opset."""
    x, p = np.abs(inputs[0].astype(np.float64)), attribute(node, "p", 2)
    axes = tuple(range(2, x.ndim))
    return [((x ** p).sum(axes, keepdims=True) ** (1 / p)).astype(
        inputs[0].dtype)]


def mean_variance(node, inputs):
    """The variance is the difference of two means in onnxruntime and in
    ONNX's function, and cancels; here it is the mean of the squared
    deviations."""
    x = inputs[0].astype(np.float64)
    axes = tuple(attribute(node, "axes", [0, 2, 3]))
    y = x - x.mean(axes, keepdims=True)
    y = y / (np.sqrt((y * y).mean(axes, keepdims=True)) + 1e-9)
    return [y.astype(inputs[0].dtype)]


def nearest(node, inputs):
    """Resize with mode nearest of integers beyond 2^53: onnx.reference computes
    float64, which does not hold them. Here it resizes the indices of the
    elements instead."""
    x = inputs[0]
    index = np.arange(x.size, dtype=np.float64).reshape(x.shape)
    given = {name: value for name, value in zip(
        node.input, [index, *inputs[1:]]) if value is not None}
    places = evaluated(node, given).astype(np.int64)
    return [x.ravel()[places]]


class Resize(op_resize.Resize):
    """onnx.reference's Resize, with the attribute as Python's float."""

    def _run(self, *inputs, cubic_coeff_a=None, **attributes):
        return super()._run(*inputs, cubic_coeff_a=float(cubic_coeff_a),
                            **attributes)


def cubic_double(node, inputs):
    """Of float64: onnx.reference computes the coefficients as float32, the type
    of the attribute cubic_coeff_a."""
    given = {name: value for name, value in zip(node.input, inputs)
             if value is not None}
    return [evaluated(node, given, [Resize])]


def given_sizes(inputs):
    """Whether Resize has the input sizes, and not scales."""
    return len(inputs) > 3 and inputs[3] is not None


def lengths_of_one(node, inputs):
    """The axes that Resize makes one element long."""
    axes = attribute(node, "axes", list(range(inputs[0].ndim)))
    if given_sizes(inputs):
        return [d for d, n in zip(axes, inputs[3].ravel()) if n == 1]
    return [d for d, s in zip(axes, inputs[2].ravel())
            if int(inputs[0].shape[d] * float(s)) == 1]


def first_elements(node, inputs):
    """Resize with mode pytorch_half_pixel: onnx.reference takes the length of a
    result for size * scale, a fraction, and -0.5 for the coordinate."""
    x, inputs = inputs[0], list(inputs)
    axes = attribute(node, "axes", list(range(x.ndim)))
    at = 3 if given_sizes(inputs) else 2
    ones = lengths_of_one(node, inputs)
    inputs[at] = inputs[at].copy()
    for d in ones:
        x = x.take([0], d)
        inputs[at].ravel()[axes.index(d)] = 1
    inputs[0] = x.astype(np.float64) if values.is_integer(x) else x
    given = {name: value for name, value in zip(node.input, inputs)
             if value is not None}
    y = evaluated(node, given, [Resize])
    return [cut(y, x.dtype) if values.is_integer(x)
            else y.astype(x.dtype)]


def integer_resize(node, inputs):
    """Resize with mode linear or cubic of integers, with results beyond their
    type: both references convert these to integers, which is undefined."""
    x = inputs[0]
    given = {name: value for name, value in zip(
        node.input, [x.astype(np.float64), *inputs[1:]])
        if value is not None}
    return [cut(evaluated(node, given, [Resize]), x.dtype)]


def evaluated(node, given, operators=()):
    """The first result of a node by onnx.reference; `given` is {name: array},
    and `operators` take the place of its own."""
    infos = [onnx.helper.make_tensor_value_info(
        name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), None)
        for name, value in given.items()]
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    alone.input[:] = [n if n in given else "" for n in node.input]
    alone.output[:] = ["y"]
    model = onnx.helper.make_model(onnx.helper.make_graph(
        [alone], "g", infos, [onnx.ValueInfoProto(name="y")]))
    return ReferenceEvaluator(model, new_ops=list(operators)).run(
        None, given)[0]


def roi_align(node, inputs, results):
    """For a sample outside of the image both references multiply the image's
    first element by 0, which is NaN where that is no number."""
    x, *others = (a.astype(np.float32)
                  if a.dtype.kind != "i" and a.dtype != np.float64 else a
                  for a in inputs)
    first = np.zeros(x.shape, x.dtype)
    first[..., 0, 0] = 1
    average = onnx.NodeProto()
    average.CopyFrom(node)
    del average.attribute[:]
    average.attribute.extend(a for a in node.attribute if a.name != "mode")
    reached = evaluated(average, dict(zip(node.input, [first, *others]))) != 0
    x = x.copy()
    x[..., 0, 0] = 0
    without = evaluated(node, dict(zip(node.input, [x, *others])))
    return [np.where(reached, results[0], without.astype(results[0].dtype))]


def shrink_double(node, inputs):
    """Of float64: onnxruntime computes float32."""
    x = inputs[0]
    edge, bias = attribute(node, "lambd", 0.5), attribute(node, "bias", 0.0)
    return [np.where(x < -edge, x + bias, np.where(x > edge, x - bias, 0))
            .astype(x.dtype)]


def grouped_transpose(node, inputs):
    """Of float64: onnx.reference takes the whole filter for each group. It is
    right where there is one group, so each is computed alone."""
    group = attribute(node, "group", 1)
    names = ["x", "w", "b"][:len(inputs)]
    alone = onnx.helper.make_node("ConvTranspose", names, ["y"])
    alone.attribute.extend(a for a in node.attribute if a.name != "group")
    parts = []
    for i in range(group):
        given = [np.split(x, group, axis)[i]
                 for x, axis in zip(inputs, (1, 0, 0))]
        parts.append(evaluated(alone, dict(zip(names, given))))
    return [np.concatenate(parts, 1)]


def inverse(node, inputs):
    """Of com.microsoft, whose operators the references are not given."""
    x = inputs[0].astype(np.float64)
    with np.errstate(all="ignore"):
        ordinary = np.isfinite(np.linalg.cond(x))[..., None, None]
        y = np.linalg.inv(np.where(ordinary, x, np.eye(x.shape[-1])))
    return [np.where(ordinary, y, np.nan).astype(inputs[0].dtype)]


def trees(node, inputs):
    """TreeEnsembleRegressor with nodes BRANCH_LEQ, whose domain the references
    are not given."""
    lists = {a.name: onnx.helper.get_attribute_value(a)
             for a in node.attribute}
    where = {key: k for k, key in enumerate(zip(
        lists["nodes_treeids"], lists["nodes_nodeids"]))}
    weights = {key: k for k, key in enumerate(zip(
        lists["target_treeids"], lists["target_nodeids"]))}
    x = inputs[0]
    y = np.zeros((x.shape[0], lists["n_targets"]), x.dtype)
    for row, total in zip(x, y):
        for tree in sorted(set(lists["nodes_treeids"])):
            at = 0
            while lists["nodes_modes"][where[tree, at]] != b"LEAF":
                k = where[tree, at]
                side = "true" if row[lists["nodes_featureids"][k]] <= \
                    np.float32(lists["nodes_values"][k]) else "false"
                at = lists["nodes_%snodeids" % side][k]
            k = weights[tree, at]
            total[lists["target_ids"][k]] += np.float32(
                lists["target_weights"][k])
    return [y]


def machine(node, inputs):
    """SVMClassifier by onnx.reference, which the other tests give no operators
    of ai.onnx.ml."""
    alone = onnx.NodeProto()
    alone.CopyFrom(node)
    alone.input[:], alone.output[:] = ["x"], ["label", "scores"]
    graph = onnx.helper.make_graph(
        [alone], "one", [onnx.ValueInfoProto(name="x")],
        [onnx.ValueInfoProto(name=name) for name in alone.output])
    model = onnx.helper.make_model(graph, opset_imports=[
        onnx.helper.make_opsetid("", 17),
        onnx.helper.make_opsetid("ai.onnx.ml", 1)])
    label, scores = ReferenceEvaluator(model).run(
        None, {"x": inputs[0].astype(np.float64)})
    return [label, scores.astype(np.float32)]
