# SPDX-License-Identifier: Apache-2.0
"""tvm.relay: calls of operators, with the parameters of TVM's functions. What an operator
computes, its attributes and its errors are those of Relay's text
(gen/onnx/compose/compositions/relay.onnxtxt). The functions here say which arguments are
attributes, in the order in which TVM prints them."""
import numpy as np
from tvm import relay
from tvm.relay import Call, Constant, Expr, Op, Tuple, TupleWrapper, _Attrs, _dtype


def _make(name, args, spec="", *values):
    """The call of an operator. spec: the names of its attributes, each with its default,
    as printed without blanks, behind "="; one without a default is always printed."""
    fields = []
    for word, value in zip(spec.split(), values):
        parts = word.split("=")
        fields.append((parts[0], value, parts[1] if len(parts) == 2 else "!"))
    return Call(Op(name), args, _Attrs(fields) if fields else None)


def get(op_name):
    """An operator by its name: for relay.op.get."""
    return Op(op_name)


def _ints(value):
    """A list of integers, from one or from several."""
    if value is None:
        return None
    if isinstance(value, Constant):
        value = value.data.numpy()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [one if isinstance(one, relay.Any) else int(one) for one in value]
    return [int(value)]


def _int(value):
    return None if value is None else int(value)


def _tensors(data, what):
    """The tuple that a list of expressions, or a tuple, is."""
    if isinstance(data, TupleWrapper):
        return data.tuple_value
    if isinstance(data, (list, tuple)):
        if not data:
            raise ValueError("%s requires at least one tensor" % what)
        return Tuple(data)
    return data


# -- element by element

def _one(name):
    def call(data):
        return _make(name, [data])

    return call


def _two(name):
    def call(lhs, rhs):
        return _make(name, [lhs, rhs])

    return call


abs = _one("abs")
sign = _one("sign")
floor = _one("floor")
ceil = _one("ceil")
round = _one("round")
trunc = _one("trunc")
sqrt = _one("sqrt")
rsqrt = _one("rsqrt")
exp = _one("exp")
log = _one("log")
log2 = _one("log2")
log10 = _one("log10")
sin = _one("sin")
cos = _one("cos")
tan = _one("tan")
asin = _one("asin")
acos = _one("acos")
atan = _one("atan")
sinh = _one("sinh")
cosh = _one("cosh")
tanh = _one("tanh")
asinh = _one("asinh")
acosh = _one("acosh")
atanh = _one("atanh")
erf = _one("erf")
isnan = _one("isnan")
isinf = _one("isinf")
isfinite = _one("isfinite")
negative = _one("negative")
logical_not = _one("logical_not")
bitwise_not = _one("bitwise_not")
sigmoid = _one("sigmoid")
copy = _one("copy")
zeros_like = _one("zeros_like")
ones_like = _one("ones_like")
add = _two("add")
subtract = _two("subtract")
multiply = _two("multiply")
divide = _two("divide")
power = _two("power")
mod = _two("mod")
floor_mod = _two("floor_mod")
floor_divide = _two("floor_divide")
maximum = _two("maximum")
minimum = _two("minimum")
logical_and = _two("logical_and")
logical_or = _two("logical_or")
logical_xor = _two("logical_xor")
bitwise_and = _two("bitwise_and")
bitwise_or = _two("bitwise_or")
bitwise_xor = _two("bitwise_xor")
equal = _two("equal")
not_equal = _two("not_equal")
less = _two("less")
less_equal = _two("less_equal")
greater = _two("greater")
greater_equal = _two("greater_equal")

def where(condition, x, y):
    return _make("where", [condition, x, y])


def clip(a, a_min, a_max):
    return _make("clip", [a], "a_min a_max", float(a_min), float(a_max))


def cast(data, dtype):
    return _make("cast", [data], "dtype", _dtype(dtype))


def cast_like(data, dtype_like):
    return _make("cast_like", [data, dtype_like])


# -- shapes

def reshape(data, newshape, allowzero=False):
    return _make("reshape", [data], "newshape allowzero=False", _ints(newshape), allowzero)


def reshape_like(data, shape_like, lhs_begin=0, lhs_end=None, rhs_begin=0, rhs_end=None):
    return _make("reshape_like", [data, shape_like], "lhs_begin=0 lhs_end=None rhs_begin=0 "
                 "rhs_end=None", lhs_begin, lhs_end, rhs_begin, rhs_end)


