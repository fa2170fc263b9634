# SPDX-License-Identifier: Apache-2.0
"""Where a difference from onnxruntime is none: results that ONNX leaves open,
and nodes of which onnxruntime computes something else than ONNX's text says.
Each entry matches as little as it can, and says why it is there. What
docs/output.md decides is compared with that (defined.py), and so are ONNX's
formulas where both references compute something else (formulas.py)."""
import numpy as np
import onnx

import defined
import formulas
import values
from defined import attribute


# -- results that ONNX leaves open: masks of them, one for each output

def power(node, inputs, results, compute):
    """An integer to a power that is a float, and no number of the type: ONNX
    has no text on it, and to convert it is undefined in C."""
    a, b = inputs
    if not values.is_integer(a) or values.is_integer(b):
        return None
    with np.errstate(all="ignore"):
        exact = np.power(a.astype(np.float64), b.astype(np.float64))
        low, high = values.limits(a.dtype.name)
        near = np.abs(exact - np.rint(exact)) <= 1e-5 * np.abs(exact)
        # Where it is near to an integer, its last bit decides.
        return ~((exact >= low) & (exact <= high) & (
            ~near | (np.abs(exact) < 2.0 ** 20)))


def to_nibbles(node, inputs, results, compute):
    """Cast beyond the range of a type of 4 bits, of NaN and infinities too:
    undefined in ONNX, and documented by the low bits of an integer of no
    particular width."""
    x, y = inputs[0], results[0]
    if not values.is_float(x) or y.dtype.name not in values.NIBBLES:
        return None
    low, high = values.limits(y.dtype.name)
    wide = np.trunc(x.astype(np.float64))
    return ~((wide >= low) & (wide <= high))


def quantized_nan(node, inputs, results, compute):
    """NaN is nowhere in QuantizeLinear's text; and a scale that is NaN or an
    infinity is none."""
    if not values.is_integer(results[0]):
        return None
    return np.isnan(inputs[0].astype(np.float64)) | (not np.all(
        np.isfinite(inputs[1].astype(np.float64))))


def dynamic_nan(node, inputs, results, compute):
    """NaN or an infinity in DynamicQuantizeLinear: the scale, and with it each
    result, follows from all elements."""
    return not np.isfinite(inputs[0]).all()


def large_shrink(node, inputs, results, compute):
    """Shrink subtracts a fraction from an integer: ONNX does not say in which
    type, and float32 does not hold large ones."""
    x = inputs[0]
    if not values.is_integer(x) or attribute(node, "bias", 0.0) % 1 == 0:
        return None
    wide = x.astype(np.float64)
    low = values.limits(x.dtype.name)[0]
    return (np.abs(wide) > 2 ** 20) | (wide < low + 2) | (
        wide > values.limits(x.dtype.name)[1] - 2)


def integer_root(node, inputs, results, compute):
    """Roots and logarithms of integers that are so near to an integer that
    the last bit decides which one is left."""
    x = inputs[0]
    if not values.is_integer(x):
        return None
    exact = formulas.root(node, inputs)
    near = np.abs(exact - np.rint(exact)) <= 1e-6 * np.maximum(
        np.abs(exact), 1)
    if node.op_type == "ReduceL2":
        # of small squares the root is exact
        near &= exact >= 2.0 ** 20
    return near


SUMMING = set("""Conv ConvTranspose MatMul Gemm Einsum ReduceSum ReduceMean
    ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp ReduceLogSum ReduceProd
    AveragePool GlobalAveragePool LpPool GlobalLpPool LRN LpNormalization
    CumSum CumProd Sum Mean LayerNormalization RMSNormalization
    InstanceNormalization GroupNormalization BatchNormalization Resize
    MeanVarianceNormalization""".split())


# These compute in float32 unless stash_type says otherwise.
STASHED = {"LayerNormalization", "RMSNormalization"}


def overflowing(node, inputs, results, compute):
    """Sums, products and squares of numbers so large that partial results
    overflow: ONNX leaves their order open. NaN and infinities are no matter
    of order. Of what is linear those elements are told whose terms add up to
    so much."""
    narrow = node.op_type in STASHED
    for x in inputs[:1] if node.op_type in NORMS else inputs:
        if x is None or x.dtype.name not in ("float32", "float64"):
            continue
        wide = np.abs(x[np.isfinite(x)])
        if wide.max(initial=0) > (1e15 if narrow or x.itemsize == 4
                                  else 1e150):
            if node.op_type not in LINEAR:
                return True
            total = absolute(node, inputs, compute)
            return ~(total < np.finfo(x.dtype).max / 4)
    if node.op_type == "LayerNormalization" and len(inputs) > 2 and \
            inputs[2] is not None and results[0].dtype == np.float32:
        # Times the scale it overflows, or not where the sum is contracted.
        bias = np.abs(inputs[2].astype(np.float64))
        total = np.abs(results[0].astype(np.float64)) + 2 * bias
        return ~(total < np.finfo(np.float32).max / 4) & \
            ~np.isnan(results[0]) & np.isfinite(bias)
    return None


