# SPDX-License-Identifier: Apache-2.0
"""Where a difference from onnxruntime is none: results that ONNX leaves open,
and nodes of which onnxruntime computes something else than ONNX's text says.
Each entry matches as little as it can, and says why it is there."""
import math

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

import values


def attribute(node, name, default=None):
    for a in node.attribute:
        if a.name == name:
            return {1: a.f, 2: a.i, 3: a.s, 7: list(a.ints),
                    6: list(a.floats)}[a.type]
    return default


# -- results that ONNX leaves open: masks of them, one for each output

def least(array):
    return values.limits(array.dtype.name)[0]


def division(node, inputs, results):
    """Integer division and remainder by zero, and of the least number by -1:
    ONNX's Div and Mod say nothing of them, and C has no result."""
    a, b = inputs
    if not values.is_integer(a):
        return None
    mask = b == 0
    if least(a) < 0:
        mask = mask | ((b == -1) & (a == least(a)))
    return mask


def shift(node, inputs, results):
    """A shift by all bits or more: BitShift has no text on it."""
    return inputs[1] >= inputs[0].dtype.itemsize * 8


def power(node, inputs, results):
    """Integer powers that are no integer of the type: ONNX's Pow has no text
    on them."""
    a, b = inputs
    if not values.is_integer(a):
        return None
    with np.errstate(all="ignore"):
        exact = np.power(a.astype(np.float64), b.astype(np.float64))
        low, high = values.limits(a.dtype.name)
        # Beyond 2^53 the double that tells is itself rounded.
        return ~((exact >= low) & (exact <= high) & (
            np.abs(exact) <= 2.0 ** 53) & (exact == np.rint(exact)))


def to_integer(node, inputs, results):
    """Cast: "converting a float beyond the range of the integer type is
    undefined", and so are NaN and infinities."""
    x, y = inputs[0], results[0]
    if not values.is_float(x) or not values.is_integer(y):
        return None
    low, high = values.limits(y.dtype.name)
    wide = np.trunc(x.astype(np.float64))
    return ~((wide >= low) & (wide <= high)) | (wide == 2.0 ** 63) | (
        wide == 2.0 ** 64)


def quantized_nan(node, inputs, results):
    """QuantizeLinear saturates, but NaN is nowhere in its text; and a scale
    that is no positive number is none. With blocks, onnx.reference converts
    quotients to int32 before it saturates: those beyond are the lowest."""
    scaled = inputs[0].astype(np.float64)
    mask = np.isnan(scaled)
    block = attribute(node, "block_size", 0)
    if block > 0:
        axis = attribute(node, "axis", 1)
        scale = np.repeat(inputs[1].astype(np.float64), block, axis)
        scale = np.take(scale, range(scaled.shape[axis]), axis)
        mask = mask | (np.abs(scaled / scale) >= 2.0 ** 31)
    if not np.all(np.isfinite(inputs[1].astype(np.float64))):
        mask = np.ones(scaled.shape, bool)
    return mask if values.is_integer(results[0]) else None


def dynamic_nan(node, inputs, results):
    """The same of DynamicQuantizeLinear: scale and zero point follow from all
    elements."""
    return not np.isfinite(inputs[0]).all()


def large_shrink(node, inputs, results):
    """Shrink subtracts a fraction from an integer: ONNX does not say in which
    type, and float32 does not hold large ones."""
    x = inputs[0]
    if not values.is_integer(x) or attribute(node, "bias", 0.0) % 1 == 0:
        return None
    wide = x.astype(np.float64)
    low = values.limits(x.dtype.name)[0]
    return (np.abs(wide) > 2 ** 20) | (wide < low + 2) | (
        wide > values.limits(x.dtype.name)[1] - 2)


def integer_root(node, inputs, results):
    """Roots and logarithms of integers that are none of the type, and those
    so near to an integer that it depends on their last bit."""
    x = inputs[0]
    if not values.is_integer(x):
        return None
    if node.op_type != "ReduceL2":
        # a logarithm of few terms, of 0 among them
        return True
    whole = results[0].astype(object)
    low, high = values.limits(x.dtype.name)
    return np.asarray((whole >= 2 ** 20) | (whole == 0), bool)


