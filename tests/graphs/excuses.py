# SPDX-License-Identifier: Apache-2.0
"""Differences from onnxruntime that are no errors of tirc: results that ONNX
leaves open, and nodes for which onnxruntime computes something else than
ONNX's text says. Each entry matches as little as possible and gives its
reason. Results that docs/reference/results.md defines are compared with its definition
(defined.py); where both references differ from ONNX's formula, results are
compared with the formula (formulas.py)."""
import numpy as np
import onnx

import defined
import exact
import formulas
import values
from defined import attribute


# -- results that ONNX leaves open: each function gives a mask of the elements

def power(node, inputs, results, compute):
    """An integer to the power of a float, where the result is no number of the
    integer's type: ONNX does not say how it is converted, and in C that is
    undefined."""
    a, b = inputs
    if not values.is_integer(a) or values.is_integer(b):
        return None
    with np.errstate(all="ignore"):
        exact = np.power(a.astype(np.float64), b.astype(np.float64))
        low, high = values.limits(a.dtype.name)
        near = np.abs(exact - np.rint(exact)) <= 1e-5 * np.abs(exact)
        # Near an integer the last bit decides which integer comes out.
        return ~((exact >= low) & (exact <= high) & (
            ~near | (np.abs(exact) < 2.0 ** 20)))


def to_short(node, inputs, results, compute):
    """Cast of floats beyond the range of an integer of fewer than 8 bits, NaN
    and infinities included: undefined in ONNX. docs/reference/results.md says that the
    low bits are kept, but not of how wide an integer."""
    x, y = inputs[0], results[0]
    if not values.is_float(x) or y.dtype.name not in values.SHORT:
        return None
    low, high = values.limits(y.dtype.name)
    wide = np.trunc(x.astype(np.float64))
    return ~((wide >= low) & (wide <= high))


def quantized_nan(node, inputs, results, compute):
    """QuantizeLinear of NaN, and by a scale that is NaN or an infinity: ONNX's
    text mentions neither."""
    if not values.is_integer(results[0]):
        return None
    return np.isnan(inputs[0].astype(np.float64)) | (not np.all(
        np.isfinite(inputs[1].astype(np.float64))))


def dynamic_nan(node, inputs, results, compute):
    """DynamicQuantizeLinear of NaN or an infinity: these decide the scale, and
    with it every result."""
    return not np.isfinite(inputs[0]).all()


def large_shrink(node, inputs, results, compute):
    """Shrink of integers by a bias that is no integer: ONNX does not say in
    which type it is subtracted, and float32 does not hold large integers."""
    x = inputs[0]
    if not values.is_integer(x) or attribute(node, "bias", 0.0) % 1 == 0:
        return None
    wide = x.astype(np.float64)
    low = values.limits(x.dtype.name)[0]
    return (np.abs(wide) > 2 ** 20) | (wide < low + 2) | (
        wide > values.limits(x.dtype.name)[1] - 2)


def integer_root(node, inputs, results, compute):
    """Roots and logarithms of integers that are so near an integer that the
    last bit decides which integer the result is cut to."""
    x = inputs[0]
    if not values.is_integer(x):
        return None
    root = exact.root(node, inputs)
    near = np.abs(root - np.rint(root)) <= 1e-6 * np.maximum(
        np.abs(root), 1)
    if node.op_type == "ReduceL2":
        # The root of a small square is exact.
        near &= root >= 2.0 ** 20
    return near


SUMMING = set("""Conv ConvTranspose MatMul Gemm Einsum ReduceSum ReduceMean
    ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSumExp ReduceLogSum ReduceProd
    AveragePool GlobalAveragePool LpPool GlobalLpPool LRN LpNormalization
    CumSum CumProd Sum Mean LayerNormalization RMSNormalization
    InstanceNormalization GroupNormalization BatchNormalization Resize
    MeanVarianceNormalization GridSample LinearAttention""".split())


# Operators that compute in float32 unless stash_type says otherwise. So does
# GroupNormalization in ONNX, but tirc computes it in float64 for float64, and
# the results are compared with those of the formula in float64.
STASHED = {"LayerNormalization", "RMSNormalization"}


def is_stashed(node, inputs):
    """Whether numbers of float64 are normalised as float32."""
    return node.op_type in STASHED and inputs[0].dtype == np.float64