def padded(node, inputs, results, compute):
    """A weight that is no number, where a window hangs over the edge: ONNX
    does not say whether what is padded is a zero that is multiplied, or no
    term at all."""
    if np.isfinite(inputs[1].astype(np.float64)).all():
        return None
    x, w = (np.ones(i.shape, np.float32) for i in inputs[:2])
    terms_there = compute(node, [x, w])[0]
    per_group = w[0].size if node.op_type == "Conv" else \
        w.size // w.shape[1] // attribute(node, "group", 1)
    return terms_there < per_group


def dilated(mask, axis, reach):
    """With its neighbours along an axis."""
    found = mask.copy()
    for step in range(1, min(reach, mask.shape[axis] - 1) + 1):
        low = [slice(None)] * mask.ndim
        high = list(low)
        low[axis], high[axis] = slice(None, -step), slice(step, None)
        found[tuple(low)] |= mask[tuple(high)]
        found[tuple(high)] |= mask[tuple(low)]
    return found


def no_number(node, inputs, results, compute):
    """Resize beside what is no number: whether an element of weight 0 is a
    term is not said (onnx.reference takes it as one, even to the nearest)."""
    x = inputs[0]
    if not values.is_float(results[0]) or not np.size(results[0]) or \
            not not_finite(node, inputs):
        return None
    odd = ~np.isfinite(x.astype(np.float64))
    mode = attribute(node, "mode", b"nearest")
    reach = max(x.shape) if attribute(node, "antialias", 0) else \
        2 if mode == b"cubic" else 1
    for axis in attribute(node, "axes", list(range(x.ndim))):
        odd = dilated(odd, axis, reach)
    linear = onnx.NodeProto()
    linear.CopyFrom(node)
    del linear.attribute[:]
    linear.attribute.extend(
        a for a in node.attribute if a.name in (
            "axes", "coordinate_transformation_mode",
            "keep_aspect_ratio_policy"))
    linear.attribute.append(onnx.helper.make_attribute("mode", "linear"))
    return compute(linear, [odd.astype(np.float32), *inputs[1:]])[0] != 0


def small_products(node, inputs, results, compute):
    """Products of narrow floats below the normal numbers: these lose digits at
    each step that is rounded, and ONNX does not say which are."""
    return np.abs(results[0].astype(np.float64)) < 2e-4 \
        if inputs[0].dtype.name in values.NARROW else None


OPEN = {
    "CumProd": small_products, "Shrink": large_shrink, "Pow": power,
    "Cast": to_nibbles, "CastLike": to_nibbles,
    "QuantizeLinear": quantized_nan, "DynamicQuantizeLinear": dynamic_nan,
    "Conv": padded, "ConvTranspose": padded, "Resize": no_number,
    "ReduceL2": integer_root, "ReduceLogSum": integer_root,
    "ReduceLogSumExp": integer_root,
}


def open_results(node, inputs, results, compute):
    """For each output a mask of what is open, or None; and for each reason
    its own mask."""
    mask, reasons = None, {}
    for function in (OPEN.get(node.op_type),
                     overflowing if node.op_type in SUMMING else None):
        found = function(node, inputs, results, compute) if function else None
        if found is not None and np.any(found):
            reasons[function.__name__] = found
            mask = found if mask is None else mask | found
    return [mask] * len(results), reasons


def data_inputs(node):
    """How many inputs are data that may be inexact; the others, as scales of
    Resize, say shapes."""
    return 1 if node.op_type == "Resize" else len(node.input)


LINEAR = set("""Conv ConvTranspose MatMul Gemm Einsum ReduceSum ReduceMean
    AveragePool GlobalAveragePool CumSum Sum Mean Add Sub""".split())
NORMS = set("""LayerNormalization RMSNormalization InstanceNormalization
    GroupNormalization MeanVarianceNormalization""".split())