SUMMING = set("""Conv ConvTranspose MatMul Gemm Einsum ReduceSum ReduceMean
    ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp ReduceLogSum ReduceProd
    AveragePool GlobalAveragePool LpPool GlobalLpPool LRN LpNormalization
    CumSum CumProd Sum Mean LayerNormalization RMSNormalization
    InstanceNormalization GroupNormalization BatchNormalization Resize
    MeanVarianceNormalization Softmax LogSoftmax""".split())


def overflowing(node, inputs, results):
    """Sums, products and squares of numbers so large that partial results
    overflow: ONNX leaves their order open. NaN and infinities are no matter
    of order."""
    for x in inputs:
        if x is not None and x.dtype.name in ("float32", "float64"):
            wide = np.abs(x[np.isfinite(x)])
            if wide.max(initial=0) > (1e15 if x.itemsize == 4 else 1e150):
                return True
    return None


def padded(node, inputs, results):
    """A weight that is no number, where a window hangs over the edge: ONNX
    does not say whether what is padded is a zero that is multiplied, or no
    term at all."""
    if np.isfinite(inputs[1].astype(np.float64)).all() or not (
            any(attribute(node, "pads", [])) or
            (attribute(node, "auto_pad", b"").startswith(b"SAME"))):
        return None
    return True


def no_number(node, inputs, results):
    """Resize of what is no number: whether an element of weight 0 is a term is
    not said (onnx.reference takes it as one, even to the nearest)."""
    if not values.is_float(results[0]):
        return None
    return ~np.isfinite(results[0].astype(np.float64)) | (
        not np.isfinite(inputs[0].astype(np.float64)).all())


def arg_nan(node, inputs, results):
    """Where NaN stands among what is compared: no text says whether it is the
    largest, or the least."""
    x = inputs[0]
    if not values.is_float(x):
        return None
    axis = attribute(node, "axis", -1 if node.op_type == "Hardmax" else 0)
    mask = np.isnan(x.astype(np.float64)).any(axis, keepdims=True)
    if node.op_type != "Hardmax" and not attribute(node, "keepdims", 1):
        mask = np.squeeze(mask, axis)
    return mask


def small_products(node, inputs, results):
    """Products of narrow floats below the normal numbers: these lose digits at
    each step that is rounded, and ONNX does not say which are."""
    return np.abs(results[0].astype(np.float64)) < 2e-4 \
        if inputs[0].dtype.name in values.NARROW else None


def pooled_nan(node, inputs, results):
    """The largest of a window with NaN: MaxPool's text has no word on it, and
    onnxruntime's answer is that of the order in which it looks."""
    x = inputs[0]
    return values.is_float(x) and np.isnan(x.astype(np.float64)).any()


def nan_padded(node, inputs, results):
    """Pools of float64, which onnxruntime has not; onnx.reference pads by
    NaN, and leaves all NaN out."""
    return inputs[0].dtype == np.float64 and np.isnan(inputs[0]).any()


OPEN = {
    "MaxPool": pooled_nan, "GlobalMaxPool": pooled_nan,
    "LpPool": nan_padded, "AveragePool": nan_padded, "ArgMax": arg_nan, "ArgMin": arg_nan,
    "Hardmax": arg_nan, "CumProd": small_products,
    "Shrink": large_shrink, "Div": division, "Mod": division,
    "BitShift": shift, "Pow": power, "Cast": to_integer,
    "CastLike": to_integer, "QuantizeLinear": quantized_nan,
    "DynamicQuantizeLinear": dynamic_nan, "Conv": padded,
    "ConvTranspose": padded, "Resize": no_number,
    "ReduceL2": integer_root, "ReduceLogSum": integer_root,
    "ReduceLogSumExp": integer_root,
}