def squeeze(data, axis=None):
    return _make("squeeze", [data], "axis=None", _ints(axis))


def expand_dims(data, axis, num_newaxis=1):
    return _make("expand_dims", [data], "axis num_newaxis=1", int(axis), int(num_newaxis))


def transpose(data, axes=None):
    return _make("transpose", [data], "axes", _ints(axes))


def reverse(data, axis):
    return _make("reverse", [data], "axis", int(axis))


def reverse_sequence(data, seq_lengths, seq_axis=1, batch_axis=0):
    return _make("reverse_sequence", [data, seq_lengths], "seq_axis=1 batch_axis=0", seq_axis,
                 batch_axis)


def layout_transform(data, src_layout, dst_layout):
    return _make("layout_transform", [data], "src_layout dst_layout", src_layout, dst_layout)


def broadcast_to(data, shape):
    return _make("broadcast_to", [data], "shape", _ints(shape))


def broadcast_to_like(data, broadcast_type):
    return _make("broadcast_to_like", [data, broadcast_type])


def collapse_sum_to(data, shape):
    return _make("collapse_sum_to", [data], "shape", _ints(shape))


def full(fill_value, shape=(), dtype=""):
    return _make("full", [fill_value], "shape dtype=\"\"", _ints(shape),
                 "" if dtype in ("", None) else _dtype(dtype))


def full_like(data, fill_value):
    return _make("full_like", [data, fill_value])


def zeros(shape, dtype):
    return _make("zeros", [], "shape dtype", _ints(shape), _dtype(dtype))


def ones(shape, dtype):
    return _make("ones", [], "shape dtype", _ints(shape), _dtype(dtype))


def arange(start, stop=None, step=None, dtype="float32"):
    if stop is None:
        stop, start = start, relay.const(0, dtype=dtype)
    if step is None:
        step = relay.const(1, dtype=dtype)
    return _make("arange", [start, stop, step], "dtype", _dtype(dtype))


def tile(data, reps):
    return _make("tile", [data], "reps", _ints(reps))


def repeat(data, repeats, axis):
    return _make("repeat", [data], "repeats axis=None", int(repeats), _int(axis))


def shape_of(data, dtype="int32"):
    return _make("shape_of", [data], "dtype", _dtype(dtype))


def ndarray_size(data, dtype="int32"):
    return _make("ndarray_size", [data], "dtype", _dtype(dtype))


def concatenate(data, axis):
    return _make("concatenate", [_tensors(data, "relay.concatenate")], "axis=0", int(axis))


def stack(data, axis):
    return _make("stack", [_tensors(data, "relay.stack")], "axis=0", int(axis))


def einsum(data, equation):
    return _make("einsum", [_tensors(data, "relay.einsum")], "equation", equation)


def split(data, indices_or_sections, axis=0):
    if isinstance(indices_or_sections, (list, tuple)):
        indices_or_sections = _ints(indices_or_sections)
        size = len(indices_or_sections) + 1
    else:
        indices_or_sections = size = int(indices_or_sections)
    return TupleWrapper(_make("split", [data], "indices_or_sections axis=0",
                              indices_or_sections, int(axis)), size)


# -- selections

def strided_slice(data, begin, end, strides=None, axes=None, slice_mode="end"):
    return _make("strided_slice", [data], "begin end strides slice_mode=\"end\" axes",
                 _ints(begin), _ints(end), [1] if strides is None else _ints(strides),
                 slice_mode, _ints(axes))


def slice_like(data, shape_like, axes=None):
    return _make("slice_like", [data, shape_like], "axes", _ints(axes))


def take(data, indices, axis=None, batch_dims=0, mode="clip"):
    return _make("take", [data, indices], "batch_dims=0 axis=None mode=\"clip\"",
                 int(batch_dims), _int(axis), mode)


def gather(data, axis, indices):
    return _make("gather", [data, indices], "axis", int(axis))


def gather_nd(data, indices, batch_dims=0, index_rank=None):
    return _make("gather_nd", [data, indices], "batch_dims=0 index_rank=None",
                 int(batch_dims), index_rank)


def scatter(data, indices, updates, axis):
    return _make("scatter", [data, indices, updates], "axis=0", int(axis))