def absolute(node, inputs, compute):
    """The sums of the absolute values of the terms of what is linear."""
    some = [np.asarray(np.abs(np.nan_to_num(x, posinf=0, neginf=0)), x.dtype)
            if x is not None and values.is_float(x) else x for x in inputs]
    op = node
    if node.op_type == "Sub":
        op = onnx.NodeProto()
        op.CopyFrom(node)
        op.op_type = "Add"
    return np.abs(compute(op, some)[0].astype(np.float64))


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
            size = np.sqrt(inputs[0].size) * wide.max(initial=0) / 4
            if op in ("MeanVarianceNormalization", "InstanceNormalization"):
                size = size + formulas.mean_size(node, inputs)
            return size
        if op == "BatchNormalization":
            return np.nan_to_num(formulas.batch_norm_terms(node, inputs),
                                 posinf=0, neginf=0)
        if op not in LINEAR or not values.is_float(results[0]):
            return 0
        total = np.nan_to_num(absolute(node, inputs, compute), posinf=0)
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
    if op in STASHED and inputs[0].dtype == np.float64:
        # stash_type: in float32, whose steps these are, of numbers that are
        # at most about the root of how many there are, times the scale
        scale = np.abs(np.nan_to_num(inputs[1], posinf=0, neginf=0))
        return 2.0 ** 29 * scale * np.sqrt(
            inputs[0].size / inputs[0].shape[0])
    if op == "Resize" and attribute(node, "mode", b"nearest") != b"nearest":
        # places are floats: their error is that of the largest, times the
        # slope
        wide = np.abs(np.nan_to_num(inputs[0].astype(np.float64),
                                    posinf=0, neginf=0))
        return 2 * max(inputs[0].shape) * wide.max(initial=0)
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


def unbounded(node, inputs):
    """Whether Clip has no lower or no upper bound, and infinities."""
    return values.is_float(inputs[0]) and not_finite(node, inputs) and (
        len(inputs) < 3 or inputs[1] is None or inputs[2] is None)


def nan_bound(node, inputs):
    return values.is_float(inputs[0]) and any(
        x is not None and np.isnan(x.astype(np.float64)).any()
        for x in inputs[1:])


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
    ("Clip", unbounded, "takes a bound that is not there for the largest "
     "number of the type; in ONNX's function, and in onnx.reference, "
     "infinities pass"),
    ("Clip", nan_bound, "passes over a bound that is NaN; ONNX's function "
     "and onnx.reference give NaN, as docs/output.md has it"),
    ("MaxUnpool", given_shape, "takes indices as those of output_shape; in "
     "ONNX's node test they are those of the shape without it"),
    ("ScatterND", largest_nan, "ONNX's max and min are numpy's, which keep "
     "NaN"),
]


def anything(node, inputs):
    return True


def is_integer(node, inputs):
    return values.is_integer(inputs[0])


def is_double(node, inputs):
    return inputs[0].dtype == np.float64


def is_cubic_double(node, inputs):
    return is_double(node, inputs) and attribute(node, "mode") == b"cubic"


def whole_shrink(node, inputs):
    return is_integer(node, inputs) and \
        attribute(node, "bias", 0.0) % 1 == 0


def double_groups(node, inputs):
    return is_double(node, inputs) and attribute(node, "group", 1) > 1


def undefined_quotient(node, inputs):
    a, b = inputs
    return values.is_integer(a) and bool(np.any(b == 0) or (
        values.limits(a.dtype.name)[0] < 0 and np.any(b == -1)))


def rarely_quantized(node, inputs):
    return len(inputs) > 2 and values.is_integer(inputs[2]) and (
        attribute(node, "block_size", 0) > 0 or
        inputs[2].dtype.name in values.NIBBLES)


def large_quotient(node, inputs):
    """Whether an int32 over the least scale may be none, to an integer."""
    if len(inputs) > 2 and inputs[2] is not None and \
            not values.is_integer(inputs[2]):
        return False
    least = inputs[1].astype(np.float64).min(initial=np.inf)
    return is_integer(node, inputs) and np.abs(
        inputs[0].astype(np.float64)).max(initial=0) >= 2.0 ** 30 * least


def large_sums(node, inputs):
    """Whether terms of Einsum add up to more than a double, or the type,
    holds for sure."""
    return is_integer(node, inputs) and formulas.einsum_size(
        node, inputs) >= 2.0 ** min(53, 8 * inputs[0].dtype.itemsize - 1)


def large_nearest(node, inputs):
    """Whether an element of 64 bits that is only moved is no double."""
    return attribute(node, "mode", b"nearest") == b"nearest" and \
        inputs[0].dtype.name in ("int64", "uint64") and \
        np.abs(inputs[0].astype(np.float64)).max(initial=0) >= 2.0 ** 53