def overflowing(node, inputs, results, compute):
    """Sums, products and squares of finite numbers so large that partial
    results overflow: ONNX leaves the order of the terms open. For linear
    operators the mask has only the elements whose terms add up to that
    much."""
    narrow = node.op_type in STASHED
    for x in inputs[:1] if node.op_type in FIRST_ADDED else inputs:
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
        # The product with the scale overflows, unless it is contracted with
        # the sum.
        bias = np.abs(inputs[2].astype(np.float64))
        total = np.abs(results[0].astype(np.float64)) + 2 * bias
        return ~(total < np.finfo(np.float32).max / 4) & \
            ~np.isnan(results[0]) & np.isfinite(bias)
    return None


def padded(node, inputs, results, compute):
    """A weight that is NaN or an infinity, where the window hangs over the
    edge: ONNX does not say whether padding is a zero that is multiplied by the
    weight, or no term at all."""
    if np.isfinite(inputs[1].astype(np.float64)).all():
        return None
    x, w = (np.ones(i.shape, np.float32) for i in inputs[:2])
    terms_there = compute(node, [x, w])[0]
    per_group = w[0].size if node.op_type == "Conv" else \
        w.size // w.shape[1] // attribute(node, "group", 1)
    return terms_there < per_group


def dilated(mask, axis, reach):
    """A mask with the neighbours along an axis, up to `reach` away."""
    found = mask.copy()
    for step in range(1, min(reach, mask.shape[axis] - 1) + 1):
        low = [slice(None)] * mask.ndim
        high = list(low)
        low[axis], high[axis] = slice(None, -step), slice(step, None)
        found[tuple(low)] |= mask[tuple(high)]
        found[tuple(high)] |= mask[tuple(low)]
    return found


def no_number(node, inputs, results, compute):
    """Resize near NaN or an infinity: ONNX does not say whether an element of
    weight 0 is a term (for onnx.reference it is, even with mode nearest)."""
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
    """Products of narrow floats that are subnormal on the way: they lose digits
    at each step that is rounded to the type, and ONNX does not say which steps
    are."""
    return np.abs(results[0].astype(np.float64)) < 2e-4 \
        if inputs[0].dtype.name in values.NARROW else None


def mean_of_nothing(node, inputs, results, compute):
    """ONNX: the mean of no numbers is undefined."""
    return np.ones(results[0].shape, bool) if inputs[0].size == 0 else None


def hidden_keys(node, inputs, results, compute):
    """Attention with a causal mask, and NaN or infinities among keys and values:
    ONNX adds a mask of -inf, while tirc does not read keys that a query may not
    see."""
    if not attribute(node, "is_causal", 0):
        return None
    return np.bool_(not all(np.isfinite(x.astype(np.float64)).all()
                            for x in inputs[1:3]))


def bits_of_nan(node, inputs, results, compute):
    """BitCast of NaN: ONNX does not say which of them an operator gives."""
    x = inputs[0]
    if not values.is_float(x) or results[0].shape != x.shape:
        return None
    return np.isnan(x.astype(np.float64))


def scaled_noise(node, inputs, results, compute):
    """A normalised number that is 0 but for rounding, times an infinity: NaN or
    either infinity. BatchNormalization has a mean of x in training alone."""
    if node.op_type == "BatchNormalization" and not attribute(
            node, "training_mode", 0):
        return None
    scale = formulas.norm_scale(node, inputs)
    if np.isfinite(scale).all():
        return None
    plain = [inputs[0], np.ones_like(inputs[1]), np.zeros_like(inputs[1]),
             *inputs[3:]][:len(inputs)]
    kind = "float32" if is_stashed(node, inputs) else results[0].dtype.name
    return ~np.isfinite(scale) & (
        np.abs(compute(node, plain)[0].astype(np.float64)) <=
        4 * values.EPSILON[kind] * formulas.mean_size(node, inputs))


def large_features(node, inputs, results, compute):
    """Support vectors times features so large that float32 does not hold the
    sum of the products: ONNX does not say in which type they are added."""
    x = np.abs(inputs[0][np.isfinite(inputs[0])])
    return np.bool_(x.max(initial=0) > 1e15)


OPEN = {
    "SVMClassifier": large_features,
    "BitCast": bits_of_nan,
    "Attention": hidden_keys,
    "ReduceMean": mean_of_nothing,
    "CumProd": small_products, "Shrink": large_shrink, "Pow": power,
    "Cast": to_short, "CastLike": to_short,
    "QuantizeLinear": quantized_nan, "DynamicQuantizeLinear": dynamic_nan,
    "Conv": padded, "ConvTranspose": padded, "Resize": no_number,
    "ReduceL2": integer_root, "ReduceLogSum": integer_root,
    "ReduceLogSumExp": integer_root,
    **dict.fromkeys("""LayerNormalization InstanceNormalization
        GroupNormalization BatchNormalization""".split(), scaled_noise),
}