def scatter_elements(data, indices, updates, axis=0, reduction="update"):
    return _make("scatter_elements", [data, indices, updates],
                 "axis=0 reduction=\"update\"", int(axis), reduction)


def scatter_nd(data, indices, updates, mode="update"):
    return _make("scatter_nd", [data, indices, updates], "mode", mode)


def one_hot(indices, on_value, off_value, depth, axis, dtype):
    return _make("one_hot", [indices, on_value, off_value], "depth axis=-1 dtype", int(depth),
                 int(axis), _dtype(dtype))


def trilu(data, k, upper=True):
    if isinstance(k, int):
        k = relay.const(k)
    return _make("trilu", [data, k], "upper=True", upper)


# -- reductions and orders

def _reduction(name):
    def call(data, axis=None, keepdims=False, exclude=False):
        return _make(name, [data], "axis=None keepdims=False exclude=False", _ints(axis),
                     bool(keepdims), bool(exclude))

    return call


def _arg_reduction(name):
    def call(data, axis=None, keepdims=False, exclude=False, select_last_index=False):
        return _make(name, [data], "axis=None keepdims=False select_last_index=False "
                     "exclude=False", _ints(axis), bool(keepdims), bool(select_last_index),
                     bool(exclude))

    return call


sum = _reduction("sum")
mean = _reduction("mean")
prod = _reduction("prod")
max = _reduction("max")
min = _reduction("min")
all = _reduction("all")
any = _reduction("any")
argmax = _arg_reduction("argmax")
argmin = _arg_reduction("argmin")


def logsumexp(data, axis=None, keepdims=False):
    return _make("logsumexp", [data], "axis=None keepdims=False", _ints(axis), bool(keepdims))


def _variance_of(data, mean_of, axis, keepdims, exclude, unbiased):
    return _make("variance", [data, mean_of], "axis=None keepdims=False exclude=False "
                 "unbiased=False", _ints(axis), bool(keepdims), bool(exclude), bool(unbiased))


def variance(data, axis=None, keepdims=False, exclude=False, unbiased=False,
             with_mean=None):
    if with_mean is None:
        with_mean = mean(data, axis, True, exclude)
    return _variance_of(data, with_mean, axis, keepdims, exclude, unbiased)


def std(data, axis=None, keepdims=False, exclude=False, unbiased=False):
    return sqrt(variance(data, axis, keepdims, exclude, unbiased))


def _with_mean(data, axis, keepdims, exclude, unbiased):
    whole = mean(data, axis, True, exclude)
    spread = _variance_of(data, whole, axis, keepdims, exclude, unbiased)
    return whole if keepdims else mean(data, axis, False, exclude), spread


def mean_variance(data, axis=None, keepdims=False, exclude=False, unbiased=False):
    return TupleWrapper(Tuple(_with_mean(data, axis, keepdims, exclude, unbiased)), 2)


def mean_std(data, axis=None, keepdims=False, exclude=False):
    middle, spread = _with_mean(data, axis, keepdims, exclude, False)
    return TupleWrapper(Tuple([middle, sqrt(spread)]), 2)


def cumsum(data, axis=None, dtype=None, exclusive=None):
    return _make("cumsum", [data], "axis=None dtype=\"\" exclusive=False", _int(axis),
                 "" if dtype is None else _dtype(dtype), bool(exclusive))


def cumprod(data, axis=None, dtype=None, exclusive=None):
    return _make("cumprod", [data], "axis=None dtype=\"\" exclusive=False", _int(axis),
                 "" if dtype is None else _dtype(dtype), bool(exclusive))


def sort(data, axis=-1, is_ascend=1):
    return _make("sort", [data], "axis=-1 is_ascend=True", int(axis), bool(is_ascend))


def argsort(data, axis=-1, is_ascend=1, dtype="int32"):
    return _make("argsort", [data], "axis=-1 is_ascend=True dtype", int(axis),
                 bool(is_ascend), _dtype(dtype))


def topk(data, k=1, axis=-1, ret_type="both", is_ascend=False, dtype="int32"):
    call = _make("topk", [data], "k axis=-1 ret_type=\"both\" is_ascend=False dtype", int(k),
                 int(axis), ret_type, bool(is_ascend), _dtype(dtype))
    return TupleWrapper(call, 2) if ret_type == "both" else call