def open_results(node, inputs, results):
    """For each output a mask of what is open, or None."""
    function = OPEN.get(node.op_type)
    mask = function(node, inputs, results) if function else None
    if (mask is None or mask is False) and node.op_type in SUMMING:
        mask = overflowing(node, inputs, results)
    return [mask] * len(results)


def data_inputs(node):
    """How many inputs are data that may be inexact; the others, as scales of
    Resize, say shapes."""
    return 1 if node.op_type == "Resize" else len(node.input)


LINEAR = set("""Conv ConvTranspose MatMul Gemm Einsum ReduceSum ReduceMean
    AveragePool GlobalAveragePool CumSum Sum""".split())
NORMS = set("""LayerNormalization RMSNormalization InstanceNormalization
    GroupNormalization BatchNormalization MeanVarianceNormalization""".split())


def terms(node, inputs, results, compute):
    """What the errors of sums may add up to, in units in the last place: for
    k terms, taken in any order, the square root of k times the sum of their
    absolute values; of normalised numbers, times the largest result."""
    op = node.op_type
    largest = max((x.size for x in inputs if x is not None), default=1)
    count = max(largest // max(results[0].size, 1), 1)
    if op in ("Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum"):
        count = max(inputs[1].size // max(inputs[1].shape[0], 1), 1) \
            if op == "Conv" else max(inputs[-1].size, inputs[0].size)
    with np.errstate(all="ignore"):
        if op in NORMS:
            wide = np.abs(results[0].astype(np.float64))
            wide = wide[np.isfinite(wide)]
            return np.sqrt(inputs[0].size) * wide.max(initial=0) / 4
        if op not in LINEAR or not values.is_float(results[0]):
            return 0
        some = [np.abs(np.nan_to_num(x, posinf=0, neginf=0))
                .astype(x.dtype) if x is not None and values.is_float(x)
                else x for x in inputs]
        total = compute(node, some)[0].astype(np.float64)
        total = np.abs(np.nan_to_num(total, posinf=0, neginf=0))
        return np.sqrt(count) * total / 4


def cancels(node, inputs):
    """The size of what is subtracted in the formula that ONNX gives, where
    implementations may write it as one: exp(x) - 1, 1 + tanh(x)."""
    op = node.op_type
    if op in ("Elu", "Celu"):
        return abs(attribute(node, "alpha", 1.0))
    if op == "Selu":
        return abs(attribute(node, "alpha", 1.67) *
                   attribute(node, "gamma", 1.05))
    if op == "LogSoftmax":
        return 1
    if op in ("LayerNormalization", "GroupNormalization",
              "RMSNormalization") and inputs[0].dtype == np.float64:
        # stash_type: in float32, whose steps these are, of numbers that are
        # at most about the root of how many there are
        return 2.0 ** 29 * np.sqrt(inputs[0].size / inputs[0].shape[0])
    if op == "Resize" and attribute(node, "mode", b"nearest") != b"nearest":
        # places are floats: their error is that of the largest, times the
        # slope
        wide = np.abs(np.nan_to_num(inputs[0].astype(np.float64),
                                    posinf=0, neginf=0))
        return 2 * max(inputs[0].shape) * wide.max(initial=0)
    if op == "MeanVarianceNormalization" and \
            inputs[0].dtype == np.float64:
        return 1e7  # 1e-9 beside the root or under it
    if op == "Swish":  # onnxruntime's sigmoid, as above
        x = np.abs(inputs[0].astype(np.float64))
        return np.where(np.isfinite(x), x, 0)
    if op in ("Gelu", "Mish"):
        x = np.abs(inputs[0].astype(np.float64))
        return np.where(np.isfinite(x) & (x < 20), x, 0)
    return 0


def rounded(node, inputs):
    """Of Resize of integers, which ONNX computes in floats: the results
    before they are cut. None for all else."""
    if node.op_type != "Resize" or values.is_float(inputs[0]) or \
            attribute(node, "mode", b"nearest") == b"nearest":
        return None
    return [inputs[0].astype(np.float32)] + list(inputs[1:])


def harmless(node, inputs):
    """The inputs without what makes onnxruntime's process end: integer
    division by zero. The results there are open."""
    if node.op_type in ("Div", "Mod") and values.is_integer(inputs[0]):
        mask = division(node, inputs, None)
        if np.any(mask):
            one = np.ones((), inputs[1].dtype)
            shape = np.broadcast_shapes(inputs[0].shape, inputs[1].shape)
            return [inputs[0], np.where(
                mask, one, np.broadcast_to(inputs[1], shape))]
    return inputs


# -- nodes that onnxruntime computes otherwise than ONNX says

def not_finite(node, inputs):
    return not np.isfinite(inputs[0].astype(np.float64)).all()


def is_real(node, inputs):
    return values.is_float(inputs[0])


def not_by_onnxruntime(node, inputs):
    """Whether onnx.reference is to be asked."""
    return any(op == node.op_type and test(node, inputs)
               for op, test, _ in OTHERWISE)


def largest_nan(node, inputs):
    return attribute(node, "reduction", b"none") in (b"max", b"min") and \
        values.is_float(inputs[0]) and \
        any(np.isnan(x.astype(np.float64)).any() for x in
            (inputs[0], inputs[2]))


def has_nan(node, inputs):
    return values.is_float(inputs[0]) and \
        np.isnan(inputs[0].astype(np.float64)).any()


def given_shape(node, inputs):
    return len(inputs) > 2


def backwards_to_most(node, inputs):
    """Whether a slice with a negative step ends at INT_MAX."""
    return len(inputs) > 4 and inputs[4] is not None and \
        bool(np.any((inputs[4] < 0) & (inputs[2] >= 2 ** 31 - 1)))


def broken_length(node, inputs):
    """Whether corners are aligned, and a scale makes no whole length."""
    if attribute(node, "coordinate_transformation_mode") != \
            b"align_corners" or len(inputs) < 3 or inputs[2] is None:
        return False
    axes = attribute(node, "axes", list(range(inputs[0].ndim)))
    return any((inputs[0].shape[d] * float(s)) % 1 != 0
               for d, s in zip(axes, inputs[2].ravel()))


OTHERWISE = [
    ("Resize", broken_length, "rounds the length before it aligns corners; "
     "ONNX's node test resize_downsample_scales_linear_align_corners does "
     "not"),
    ("Slice", backwards_to_most, "takes INT_MAX for the beginning; ONNX "
     "clamps ends, and has INT_MIN for slices that go backward"),
    ("ReduceMax", has_nan, "keeps NaN or not by the place that it has; "
     "onnx.reference keeps it"),
    ("ReduceMin", has_nan, "the same"),
    ("MaxUnpool", given_shape, "takes indices as those of output_shape; in "
     "ONNX's node test they are those of the shape without it"),
    ("ScatterElements", largest_nan, "ONNX's max and min are numpy's, which "
     "keep NaN"),
    ("ScatterND", largest_nan, "the same"),
]


def wrapped(array, dtype):
    """Python's integers as those of a type, modulo its range."""
    bits = 8 * dtype.itemsize
    flat = [int(v) % 2 ** bits for v in np.asarray(array, object).ravel()]
    return np.array(flat, "uint%d" % bits).view(dtype).reshape(
        np.shape(array))


def shrink(node, inputs):
    """Of integers: onnxruntime computes floats, which large ones are not."""
    x = inputs[0].astype(object)
    bias = int(attribute(node, "bias", 0.0))
    edge = int(attribute(node, "lambd", 0.5))
    y = np.where(x < -edge, x + bias, np.where(x > edge, x - bias, 0))
    return [wrapped(y, inputs[0].dtype)]


def gemm(node, inputs):
    """Of integers: onnxruntime has none, onnx.reference makes floats."""
    a, b = (x.astype(object) for x in inputs[:2])
    a = a.T if attribute(node, "transA", 0) else a
    b = b.T if attribute(node, "transB", 0) else b
    y = a.dot(b) * int(attribute(node, "alpha", 1.0))
    if not y.size or not a.size:
        y = np.zeros((a.shape[0], b.shape[1]), object)
    if len(inputs) > 2 and inputs[2] is not None:
        y = y + inputs[2].astype(object) * int(attribute(node, "beta", 1.0))
    return [wrapped(y, inputs[0].dtype)]


def one_hot(node, inputs):
    """Of indices that are no integers: these are cast before use. Both
    references count negative ones from the end first."""
    index = np.trunc(inputs[0]).astype(np.int64)
    depth = int(inputs[1].ravel()[0])
    axis = attribute(node, "axis", -1)
    axis = axis + index.ndim + 1 if axis < 0 else axis
    index = np.where(index < 0, index + depth, index)
    places = np.arange(depth).reshape(
        [depth if d == axis else 1 for d in range(index.ndim + 1)])
    hot = np.expand_dims(index, axis) == places
    return [np.where(hot, inputs[2][1], inputs[2][0])]


def hard_swish(node, inputs):
    """Of float64: the factor is 1/6 as the text has it, not float32's."""
    x = inputs[0]
    return [x * np.clip(x / 6 + 0.5, 0, 1)]


def integer_reduction(node, inputs):
    """Of integers: they wrap, as sums and products do elsewhere, where
    onnxruntime goes through floats or saturates; roots and logarithms are
    taken of float64 and cut."""
    x = inputs[0].astype(object)
    axes = tuple(int(d) for d in inputs[1].ravel()) \
        if len(inputs) > 1 and inputs[1] is not None else ()
    if not axes and attribute(node, "noop_with_empty_axes", 0):
        axes = None
    elif not axes:
        axes = tuple(range(x.ndim))
    op = node.op_type[len("Reduce"):]
    if op == "L1":
        x = np.abs(x)
    elif op in ("SumSquare", "L2"):
        x = x * x
    elif op == "LogSumExp":
        x = np.exp(inputs[0].astype(np.float64))
    x = np.asarray(x, None if op == "LogSumExp" else object)
    if axes is None:
        total = np.asarray(x)
    elif op == "Prod":
        total = np.asarray(np.prod(x, axes, keepdims=True))
    else:
        total = np.asarray(np.sum(x, axes, keepdims=True))
    if op == "Mean":
        total = wrapped(total, inputs[0].dtype).astype(object)
        count = max(x.size // max(total.size, 1), 1)
        total = np.array([abs(int(v)) // count * (1 if v >= 0 else -1)
                          for v in total.ravel()], object).reshape(
                              total.shape)
    if op in ("L2", "LogSum", "LogSumExp"):
        total = total.astype(np.float64)
        total = np.sqrt(total) if op == "L2" else np.log(total)
        low, high = values.limits(inputs[0].dtype.name)
        fits = (total >= low) & (total <= high)
        total = np.where(fits, total, 0).astype(object)
    y = wrapped(total, inputs[0].dtype)
    return [y if attribute(node, "keepdims", 1) or axes is None
            else np.squeeze(y, axes)]


def sigmoid(node, inputs):
    """onnxruntime's of float32 is an approximation with an error of 1e-7,
    which all of a small result is."""
    return [(1 / (1 + np.exp(-inputs[0].astype(np.float64)))).astype(
        inputs[0].dtype)]


ERF = np.vectorize(math.erf, otypes=[np.float64])


def erf(node, inputs):
    """onnxruntime has none of float64; onnx.reference computes float32."""
    return [ERF(inputs[0])]


def gelu(node, inputs):
    """The same."""
    x = inputs[0]
    if attribute(node, "approximate", b"none") == b"tanh":
        inner = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))
    else:
        inner = ERF(x / np.sqrt(2))
    return [0.5 * x * (1 + inner)]


def lrn(node, inputs):
    """onnxruntime sums a window by adding what comes and subtracting what
    goes, so that an infinity leaves NaN behind it, and has no float64;
    onnx.reference computes as many channels as there are pictures."""
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


def global_lp_pool(node, inputs):
    """Neither reference has it at this version."""
    x, p = np.abs(inputs[0].astype(np.float64)), attribute(node, "p", 2)
    axes = tuple(range(2, x.ndim))
    return [((x ** p).sum(axes, keepdims=True) ** (1 / p)).astype(
        inputs[0].dtype)]


def mean_variance(node, inputs):
    """The variance is the difference of two means in onnxruntime and in
    ONNX's function, which cancels; here it is that of the deviations."""
    x = inputs[0].astype(np.float64)
    axes = tuple(attribute(node, "axes", [0, 2, 3]))
    y = x - x.mean(axes, keepdims=True)
    y = y / (np.sqrt((y * y).mean(axes, keepdims=True)) + 1e-9)
    return [y.astype(inputs[0].dtype)]


def shrink_double(node, inputs):
    """onnxruntime goes through float32."""
    x = inputs[0]
    edge, bias = attribute(node, "lambd", 0.5), attribute(node, "bias", 0.0)
    return [np.where(x < -edge, x + bias, np.where(x > edge, x - bias, 0))
            .astype(x.dtype)]


def grouped_transpose(node, inputs):
    """onnx.reference takes the whole filter for each group; it is right for a
    group alone."""
    group = attribute(node, "group", 1)
    names = ["x", "w", "b"]
    alone = onnx.helper.make_node("ConvTranspose", names[:len(inputs)], ["y"])
    alone.attribute.extend(a for a in node.attribute if a.name != "group")
    graph = onnx.helper.make_graph([alone], "g", [
        onnx.helper.make_tensor_value_info(
            n, onnx.TensorProto.DOUBLE, None) for n in alone.input],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE,
                                            None)])
    evaluator = ReferenceEvaluator(onnx.helper.make_model(graph))
    parts = []
    for i in range(group):
        given = [np.split(x, group, axis)[i]
                 for x, axis in zip(inputs, (1, 0, 0))]
        parts.append(evaluator.run(None, dict(zip(names, given)))[0])
    return [np.concatenate(parts, 1)]