def open_results(node, inputs, results, compute):
    """For each output a mask of the elements that are open, or None; and a
    dictionary of the masks by reason."""
    mask, reasons = None, {}
    for function in (OPEN.get(node.op_type),
                     overflowing if node.op_type in SUMMING else None):
        found = function(node, inputs, results, compute) if function else None
        if found is not None and np.any(found):
            reasons[function.__name__] = found
            mask = found if mask is None else mask | found
    return [mask if is_mask_of(mask, r) else None for r in results], reasons


def is_mask_of(mask, result):
    """Whether a mask is of a result's shape, or one number for all of it: that
    of LayerNormalization's first output is not that of its mean."""
    return np.shape(mask) in ((), result.shape)


def data_inputs(node):
    """How many inputs are data that may be inexact; the others, as the scales
    of Resize, decide on shapes."""
    return 1 if node.op_type == "Resize" else len(node.input)


LINEAR = set("""Conv ConvTranspose MatMul Gemm Einsum ReduceSum ReduceMean
    AveragePool GlobalAveragePool CumSum Sum Mean Add Sub""".split())
NORMS = set("""LayerNormalization RMSNormalization InstanceNormalization
    GroupNormalization MeanVarianceNormalization""".split())
# Operators that add up elements of their first input alone.
FIRST_ADDED = NORMS | {"GridSample"}


def absolute(node, inputs, compute):
    """For each result of a linear operator the sum of the absolute values of
    its terms."""
    some = [np.asarray(np.abs(np.nan_to_num(x, posinf=0, neginf=0)), x.dtype)
            if x is not None and values.is_float(x) else x for x in inputs]
    op = node
    if node.op_type == "Sub":
        op = onnx.NodeProto()
        op.CopyFrom(node)
        op.op_type = "Add"
    return np.abs(compute(op, some)[0].astype(np.float64))