def far_shift(node, inputs):
    return bool(np.any(inputs[1] >= 8 * inputs[1].dtype.itemsize))


def integer_power(node, inputs):
    return all(values.is_integer(x) for x in inputs)


# Neither reference will do: (operator, when, the tests' own function).
DEFINITIONS = [
    ("Div", undefined_quotient, defined.divide),
    ("Mod", undefined_quotient, defined.divide),
    ("BitShift", far_shift, defined.shift),
    ("Pow", integer_power, defined.power),
    ("QuantizeLinear", rarely_quantized, formulas.quantize),
    ("QuantizeLinear", large_quotient, formulas.quantize),
    ("Einsum", large_sums, formulas.einsum),
    ("Resize", large_nearest, formulas.nearest),
    ("Resize", is_cubic_double, formulas.cubic_double),
    ("GroupNormalization", is_real, formulas.group_norm),
    ("ArgMax", has_nan, defined.arg), ("ArgMin", has_nan, defined.arg),
    ("Hardmax", has_nan, defined.hardmax),
    ("ScatterElements", largest_nan, defined.scatter_largest),
    ("GlobalMaxPool", has_nan, defined.global_max_pool),
    ("GlobalMaxPool", is_double, defined.global_max_pool),
    ("Shrink", whole_shrink, formulas.shrink),
    ("Shrink", is_double, formulas.shrink_double),
    ("Gemm", is_integer, formulas.gemm),
    ("OneHot", anything, formulas.one_hot), ("Erf", is_double, formulas.erf),
    ("Gelu", is_double, formulas.gelu), ("LRN", is_real, formulas.lrn),
    ("Softmax", not_finite, formulas.softmax),
    ("LogSoftmax", not_finite, formulas.softmax),
    ("Sigmoid", is_real, formulas.sigmoid),
    ("Swish", is_real, formulas.swish),
    ("BatchNormalization", is_real, formulas.batch_norm),
    ("Mish", is_double, formulas.mish),
    ("InstanceNormalization", is_real, formulas.instance_norm),
    ("GlobalLpPool", is_real, formulas.global_lp_pool),
    ("MeanVarianceNormalization", is_real, formulas.mean_variance),
    *(("Reduce" + name, is_integer, formulas.integer_reduction) for name in
      ("Sum", "Mean", "Prod", "L1", "L2", "SumSquare", "LogSum",
       "LogSumExp")),
    ("HardSwish", is_double, formulas.hard_swish),
    ("ConvTranspose", double_groups, formulas.grouped_transpose)]


def definition(node, inputs):
    """A function of the tests' own for this node, or None."""
    for op, test, function in DEFINITIONS:
        if op == node.op_type and test(node, inputs):
            return function
    return None


# -- results of a reference that are right only in part

def leasts_in_windows(node, inputs, results):
    """Whether MaxPool's result or index may be none of the largest number's:
    with NaN, and where the index of the least number is asked for."""
    x = inputs[0]
    if has_nan(node, inputs):
        return True
    least = -np.inf if values.is_float(x) else values.limits(x.dtype.name)[0]
    return len(results) > 1 and bool(np.any(x == least))


def double_nan(node, inputs, results):
    return is_double(node, inputs) and has_nan(node, inputs)


def double_window(node, inputs, results):
    """Of float64, with NaN, or where onnx.reference makes windows that it
    dilates hang over the end, which VALID does not allow."""
    return double_nan(node, inputs, results) or is_double(node, inputs) and \
        attribute(node, "auto_pad") == b"VALID" and \
        max(attribute(node, "dilations", [1])) > 1


def out_of_range(node, inputs, results):
    return values.is_float(inputs[0]) and values.is_integer(results[0]) and \
        results[0].dtype.name not in values.NIBBLES


AMENDED = [
    ("MaxPool", leasts_in_windows, defined.max_pool),
    ("AveragePool", double_window, defined.float64_pool),
    ("LpPool", double_window, defined.float64_pool),
    ("Cast", out_of_range, defined.saturated),
    ("CastLike", out_of_range, defined.saturated)]


def amended(node, inputs, results):
    """The results with what docs/output.md says in their place."""
    for op, test, function in AMENDED:
        if op == node.op_type and test(node, inputs, results):
            return function(node, inputs, results)
    return results


def reference_types(node, inputs):
    """numpy types that results of onnx.reference should have and at times do
    not: those of the first input, of operators that keep its type."""
    if node.op_type in ("Pow", "Clip", "Mod", "PRelu", "Mean", "Sum"):
        return [inputs[0].dtype]
    return []