def double_groups(node, inputs):
    return inputs[0].dtype == np.float64 and attribute(node, "group", 1) > 1


def odd_lrn(node, inputs):
    return inputs[0].dtype == np.float64 or not_finite(node, inputs)


def is_integer(node, inputs):
    return values.is_integer(inputs[0])


def whole_shrink(node, inputs):
    return values.is_integer(inputs[0]) and \
        attribute(node, "bias", 0.0) % 1 == 0


def is_double(node, inputs):
    return inputs[0].dtype == np.float64


# Where neither reference will do: (operator, when, the tests' own function).
DEFINITIONS = [
    ("Shrink", whole_shrink, shrink), ("Shrink", is_double, shrink_double),
    ("Gemm", is_integer, gemm),
    ("OneHot", is_real, one_hot), ("Erf", is_double, erf),
    ("Gelu", is_double, gelu), ("Sigmoid", is_real, sigmoid),
    ("LRN", odd_lrn, lrn), ("GlobalLpPool", is_real, global_lp_pool),
    ("MeanVarianceNormalization", is_real, mean_variance),
    *(("Reduce" + name, is_integer, integer_reduction) for name in
      ("Sum", "Mean", "Prod", "L1", "L2", "SumSquare", "LogSum",
       "LogSumExp")),
    ("HardSwish", is_double, hard_swish),
    ("ConvTranspose", double_groups, grouped_transpose)]


def definition(node, inputs):
    """A function of the tests' own for this node, or None."""
    for op, test, function in DEFINITIONS:
        if op == node.op_type and test(node, inputs):
            return function
    return None


def reference_types(node, inputs):
    """numpy types that results of onnx.reference should have and at times do
    not: those of the first input, of operators that keep its type."""
    if node.op_type in ("Pow", "Clip", "Mod", "PRelu", "Mean", "Sum"):
        return [inputs[0].dtype]
    return []