def terms(node, inputs, results, compute):
    """The number of which the error of a result may be one unit in the last
    place: for k terms in any order, the square root of k times the sum of
    their absolute values; for normalisations, times the largest result. Where
    the terms are nearly equal, each addition may be rounded the same way: k
    takes the place of its root."""
    op = node.op_type
    largest = max((x.size for x in inputs if x is not None), default=1)
    count = max(largest // max(results[0].size, 1), 1)
    if op in ("Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum"):
        count = max(inputs[1].size // max(inputs[1].shape[0], 1), 1) \
            if op == "Conv" else max(inputs[-1].size, inputs[0].size)
    with np.errstate(all="ignore"):
        if op in NORMS or attribute(node, "training_mode", 0):
            wide = np.abs(results[0].astype(np.float64))
            wide = wide[np.isfinite(wide)]
            size = np.sqrt(inputs[0].size) * wide.max(initial=0) / 4
            if op != "RMSNormalization":
                moves = formulas.mean_size(node, inputs) * np.abs(
                    formulas.norm_scale(node, inputs))
                size = size + np.nan_to_num(moves, posinf=0) * (
                    2.0 ** 29 if is_stashed(node, inputs) else 1)
            return size
        if op == "BatchNormalization":
            return np.nan_to_num(formulas.batch_norm_terms(node, inputs),
                                 posinf=0, neginf=0)
        if op not in LINEAR or not values.is_float(results[0]):
            return 0
        total = np.nan_to_num(absolute(node, inputs, compute), posinf=0)
        return (count if nearly_equal(inputs) else np.sqrt(count)) * total / 4


def nearly_equal(inputs):
    """Whether the elements of the only input differ by a factor of 2 at most."""
    if len([x for x in inputs if x is not None and values.is_float(x)]) > 1:
        return False
    x = np.abs(inputs[0].astype(np.float64))
    return bool(x.size and x.max() <= 2 * x.min())


def cancels(node, inputs, opencl):
    """The size of the terms that cancel in ONNX's formula, where another
    implementation may compute their difference in one step, as it does
    exp(x) - 1 or 1 + tanh(x). `opencl` says whether functions are OpenCL's."""
    op = node.op_type
    if op in ("Elu", "Celu"):
        return abs(attribute(node, "alpha", 1.0))
    if op == "Selu":
        return abs(attribute(node, "alpha", 1.67) *
                   attribute(node, "gamma", 1.05))
    if op in ("LogSoftmax", "SVMClassifier"):  # 1 - p
        return 1
    if op == "Det":  # Hadamard's bound
        with np.errstate(all="ignore"):
            return np.nan_to_num(np.prod(np.linalg.norm(
                inputs[0].astype(np.float64), axis=-1), -1))
    if is_stashed(node, inputs):
        # stash_type: normalised numbers are float32, hence the factor. They
        # are at most about the root of their count; then comes the scale.
        scale = np.abs(np.nan_to_num(inputs[1], posinf=0, neginf=0))
        return 2.0 ** 29 * scale * np.sqrt(
            inputs[0].size / inputs[0].shape[0])
    if op == "Resize" and attribute(node, "mode", b"nearest") != b"nearest":
        # Coordinates are floats: the error is that of the largest coordinate,
        # times the slope.
        wide = np.abs(np.nan_to_num(inputs[0].astype(np.float64),
                                    posinf=0, neginf=0))
        return 2 * max(inputs[0].shape) * wide.max(initial=0)
    if op in ("Gelu", "Mish"):
        x = np.abs(inputs[0].astype(np.float64))
        # Beyond 20 tanh and erf are 1 in C. In OpenCL tanh may be 5 units in
        # the last place off, and erf 16, however large x is.
        return np.where(np.isfinite(x) & ((x < 20) | opencl), x, 0)
    return 0


def rounded(node, inputs):
    """The inputs of Resize as floats where they are integers, which gives the
    results before they are cut; None for every other node."""
    if node.op_type != "Resize" or values.is_float(inputs[0]) or \
            attribute(node, "mode", b"nearest") == b"nearest":
        return None
    return [inputs[0].astype(np.float32)] + list(inputs[1:])


# -- nodes for which onnxruntime computes something else than ONNX says

def not_finite(node, inputs):
    return not np.isfinite(inputs[0].astype(np.float64)).all()


def is_real(node, inputs):
    return values.is_float(inputs[0])


def not_by_onnxruntime(node, inputs):
    """Whether onnx.reference is to compute the node."""
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
    """Whether Clip lacks a bound, and an element is NaN or an infinity."""
    return values.is_float(inputs[0]) and not_finite(node, inputs) and (
        len(inputs) < 3 or inputs[1] is None or inputs[2] is None)


def nan_bound(node, inputs):
    return values.is_float(inputs[0]) and any(
        x is not None and np.isnan(x.astype(np.float64)).any()
        for x in inputs[1:])


def backwards_to_most(node, inputs):
    """Whether a Slice with a negative step ends at INT_MAX or beyond."""
    return len(inputs) > 4 and inputs[4] is not None and \
        bool(np.any((inputs[4] < 0) & (inputs[2] >= 2 ** 31 - 1)))


def broken_length(node, inputs):
    """Whether corners are aligned, and a size times its scale is no whole
    number."""
    if attribute(node, "coordinate_transformation_mode") != \
            b"align_corners" or len(inputs) < 3 or inputs[2] is None:
        return False
    axes = attribute(node, "axes", list(range(inputs[0].ndim)))
    return any((inputs[0].shape[d] * float(s)) % 1 != 0
               for d, s in zip(axes, inputs[2].ravel()))


def no_plane(node, inputs):
    return inputs[1].size != 2


def cubic_border(node, inputs):
    return attribute(node, "mode") in (b"cubic", b"bicubic") and \
        attribute(node, "padding_mode") == b"border"


def is_double(node, inputs):
    return inputs[0].dtype == np.float64


# (operator, when, why onnx.reference serves better)
OTHERWISE = [
    ("Resize", broken_length, "rounds the length before it aligns corners; "
     "ONNX's node test resize_downsample_scales_linear_align_corners does "
     "not"),
    ("Slice", backwards_to_most, "takes INT_MAX for the first element; "
     "ONNX clamps ends, and has INT_MIN for slices that go backward"),
    ("ReduceMax", has_nan, "keeps or loses NaN depending on its place; "
     "onnx.reference keeps it"),
    ("ReduceMin", has_nan, "the same"),
    ("Clip", unbounded, "takes the largest number of the type for an absent "
     "bound; in ONNX's function, and in onnx.reference, infinities pass"),
    ("Clip", nan_bound, "ignores a bound that is NaN; ONNX's function and "
     "onnx.reference give NaN, as docs/reference/results.md has it"),
    ("Attention", is_double, "rounds the scale to float32, as its function "
     "does"),
    ("Col2Im", no_plane, "adds some blocks to other places where an image has "
     "one axis or three"),
    ("Bernoulli", is_real, "draws 1 with the probability 1 - p, as the function "
     "in ONNX's schema does; ONNX's text and onnx.reference have p"),
    ("GridSample", cubic_border, "interpolates outside of the image, where "
     "ONNX's text has the border's values"),
    ("ScatterND", largest_nan, "ONNX's max and min are numpy's, which keep "
     "NaN"),
]


def anything(node, inputs):
    return True


def is_integer(node, inputs):
    return values.is_integer(inputs[0])


def is_ceiled_double(node, inputs):
    return is_double(node, inputs) and attribute(node, "ceil_mode", 0) == 1


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
        inputs[2].dtype.name in values.SHORT)


def large_quotient(node, inputs):
    """Whether the result is of integers, and the quotient of an int32 and the
    least scale may be beyond int32."""
    if len(inputs) > 2 and inputs[2] is not None and \
            not values.is_integer(inputs[2]):
        return False
    least = inputs[1].astype(np.float64).min(initial=np.inf)
    return is_integer(node, inputs) and np.abs(
        inputs[0].astype(np.float64)).max(initial=0) >= 2.0 ** 30 * least


def large_sums(node, inputs):
    """Whether terms of Einsum may add up to an integer that a double does not
    hold, or the type."""
    return is_integer(node, inputs) and formulas.einsum_size(
        node, inputs) >= 2.0 ** min(53, 8 * inputs[0].dtype.itemsize - 1)


def large_nearest(node, inputs):
    """Whether Resize with mode nearest copies an integer that may be no
    double."""
    return attribute(node, "mode", b"nearest") == b"nearest" and \
        inputs[0].dtype.name in ("int64", "uint64") and \
        np.abs(inputs[0].astype(np.float64)).max(initial=0) >= 2.0 ** 53


def to_one_element(node, inputs):
    """Whether Resize has a mode in which a result of length 1 is an axis' first
    element, and onnx.reference does not see that the length is 1."""
    return attribute(node, "coordinate_transformation_mode") == \
        b"pytorch_half_pixel" and not attribute(node, "antialias", 0) and \
        (formulas.given_sizes(inputs) or
         len(inputs) > 2 and inputs[2] is not None) and \
        len(formulas.lengths_of_one(node, inputs)) > 0


def large_resize(node, inputs):
    """Whether an interpolated integer may be beyond its type."""
    if not is_integer(node, inputs) or \
            attribute(node, "mode", b"nearest") == b"nearest":
        return False
    x = inputs[0].astype(np.float64)
    low, high = values.limits(inputs[0].dtype.name)
    most, least = x.max(initial=0), x.min(initial=0)
    over = most - least if attribute(node, "mode") == b"cubic" else \
        values.EPSILON["float32"] * max(most, -least)
    return most + over >= high or least - over <= low


def far_shift(node, inputs):
    return bool(np.any(inputs[1] >= 8 * inputs[1].dtype.itemsize))


def integer_power(node, inputs):
    return all(values.is_integer(x) for x in inputs)


# Nodes that neither reference computes as ONNX or docs/reference/results.md says:
# (operator, when, the tests' own function).
DEFINITIONS = [
    ("Div", undefined_quotient, defined.divide),
    ("Mod", undefined_quotient, defined.divide),
    ("BitShift", far_shift, defined.shift),
    ("Pow", integer_power, defined.power),
    ("QuantizeLinear", rarely_quantized, formulas.quantize),
    ("QuantizeLinear", large_quotient, formulas.quantize),
    ("Einsum", large_sums, formulas.einsum),
    ("Resize", large_nearest, formulas.nearest),
    ("Resize", to_one_element, formulas.first_elements),
    ("Resize", large_resize, formulas.integer_resize),
    ("Resize", is_cubic_double, formulas.cubic_double),
    ("GroupNormalization", is_real, formulas.group_norm),
    ("ArgMax", has_nan, defined.arg), ("ArgMin", has_nan, defined.arg),
    ("TopK", has_nan, defined.top_k), ("Hardmax", has_nan, defined.hardmax),
    ("ScatterElements", largest_nan, defined.scatter_largest),
    ("GlobalMaxPool", not_finite, defined.global_max_pool),
    ("GlobalMaxPool", is_double, defined.global_max_pool),
    ("MaxRoiPool", has_nan, defined.max_roi_pool),
    ("Shrink", whole_shrink, formulas.shrink),
    ("Shrink", is_double, formulas.shrink_double),
    ("MatMulInteger", anything, exact.matmul_integer),
    ("ConvInteger", anything, exact.conv_integer),
    ("QLinearMatMul", anything, exact.qlinear_matmul),
    ("QLinearConv", anything, exact.qlinear_conv),
    ("Gemm", is_integer, formulas.gemm),
    ("TreeEnsembleRegressor", anything, formulas.trees),
    ("Inverse", anything, formulas.inverse),
    ("DynamicQuantizeLSTM", anything, exact.dynamic_lstm),
    ("SVMClassifier", anything, formulas.machine),
    ("OneHot", anything, formulas.one_hot), ("Erf", is_double, formulas.erf),
    ("Gelu", is_double, formulas.gelu), ("LRN", is_real, formulas.lrn),
    ("Softmax", not_finite, formulas.softmax),
    ("LogSoftmax", not_finite, formulas.softmax),
    ("Sigmoid", is_real, formulas.sigmoid),
    ("Swish", is_real, formulas.swish),
    ("BatchNormalization", is_real, formulas.batch_norm),
    ("Mish", is_double, formulas.mish),
    ("InstanceNormalization", is_real, formulas.instance_norm),
    ("LpPool", is_ceiled_double, formulas.lp_pool),
    ("GlobalLpPool", is_real, formulas.global_lp_pool),
    ("MeanVarianceNormalization", is_real, formulas.mean_variance),
    *(("Reduce" + name, is_integer, exact.integer_reduction) for name in
      ("Sum", "Mean", "Prod", "L1", "L2", "SumSquare", "LogSum",
       "LogSumExp")),
    ("HardSwish", is_double, formulas.hard_swish),
    ("Softplus", is_real, formulas.softplus),
    ("ConvTranspose", double_groups, formulas.grouped_transpose)]


def definition(node, inputs):
    """The tests' own function for this node, or None."""
    for op, test, function in DEFINITIONS:
        if op == node.op_type and test(node, inputs):
            return function
    return None


# -- results of a reference of which a part is wrong

def leasts_in_windows(node, inputs, results):
    """Whether a window of MaxPool may have no largest number, or one that
    onnxruntime takes for none: with NaN, or where indices are asked for and
    the least number of the type is there."""
    x = inputs[0]
    if has_nan(node, inputs):
        return True
    least = -np.inf if values.is_float(x) else values.limits(x.dtype.name)[0]
    return len(results) > 1 and bool(np.any(x == least))


def double_nan(node, inputs, results):
    return is_double(node, inputs) and has_nan(node, inputs)


def double_window(node, inputs, results):
    """Whether the pool is of float64 and has NaN, or dilated windows with
    auto_pad VALID."""
    return double_nan(node, inputs, results) or is_double(node, inputs) and \
        attribute(node, "auto_pad") == b"VALID" and \
        max(attribute(node, "dilations", [1])) > 1


def dilated_odd(node, inputs, results):
    """Whether Conv is of float64, and has dilations, and NaN or infinities."""
    return is_double(node, inputs) and \
        max(attribute(node, "dilations", [1])) > 1 and \
        not all(np.isfinite(x).all() for x in inputs[:2])


def out_of_range(node, inputs, results):
    return values.is_float(inputs[0]) and values.is_integer(results[0]) and \
        results[0].dtype.name not in values.SHORT


def first_odd(node, inputs, results):
    """Whether the first element of an image is NaN or an infinity."""
    return inputs[0].size > 0 and not np.isfinite(
        inputs[0][..., 0, 0].astype(np.float64)).all()


AMENDED = [
    ("RoiAlign", first_odd, formulas.roi_align),
    ("Conv", dilated_odd, defined.dilated_conv),
    ("MaxPool", leasts_in_windows, defined.max_pool),
    ("AveragePool", double_window, defined.float64_pool),
    ("LpPool", double_window, defined.float64_pool),
    ("Cast", out_of_range, defined.saturated),
    ("CastLike", out_of_range, defined.saturated)]


def amended(node, inputs, results):
    """The results with the wrong elements replaced by what docs/reference/results.md
    says."""
    for op, test, function in AMENDED:
        if op == node.op_type and test(node, inputs, results):
            return function(node, inputs, results)
    return results


def reference_types(node, inputs):
    """The numpy types of the results, for operators that keep the type of the
    first input but whose results onnx.reference gives in another type at
    times."""
    if node.op_type in ("Pow", "Clip", "Mod", "PRelu", "Mean", "Sum"):
        return [inputs[0].dtype]
    return []
