# SPDX-License-Identifier: Apache-2.0
"""topi: operators on elements, reductions, movement of elements, sorting."""
import math

from tvm import te, tir, topi


# -- helpers of all texts; programs cannot use names that begin with _

def _axis(axis, rank):
    """The number of a dimension; a negative axis counts from the end."""
    where = axis + rank if axis < 0 else axis
    if where < 0 or where >= rank:
        raise ValueError("there is no axis %d among %d" % (axis, rank))
    return where


def _axes(axis, rank):
    """The dimensions in ascending order; None stands for all dimensions."""
    if axis is None:
        return list(range(rank))
    if isinstance(axis, int):
        return [_axis(axis, rank)]
    return sorted([_axis(int(a), rank) for a in axis])


def _number(x):
    """The int with the value of a constant; None for other values."""
    if isinstance(x, int):
        return x
    return x.value if isinstance(x, tir.IntImm) else None


def _ints(values):
    """A list of ints from a tuple or list of constants, or from a single
    int."""
    if isinstance(values, int):
        return [values]
    return [int(v) for v in values]


def _product(values):
    made = 1
    for v in values:
        made = made * v
    return made


def _flat(index, shape):
    """The number of the element at an index, in row-major order."""
    at = 0
    for i, size in zip(index, shape):
        at = at * size + i
    return at


def _split(at, shape):
    """The index of element number `at`, in row-major order."""
    index = []
    for size in reversed(list(shape)):
        index.insert(0, at % size)
        at = at // size
    return index


def _elements(name, x, f, tag="elemwise", dtype=None):
    """A tensor with f of each element of x."""
    return te.compute(x.shape, lambda *i: f(x(*i)), name=name, tag=tag)


def _const(value, dtype):
    return tir.const(value, dtype) if isinstance(value, (int, float)) \
        else value.astype(dtype)


def _is_float(dtype):
    return "float" in dtype


def _common_size(a, b):
    one, other = _number(a), _number(b)
    if one == 1:
        return b
    if other == 1 or one is None and other is None:
        return a
    if one is not None and other is not None and one != other:
        raise ValueError("%d and %d elements beside each other" % (one, other))
    return a if one is not None else b


def _common_shape(*shapes):
    """The common shape to which the shapes broadcast."""
    made = []
    for shape in shapes:
        shape = list(shape)
        made = [1] * (len(shape) - len(made)) + made
        shape = [1] * (len(made) - len(shape)) + shape
        made = [_common_size(a, b) for a, b in zip(made, shape)]
    return made


def _broadcast(x, index):
    """The element of x at an index of the shape to which x broadcasts."""
    index = list(index)[len(index) - len(x.shape):]
    return x(*[0 if _number(s) == 1 else i for i, s in zip(index, x.shape)])


# -- elements

def isfinite(x):
    if not _is_float(x.dtype):
        return te.compute(x.shape, lambda *i: tir.const(True, "bool"),
                          name="T_isfinite", tag="elemwise")
    return _elements("T_isfinite", x, lambda v: tir.all(
        tir.Not(tir.isnan(v)), tir.Not(tir.isinf(v))))


def log10(x):
    return _elements("T_log10", x,
                     lambda v: tir.log(v) * _const(1 / math.log(10), x.dtype))


def ceil_log2(x):
    if _is_float(x.dtype):
        return _elements("T_ceil_log2", x, lambda v: tir.ceil(tir.log2(v)))

    def length(v):
        # the number of bits of v - 1
        bits, rest = _const(0, x.dtype), v - 1
        for step in (32, 16, 8, 4, 2, 1):
            high = rest >> step if step < int(x.dtype.replace("u", "")[3:]) \
                else _const(0, x.dtype)
            bits = tir.Select(high > 0, bits + step, bits)
            rest = tir.Select(high > 0, high, rest)
        return tir.Select(rest > 0, bits + 1, bits).astype(x.dtype)
    return _elements("T_ceil_log2", x, length)


def reinterpret(x, dtype):
    return _elements("tensor", x, lambda v: tir.reinterpret(dtype, v))


def _fixed_product(v, multiplier, shift):
    """v * multiplier * 2^(shift - 31), rounded to the nearest, halves up."""
    wide = v.astype("int64")
    if isinstance(shift, int):
        left, right = max(shift, 0), 31 - min(shift, 0)
    else:
        left, right = tir.max(shift, 0), 31 - tir.min(shift, 0)
        left, right = left.astype("int64"), right.astype("int64")
    half = tir.const(1, "int64") << (right - 1)
    product = (wide << left) * _const(multiplier, "int64") + half
    return (product >> right).astype("int32")


def fixed_point_multiply(x, multiplier, shift):
    return _elements("fixed_point_multiply", x,
                     lambda v: _fixed_product(v, multiplier, shift))


def fixed_point_multiply_per_axis(x, y, lshift, rshift, is_lshift_required,
                                  is_rshift_required, axes):
    if len(axes) != 1:
        raise ValueError("one axis has multipliers of its own")

    def element(*i):
        k = i[_axis(axes[0], len(i))]
        left = lshift(k) if is_lshift_required else 0
        right = rshift(k) if is_rshift_required else 0
        wide = x(*i).astype("int64") << left.astype("int64") \
            if is_lshift_required else x(*i).astype("int64")
        bits = right.astype("int64") + 31 if is_rshift_required else 31
        half = tir.const(1, "int64") << (bits - 1)
        product = wide * y(k).astype("int64") + half
        return (product >> bits).astype("int32")
    return te.compute(x.shape, element, name="fixed_point_multiply_per_axis",
                      tag="elemwise")


def elemwise_sum(xs):
    def element(*i):
        total = xs[0](*i)
        for x in xs[1:]:
            total = total + x(*i)
        return total
    return te.compute(xs[0].shape, element, name="T_elemwise_sum",
                      tag="elemwise")


def full(shape, dtype, fill_value):
    return te.compute(shape, lambda *i: _const(fill_value, dtype),
                      name="tensor", tag="elemwise")


def full_like(x, fill_value):
    return full(x.shape, x.dtype, fill_value)


def eye(n, m=None, k=0, dtype="float32"):
    return te.compute((n, n if m is None else m), lambda i, j: tir.Select(
        j - i == k, _const(1, dtype), _const(0, dtype)),
        name="eye", tag="injective")


def _beside(name, a, b, f):
    """A tensor with f of the elements of a and b, tensors or numbers."""
    tensors = [x for x in (a, b) if isinstance(x, te.Tensor)]

    def operand(x, index):
        if isinstance(x, te.Tensor):
            return _broadcast(x, index)
        return _const(x, tensors[0].dtype)
    return te.compute(_common_shape(*[x.shape for x in tensors]),
                      lambda *i: f(operand(a, i), operand(b, i)),
                      name=name, tag="broadcast")


def atan2(lhs, rhs):
    return _beside("T_atan2", lhs, rhs, tir.atan2)


def log_add_exp(lhs, rhs):
    return _beside("T_log_add_exp", lhs, rhs, lambda a, b: tir.max(a, b) +
                   tir.log(1 + tir.exp(-tir.abs(a - b))))


def div(lhs, rhs):
    return topi.divide(lhs, rhs)


def floordiv(lhs, rhs):
    return topi.floor_divide(lhs, rhs)


def floormod(lhs, rhs):
    return topi.floor_mod(lhs, rhs)


def trilu(data, k, upper):
    def element(*i):
        at = k(*([0] * len(k.shape))) if isinstance(k, te.Tensor) else k
        kept = i[-2] + at <= i[-1] if upper else i[-2] + at >= i[-1]
        return tir.Select(kept, data(*i), _const(0, data.dtype))
    return te.compute(data.shape, element, name="trilu", tag="injective")


def where(condition, x, y):
    wanted = [t.dtype for t in (x, y) if isinstance(t, te.Tensor)]

    def value(t, index):
        if isinstance(t, te.Tensor):
            return _broadcast(t, index)
        return _const(t, wanted[0] if wanted else "float32") \
            if isinstance(t, (int, float)) else t
    shapes = [t.shape for t in (condition, x, y) if isinstance(t, te.Tensor)]

    def element(*i):
        c = value(condition, i)
        return tir.Select(c if condition.dtype == "bool" else c != 0,
                          value(x, i), value(y, i))
    return te.compute(_common_shape(*shapes), element, name="T_where",
                      tag="broadcast")


def dynamic_strided_slice(a, begin, end, strides, output_shape=None):
    return strided_slice(a, begin, end, strides)


# -- reductions

def _reduced(data, axis, keepdims, name, tag, f):
    """Reduces data over axes by f(element, reduction axes, number of the
    element among those that are reduced)."""
    rank = len(data.shape)
    axes = _axes(axis, rank)
    over = [te.reduce_axis((0, data.shape[a]), name="k%d" % a) for a in axes]
    if keepdims:
        shape = [1 if d in axes else data.shape[d] for d in range(rank)]
    else:
        shape = [data.shape[d] for d in range(rank) if d not in axes]

    def element(*i):
        index, given = [], list(i)
        for d in range(rank):
            if d in axes:
                index.append(over[axes.index(d)])
                if keepdims:
                    given.pop(0)
            else:
                index.append(given.pop(0))
        return f(data(*index), over,
                 _flat(over, [data.shape[a] for a in axes]))
    return te.compute(shape, element, name=name, tag=tag)


def all(data, axis=None, keepdims=False):
    reducer = te.comm_reducer(lambda x, y: tir.And(x, y),
                              lambda t: tir.const(True, t), name="all")
    return _reduced(data, axis, keepdims, "T_all", "comm_reduce",
                    lambda v, over, at: reducer(v, axis=over))


def any(data, axis=None, keepdims=False):
    reducer = te.comm_reducer(lambda x, y: tir.Or(x, y),
                              lambda t: tir.const(False, t), name="any")
    return _reduced(data, axis, keepdims, "T_any", "comm_reduce",
                    lambda v, over, at: reducer(v, axis=over))


def _position(data, axis, keepdims, select_last_index, largest, name):
    def first(a, b):
        before = a[1] > b[1] if largest else a[1] < b[1]
        order = a[0] > b[0] if select_last_index else a[0] < b[0]
        chosen = tir.any(before, tir.all(a[1] == b[1], order))
        return (tir.Select(chosen, a[0], b[0]), tir.Select(chosen, a[1], b[1]))

    def identity(t0, t1):
        return (tir.const(-1, t0),
                te.min_value(t1) if largest else te.max_value(t1))
    reducer = te.comm_reducer(first, identity, name=name)
    both = _reduced(data, axis, keepdims, name + "_red_temp",
                    "comm_reduce_idx",
                    lambda v, over, at: reducer(
                        (tir.Cast("int32", at), v), axis=over))
    return te.compute(both[0].shape, lambda *i: both[0](*i),
                      name=name + "_red", tag="comm_reduce_idx")


def argmax(data, axis=None, keepdims=False, select_last_index=False):
    return _position(data, axis, keepdims, select_last_index, True, "argmax")


def argmin(data, axis=None, keepdims=False, select_last_index=False):
    return _position(data, axis, keepdims, select_last_index, False, "argmin")


def collapse_sum(data, target_shape):
    shape = [1] * (len(data.shape) - len(target_shape)) + list(target_shape)
    axes = [d for d in range(len(shape))
            if _number(shape[d]) == 1 and _number(data.shape[d]) != 1]
    made = topi.sum(data, axis=axes, keepdims=True) if axes else data
    return reshape(made, target_shape)


def _scan(data, axis, dtype, exclusive, combine, identity, name):
    """Sums, products and so on of the elements up to each place along an
    axis."""
    dtype = data.dtype if dtype is None or dtype == "" else dtype
    if dtype == "bool":
        dtype = "int32"
    if axis is None:
        data = reshape(data, (_product(data.shape),))
        axis = 0
    axis = _axis(axis, len(data.shape))
    others = [s for d, s in enumerate(data.shape) if d != axis]

    def fill(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, _product(others), "i", kind="parallel") as i:
            index = _split(i, others)

            def at(k):
                whole = index[:axis] + [k] + index[axis:]
                return whole[0] if len(whole) == 1 else tuple(whole)
            first = at(0)
            y[first] = _const(identity, dtype) if exclusive \
                else x[first].astype(dtype)
            with ib.for_range(0, data.shape[axis] - 1, "k") as k:
                y[at(k + 1)] = combine(
                    y[at(k)], x[at(k if exclusive else k + 1)].astype(dtype))
        return ib.get()
    return te.extern([data.shape], [data], fill, name=name, dtype=[dtype])


def cumsum(data, axis=None, dtype=None, exclusive=None):
    return _scan(data, axis, dtype, exclusive, lambda a, b: a + b, 0, "cumsum")


def cumprod(data, axis=None, dtype=None, exclusive=None):
    return _scan(data, axis, dtype, exclusive, lambda a, b: a * b, 1,
                 "cumprod")


def scanop(data, binop, identity_value, op_name, axis=None, dtype=None,
           exclusive=None):
    return _scan(data, axis, dtype, exclusive, binop, identity_value, op_name)


# -- movement

def expand_dims(a, axis, num_newaxis=1):
    rank = len(a.shape)
    axis = axis + rank + 1 if axis < 0 else axis
    if axis < 0 or axis > rank:
        raise ValueError("there is no place %d among %d dimensions" % (
            axis, rank))
    shape = list(a.shape)
    return te.compute(
        shape[:axis] + [1] * num_newaxis + shape[axis:],
        lambda *i: a(*(list(i)[:axis] + list(i)[axis + num_newaxis:])),
        name="T_expand_dims", tag="broadcast")


def expand_like(a, shape_like, axis):
    axes = _axes(axis, len(shape_like.shape))
    if len(a.shape) == 1 and len(axes) == len(shape_like.shape):
        return te.compute(shape_like.shape, lambda *i: a(0), name="expand_like")
    if len(axes) + len(a.shape) != len(shape_like.shape):
        raise ValueError("%d new axes and %d dimensions are not the %d of "
                         "shape_like" % (len(axes), len(a.shape),
                                         len(shape_like.shape)))
    return te.compute(shape_like.shape, lambda *i: a(
        *[x for d, x in enumerate(i) if d not in axes]), name="expand_like")


def flip(a, axis=0):
    axis = _axis(axis, len(a.shape))
    return te.compute(a.shape, lambda *i: a(
        *[a.shape[d] - 1 - x if d == axis else x for d, x in enumerate(i)]),
        name="T_flip", tag="injective")


def transpose(a, axes=None):
    rank = len(a.shape)
    axes = list(reversed(range(rank))) if axes is None or len(axes) == 0 \
        else [_axis(x, rank) for x in axes]
    if sorted(axes) != list(range(rank)):
        raise ValueError("%s do not order %d dimensions" % (axes, rank))
    return te.compute([a.shape[x] for x in axes], lambda *i: a(
        *[i[axes.index(d)] for d in range(rank)]),
        name="T_transpose", tag="injective")


def reshape(a, newshape):
    shape = [newshape] if isinstance(newshape, int) else list(newshape)
    if -1 in [_number(s) for s in shape]:
        known = _product([s for s in shape if _number(s) != -1])
        shape = [_product(a.shape) // known if _number(s) == -1 else s
                 for s in shape]
    have, want = _number(_product(a.shape)), _number(_product(shape))
    if have is not None and want is not None and have != want:
        raise ValueError("%d elements do not make a shape of %d" % (have, want))
    return te.compute(shape, lambda *i: a(*_split(_flat(i, shape), a.shape)),
                      name="T_reshape", tag="injective")


def squeeze(a, axis=None):
    rank = len(a.shape)
    if axis is None:
        axes = [d for d in range(rank) if _number(a.shape[d]) == 1]
    else:
        axes = _axes(axis, rank)
        for d in axes:
            if _number(a.shape[d]) not in (1, None):
                raise ValueError("axis %d has %d elements" % (d, a.shape[d]))

    def element(*i):
        rest = list(i)
        return a(*[0 if d in axes else rest.pop(0) for d in range(rank)])
    return te.compute([s for d, s in enumerate(a.shape) if d not in axes],
                      element, name="T_squeeze", tag="injective")


def broadcast_to(data, shape):
    return te.compute(shape, lambda *i: _broadcast(data, i),
                      name="T_broadcast_to", tag="broadcast")


def concatenate(a_tuple, axis=0):
    axis = _axis(axis, len(a_tuple[0].shape))
    ends, total = [], 0
    for x in a_tuple:
        if len(x.shape) != len(a_tuple[0].shape):
            raise ValueError("tensors of %d and %d dimensions" % (
                len(a_tuple[0].shape), len(x.shape)))
        total = total + x.shape[axis]
        ends.append(total)
    shape = list(a_tuple[0].shape)
    shape[axis] = total

    def element(*i):
        last = len(a_tuple) - 1

        def of(t):
            index = list(i)
            index[axis] = i[axis] - ends[t - 1] if t > 0 else i[axis]
            return a_tuple[t](*index)
        value = of(last)
        for t in reversed(range(last)):
            value = tir.if_then_else(i[axis] < ends[t], of(t), value)
        return value
    return te.compute(shape, element, name="T_concat", tag="injective")


def stack(tensors, axis=0):
    axis = axis + len(tensors[0].shape) + 1 if axis < 0 else axis
    shape = list(tensors[0].shape)
    shape.insert(axis, len(tensors))

    def element(*i):
        rest = list(i)
        which = rest.pop(axis)
        value = tensors[-1](*rest)
        for t in reversed(range(len(tensors) - 1)):
            value = tir.if_then_else(which == t, tensors[t](*rest), value)
        return value
    return te.compute(shape, element, name="T_stack", tag="injective")


def split(ary, indices_or_sections, axis=0):
    axis = _axis(axis, len(ary.shape))
    size = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        if n < 1 or _number(size) is not None and size % n != 0:
            raise ValueError("%d elements are not %d equal parts" % (size, n))
        begins = [size // n * k for k in range(n)]
    else:
        begins = [0] + list(indices_or_sections)
    made = []
    for k, begin in enumerate(begins):
        end = begins[k + 1] if k + 1 < len(begins) else size
        made.append(_part(ary, axis, begin, end - begin))
    return made


def _part(x, axis, begin, length):
    shape = list(x.shape)
    shape[axis] = length
    return te.compute(shape, lambda *i: x(
        *[v + begin if d == axis else v for d, v in enumerate(i)]),
        name="T_split", tag="injective")


def _slice_range(size, begin, end, step, by_size):
    """The first index of a slice, and the number of its indices."""
    step = 1 if by_size else step
    if step == 0:
        raise ValueError("a slice with the step 0")
    known = [_number(v) for v in (size, begin, end)]
    if None in known:
        begin = size - 1 if begin is None and step < 0 else begin
        return begin, (end - begin + step - 1) // step
    size, begin, end = known
    if by_size:
        begin = begin + size if begin < 0 else begin
        end = size if end < 0 else begin + end
    least, most = (0, size) if step > 0 else (-1, size - 1)
    begin = begin + size if begin < 0 else begin
    end = end + size if end < 0 else end
    begin = min(max(begin, least), most)
    end = min(max(end, least), most)
    length = (end - begin + step - 1) // step if step > 0 \
        else (begin - end - step - 1) // -step
    return begin, max(length, 0)


def strided_slice(a, begin, end, strides=None, axes=None, slice_mode="end",
                  assume_inbound=True):
    rank = len(a.shape)
    if isinstance(begin, te.Tensor) or isinstance(end, te.Tensor) or \
            isinstance(strides, te.Tensor):
        return _slice_by_tensors(a, begin, end, strides)
    strides = [] if strides is None else _ints(strides)
    begin = [begin] if isinstance(begin, int) else list(begin)
    end = [end] if isinstance(end, int) else list(end)
    axes = list(range(len(begin))) if axes is None or len(axes) == 0 \
        else [_axis(x, rank) for x in axes]
    strides = strides + [1] * (len(begin) - len(strides))
    begin_of, step_of, shape = {}, {}, list(a.shape)
    for k, d in enumerate(axes):
        step = 1 if slice_mode == "size" else strides[k]
        stop = end[k] if k < len(end) else a.shape[d]
        first, shape[d] = _slice_range(a.shape[d], begin[k], stop, step,
                                       slice_mode == "size")
        begin_of[d], step_of[d] = first, step

    return te.compute(shape, lambda *i: a(
        *[x * step_of[d] + begin_of[d] if d in begin_of else x
          for d, x in enumerate(i)]),
        name="T_strided_slice", tag="injective")


def _slice_by_tensors(a, begin, end, strides):
    """A slice whose bounds are elements of tensors; the sizes of its result
    are new variables."""
    n = len(a.shape)

    def element(of, d, otherwise):
        if of is None or _number(d) is not None and not isinstance(
                of, te.Tensor) and d >= len(of):
            return otherwise
        v = of(d) if isinstance(of, te.Tensor) else of[d]
        return tir.Cast("int32", v)
    many = [x for x in (begin, end, strides) if isinstance(x, te.Tensor)]
    count = int(many[0].shape[0])
    sizes = [te.size_var("sliced_%d" % d) for d in range(count)]
    shape = sizes + list(a.shape)[count:]

    def body(*i):
        index = list(i)
        for d in range(count):
            step = element(strides, d, 1)
            first = element(begin, d, 0)
            first = tir.if_then_else(first < 0, first + a.shape[d], first)
            index[d] = i[d] * step + tir.min(tir.max(first, 0), a.shape[d] - 1)
        return a(*index)
    if n < count:
        raise ValueError("%d bounds for %d dimensions" % (count, n))
    return te.compute(shape, body, name="T_strided_slice_dynamic",
                      tag="injective")


def strided_set(a, v, begin, end, strides=None):
    n = len(a.shape)
    given = begin.shape[0]

    def bound(t, d, otherwise):
        if t is None or _number(t.shape[0]) is not None and d >= t.shape[0]:
            return otherwise
        return tir.if_then_else(t.shape[0] > d, t(d), otherwise) \
            if _number(given) is None else t(d)

    def element(*i):
        inside, index = [], []
        for d in range(n):
            step = bound(strides, d, tir.const(1, "int32"))
            first = bound(begin, d, tir.Select(step > 0, 0, a.shape[d]))
            last = bound(end, d, tir.Select(step > 0, a.shape[d] + 1,
                                            -(a.shape[d] + 1)))
            first = tir.if_then_else(first < 0, first + a.shape[d], first)
            last = tir.if_then_else(last < 0, last + a.shape[d], last)
            inside.append(_within(first, last, step, i[d]))
            index.append(_place(first, last, step, i[d]))
        return tir.if_then_else(tir.all(*inside), v(*index), a(*i))
    return te.compute(a.shape, element, name="strided_set",
                      tag="injective,strided_set")


def _within(begin, end, step, i):
    """Is i one of the indices of the slice?"""
    return tir.all(
        tir.if_then_else(step > 0, tir.all(i >= begin, i < end),
                         tir.all(i <= begin, i > end)),
        tir.floormod(tir.if_then_else(step > 0, i - begin, begin - i),
                     tir.if_then_else(step > 0, step, -step)) == 0)


def _place(begin, end, step, i):
    """The position of i among the indices of the slice; 0 if it is not one of
    them."""
    return tir.if_then_else(_within(begin, end, step, i),
                            tir.floordiv(i - begin, step), 0)


def slice_scatter(input_tensor, src, start, end, step, axis):
    axis = _axis(axis, len(input_tensor.shape))
    start, length = _slice_range(input_tensor.shape[axis], start, end, step,
                                 False)

    def element(*i):
        k = i[axis] - start
        index = list(i)
        index[axis] = k // step
        return tir.if_then_else(
            tir.all(k >= 0, k % step == 0, k // step < length),
            src(*index), input_tensor(*i))
    return te.compute(input_tensor.shape, element, name="slice_scatter",
                      tag="injective")


def _in_range(index, size, mode):
    """The index, changed by the rule `mode` if it is out of range."""
    if mode == "clip":
        return tir.min(tir.max(index, 0), size - 1)
    if mode == "wrap":
        return tir.truncmod(tir.truncmod(index, size) + size, size)
    if mode in ("fast", "nan"):
        return index
    raise ValueError("take has no mode %s" % mode)


def take(a, indices, axis=None, batch_dims=0, mode="clip"):
    if axis is None:
        size = _product(a.shape)
        return te.compute(indices.shape, lambda *i: a(*_split(
            _in_range(indices(*i), size, mode), a.shape)),
            name="T_take", tag="injective")
    axis = _axis(axis, len(a.shape))
    batch = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    n = len(indices.shape) - batch
    shape = list(a.shape)

    def element(*i):
        i = list(i)
        where = indices(*(i[:batch] + i[axis:axis + n]))
        return a(*(i[:axis] + [_in_range(where, a.shape[axis], mode)] +
                   i[axis + n:]))
    return te.compute(shape[:axis] + list(indices.shape)[batch:] +
                      shape[axis + 1:], element, name="T_take",
                      tag="injective")


def gather(data, axis, indices):
    axis = _axis(axis, len(data.shape))
    return te.compute(indices.shape, lambda *i: data(
        *[indices(*i) if d == axis else x for d, x in enumerate(i)]),
        name="T_gather", tag="injective")


def gather_nd(a, indices, batch_dims=0):
    depth = int(indices.shape[0])
    rest = len(indices.shape) - 1

    def element(*i):
        i = list(i)
        where = [indices(*([k] + i[:rest])) for k in range(depth)]
        return a(*(i[:batch_dims] + where + i[rest:]))
    return te.compute(list(indices.shape)[1:] +
                      list(a.shape)[batch_dims + depth:], element,
                      name="T_gather_nd", tag="injective")


def adv_index(data, indices):
    shape = _common_shape(*[x.shape for x in indices])
    n = len(shape)
    return te.compute(shape + list(data.shape)[len(indices):], lambda *i: data(
        *([_broadcast(x, list(i)[:n]) for x in indices] + list(i)[n:])),
        name="advanced_index", tag="injective")


def index_tensor(data, indices):
    return adv_index(data, indices)


def reverse_sequence(a, seq_lengths, seq_axis=1, batch_axis=0):
    seq_axis = _axis(seq_axis, len(a.shape))
    batch_axis = _axis(batch_axis, len(a.shape))

    def element(*i):
        length = seq_lengths(i[batch_axis])
        k = tir.Cast(seq_lengths.dtype, i[seq_axis])
        size = a.shape[seq_axis]
        most = tir.if_then_else(length <= size, length,
                                tir.Cast(seq_lengths.dtype, size))
        index = list(i)
        index[seq_axis] = tir.if_then_else(
            tir.any(length <= 1, k >= length), k, most - 1 - k)
        return a(*index)
    return te.compute(a.shape, element, name="T_reverse_sequence",
                      tag="injective")


def tile(a, reps):
    reps = [reps] if isinstance(reps, int) else list(reps)
    rank = max(len(reps), len(a.shape))
    reps = [1] * (rank - len(reps)) + reps
    shape = [1] * (rank - len(a.shape)) + list(a.shape)
    return te.compute([s * r for s, r in zip(shape, reps)], lambda *i: a(
        *[x % s for x, s in zip(list(i)[rank - len(a.shape):], a.shape)]),
        name="T_tile", tag="broadcast")


def dyn_tile(a, new_shape, rdim):
    rank = len(new_shape)
    return te.compute(new_shape, lambda *i: a(
        *[x % s for x, s in zip(list(i)[rank - len(a.shape):], a.shape)]),
        name="T_tile", tag="broadcast")


def repeat(a, repeats, axis):
    axis = _axis(axis, len(a.shape))
    if repeats < 1:
        raise ValueError("repeats are at least 1, not %d" % repeats)
    shape = list(a.shape)
    shape[axis] = repeats * shape[axis]
    return te.compute(shape, lambda *i: a(
        *[x // repeats if d == axis else x for d, x in enumerate(i)]),
        name="T_repeat", tag="broadcast")


def arange(start, stop=None, step=1, dtype="float32"):
    if stop is None:
        start, stop = 0, start
    if isinstance(start, (int, float)) and isinstance(stop, (int, float)) and \
            isinstance(step, (int, float)):
        count = max(int(math.ceil((stop - start) / step)), 0)
    else:
        count = tir.Cast("int32", tir.ceil(
            tir.Cast("float32", stop - start) / step))
    return te.compute((count,), lambda i: tir.Cast(dtype, start + step * i),
                      name="T_arange", tag="injective")


def meshgrid(a_tuple, indexing):
    swapped = indexing == "xy" and len(a_tuple) >= 2

    def source(d):
        return 1 - d if swapped and d < 2 else d
    shape = [a_tuple[source(d)].shape[0] if len(a_tuple[source(d)].shape) > 0
             else 1 for d in range(len(a_tuple))]

    def grid(k):
        x = a_tuple[k]
        return te.compute(shape, lambda *i: x(i[source(k)])
                          if len(x.shape) > 0 else x(),
                          name="T_meshgrid", tag="injective")
    return [grid(k) for k in range(len(a_tuple))]


def shape(array, dtype="int32"):
    def element(i):
        value = tir.const(0, "int32")
        for d in range(len(array.shape)):
            value = tir.if_then_else(i == d, array.shape[d], value)
        return tir.Cast(dtype, value)
    return te.compute((len(array.shape),), element, name="T_shape",
                      tag="injective")


def ndarray_size(array, dtype="int32"):
    return te.compute((), lambda: tir.Cast(dtype, _product(array.shape)),
                      name="ndarray_size", tag="injective")


def tensor_size(array, dtype="int32"):
    return ndarray_size(array, dtype)


def sequence_mask(data, valid_length, mask_value=0, axis=0):
    if axis not in (0, 1) or len(data.shape) < 2:
        raise ValueError("sequences are along axis 0 or 1 of two or more")
    return te.compute(data.shape, lambda *i: tir.if_then_else(
        tir.Cast(valid_length.dtype, i[axis]) >= valid_length(i[1 - axis]),
        _const(mask_value, data.dtype), data(*i)),
        name="T_sequence_mask", tag="injective")


def one_hot(indices, on_value, off_value, depth, axis, dtype):
    axis = len(indices.shape) if axis == -1 else axis
    shape = list(indices.shape)
    shape.insert(axis, depth)

    def value(v):
        if isinstance(v, te.Tensor):
            v = v()
        return tir.Cast(dtype, v)
    return te.compute(shape, lambda *i: tir.Select(
        indices(*[x for d, x in enumerate(i) if d != axis]) == i[axis],
        value(on_value), value(off_value)), name="T_one_hot", tag="injective")


def unravel_index(indices, shape):
    n = int(shape.shape[0]) if isinstance(shape, te.Tensor) else len(shape)
    sizes = [shape(k) for k in range(n)] if isinstance(shape, te.Tensor) \
        else list(shape)

    def element(*i):
        parts = _split(indices(*list(i)[1:]), sizes)
        value = parts[-1]
        for k in reversed(range(n - 1)):
            value = tir.if_then_else(i[0] == k, parts[k], value)
        return value
    return te.compute([n] + list(indices.shape), element,
                      name="T_unravel", tag="injective")


def sparse_to_dense(sparse_indices, output_shape, sparse_values,
                    default_value=0):
    rank = len(sparse_indices.shape)
    dtype = sparse_values.dtype

    def value(k):
        return sparse_values(k) if len(sparse_values.shape) > 0 \
            else sparse_values()

    def fill(ins, outs):
        ib = tir.ir_builder.create()
        at, v = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1])
        y = ib.buffer_ptr(outs[0])
        size = _product(output_shape)
        start = ib.buffer_ptr(ins[2])[0] if len(ins) > 2 \
            else _const(default_value, dtype)

        def place(p):
            where = _split(p, output_shape)
            return where[0] if len(where) == 1 else tuple(where)
        with ib.for_range(0, size, "i") as i:
            y[place(i)] = start
        with ib.for_range(0, sparse_indices.shape[0], "k") as k:
            if rank == 1:
                where = at[k]
            else:
                where = tuple([at[k, d]
                               for d in range(int(sparse_indices.shape[1]))])
                where = where[0] if len(where) == 1 else where
            y[where] = v[k] if len(sparse_values.shape) > 0 else v[0]
        return ib.get()
    if rank == 0:
        return te.compute(output_shape, lambda i: tir.if_then_else(
            i == sparse_indices(), value(0), _const(default_value, dtype)),
            name="T_sparse_to_dense", tag="injective")
    inputs = [sparse_indices, sparse_values]
    if isinstance(default_value, te.Tensor):
        inputs.append(reshape(default_value, (1,)))
    return te.extern([output_shape], inputs, fill,
                     name="T_sparse_to_dense", dtype=[dtype])


def matrix_set_diag(data, diagonal, k=0, align="RIGHT_LEFT"):
    low = k if isinstance(k, int) else k[0]
    high = k if isinstance(k, int) else k[-1]
    rows, columns = data.shape[-2], data.shape[-1]
    above, below = align.split("_")

    def element(*i):
        row, column = i[-2], i[-1]
        which = column - row
        index = list(i)[:-2]
        along = tir.if_then_else(which >= 0, row, column)
        if low != high:
            index.append(high - which)

            def missing(a, b):
                # the number of elements that this diagonal lacks
                return diagonal.shape[-1] - tir.min(a, b)
            zero = tir.const(0, "int32")
            along = along + tir.if_then_else(
                which >= 0,
                missing(columns - which, rows) if above == "RIGHT" else zero,
                missing(columns, rows + which) if below == "RIGHT" else zero)
        return tir.if_then_else(tir.all(which >= low, which <= high),
                                diagonal(*(index + [along])), data(*i))
    return te.compute(data.shape, element, name="T_matrix_set_diag",
                      tag="injective")


def invert_permutation(data):
    def fill(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, data.shape[0], "i") as i:
            y[x[i]] = i.astype(data.dtype)
        return ib.get()
    return te.extern([data.shape], [data], fill, name="invert_permutation",
                     dtype=[data.dtype])


def sliding_window(data, axis, window_shape, strides):
    axis = _axis(axis, len(data.shape))
    moving = len(data.shape) - axis
    if len(window_shape) != moving or len(strides) != moving:
        raise ValueError("a window over %d dimensions" % moving)
    shape = list(data.shape)
    counts = [(s - w + t) // t
              for s, w, t in zip(shape[axis:], window_shape, strides)]

    def element(*i):
        i = list(i)
        return data(*(i[:axis] + [
            i[axis + d] * strides[d] + i[axis + moving + d]
            for d in range(moving)]))
    return te.compute(shape[:axis] + counts + list(window_shape), element,
                      name="T_sliding_window", tag="injective")


def _layout(text):
    """The axes of a layout such as NCHW4c: pairs of a letter and a factor or
    0."""
    axes, factor = [], 0
    for c in text:
        if c in "0123456789":
            factor = factor * 10 + int(c)
        else:
            axes.append((c, factor))
            factor = 0
    return axes


def layout_transform(array, src_layout, dst_layout, schedule_rule="None"):
    if src_layout == dst_layout:
        return array
    source, target = _layout(src_layout), _layout(dst_layout)
    names = [a for a, f in source if f == 0]
    if sorted(names) != sorted([a for a, f in target if f == 0]):
        raise ValueError("%s and %s have different axes" % (
            src_layout, dst_layout))
    size = {}
    for (a, f), s in zip(source, array.shape):
        size[a.upper()] = size.get(a.upper(), 1) * s

    def inner(layout, name):
        """The product of the factors of an axis in the layout."""
        return _product([f for a, f in layout if f > 0 and a.upper() == name])
    shape = [f if f > 0 else
             (size[a] + inner(target, a) - 1) // inner(target, a)
             for a, f in target]

    def element(*i):
        whole, rest = {}, {}
        for name in names:
            rest[name] = inner(target, name)
            whole[name] = 0
        for (a, f), x in zip(target, i):
            name = a.upper()
            if f > 0:
                rest[name] = rest[name] // f
            whole[name] = whole[name] + x * rest[name]
        left, index = {}, []
        for name in names:
            left[name] = inner(source, name)
        for a, f in source:
            name = a.upper()
            if f > 0:
                left[name] = left[name] // f
                index.append(whole[name] // left[name] % f)
            else:
                index.append(whole[name] // left[name])
        uneven = [name for name in names
                  if _number(size[name]) is None or
                  size[name] % inner(target, name) != 0]
        if not uneven:
            return array(*index)
        return tir.if_then_else(
            tir.all(*[whole[name] < size[name] for name in uneven]),
            array(*index), _const(0, array.dtype))
    return te.compute(shape, element, name="T_layout_trans", tag="injective")


# -- products

def matmul(a, b, transp_a=False, transp_b=False):
    k = te.reduce_axis((0, a.shape[0 if transp_a else 1]), name="k")
    return te.compute(
        (a.shape[1 if transp_a else 0], b.shape[0 if transp_b else 1]),
        lambda i, j: te.sum((a[k, i] if transp_a else a[i, k]) *
                            (b[j, k] if transp_b else b[k, j]), axis=k),
        name="T_matmul", tag="matmul")


def tensordot(a, b, axes):
    if isinstance(axes, int):
        mine = list(range(len(a.shape) - axes, len(a.shape)))
        yours = list(range(axes))
    else:
        mine = [axes[0]] if isinstance(axes[0], int) else list(axes[0])
        yours = [axes[1]] if isinstance(axes[1], int) else list(axes[1])
    mine = [_axis(x, len(a.shape)) for x in mine]
    yours = [_axis(x, len(b.shape)) for x in yours]
    over = [te.reduce_axis((0, a.shape[x]), name="k%d" % n)
            for n, x in enumerate(mine)]
    shape = [s for d, s in enumerate(a.shape) if d not in mine] + \
        [s for d, s in enumerate(b.shape) if d not in yours]

    def element(*i):
        rest = list(i)
        x = a(*[over[mine.index(d)] if d in mine else rest.pop(0)
                for d in range(len(a.shape))])
        y = b(*[over[yours.index(d)] if d in yours else rest.pop(0)
                for d in range(len(b.shape))])
        return te.sum(x * y, axis=over) if over else x * y
    return te.compute(shape, element, name="T_tensordot", tag="matmul")


# -- stores at positions that are computed from data

def _update(data, extra, fill, name):
    """A copy of data in which fill(ib, inputs, y) stores elements."""
    def body(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, _product(data.shape), "i") as i:
            at = _place_of(_split(i, data.shape))
            y[at] = x[at]
        fill(ib, [ib.buffer_ptr(b) for b in ins[1:]], y)
        return ib.get()
    return te.extern([data.shape], [data] + extra, body, name=name,
                     dtype=[data.dtype])


def _place_of(index):
    return index[0] if len(index) == 1 else tuple(index)


def _combined(mode, old, new):
    if mode == "update":
        return new
    if mode == "add":
        return old + new
    if mode == "mul":
        return old * new
    if mode == "min":
        return tir.min(old, new)
    if mode == "max":
        return tir.max(old, new)
    raise ValueError("elements are combined by update, add, mul, min and max, "
                     "not by %s" % mode)


def scatter_elements(data, indices, updates, axis=0, reduction="update"):
    axis = _axis(axis, len(data.shape))

    def fill(ib, ins, y):
        with ib.for_range(0, _product(indices.shape), "i") as i:
            at = _split(i, indices.shape)
            where = ins[0][_place_of(at)]
            to = list(at)
            to[axis] = tir.if_then_else(where < 0, where + data.shape[axis],
                                        where)
            to = _place_of(to)
            if reduction == "mean":
                raise ValueError("scatter_elements has no reduction mean")
            y[to] = _combined(reduction, y[to], ins[1][_place_of(at)])
    return _update(data, [indices, updates], fill, "scatter_elements")


def scatter(data, indices, updates, axis=0):
    return scatter_elements(data, indices, updates, axis)


def scatter_add(data, indices, updates, axis=0):
    return scatter_elements(data, indices, updates, axis, "add")


def scatter_nd(data, indices, updates, mode="update"):
    depth = int(indices.shape[0])
    rest = len(indices.shape) - 1

    def fill(ib, ins, y):
        with ib.for_range(0, _product(updates.shape), "i") as i:
            at = _split(i, updates.shape)
            where = [ins[0][_place_of([k] + at[:rest])] for k in range(depth)]
            to = _place_of(where + at[rest:])
            y[to] = _combined(mode, y[to], ins[1][_place_of(at)])
    return _update(data, [indices, updates], fill, "scatter_nd")


def index_put(data, indices, values, accumulate=False):
    shape = _common_shape(*[x.shape for x in indices])
    n = len(indices)
    whole = shape + list(data.shape)[n:]

    def fill(ib, ins, y):
        def element(pointer, tensor, at):
            at = at[len(at) - len(tensor.shape):]
            return pointer[_place_of([0 if _number(s) == 1 else x
                                      for x, s in zip(at, tensor.shape)])]
        with ib.for_range(0, _product(whole), "i") as i:
            at = _split(i, whole)
            to = []
            for k in range(n):
                where = element(ins[k], indices[k], at[:len(shape)])
                to.append(tir.if_then_else(where < 0, where + data.shape[k],
                                           where))
            to = _place_of(to + at[len(shape):])
            v = element(ins[n], values, at)
            y[to] = y[to] + v if accumulate else v
    return _update(data, list(indices) + [values], fill, "index_put")


# -- order

def _lengths(data, valid_count, axis):
    """A key for each element: 0 for the valid ones, 1 for those after them."""
    return te.compute(data.shape, lambda *i: tir.Select(
        i[axis] < valid_count(*[x for d, x in enumerate(i) if d != axis]
                              [:len(valid_count.shape)]), 0, 1),
        name="beyond")


def sort(data, axis=-1, is_ascend=1):
    axis = _axis(axis, len(data.shape))
    made = topi._top_k(data, data.shape[axis], axis, 0 if is_ascend else 1)[0]
    return _elements("sort", made, lambda v: v)


def argsort(data, valid_count=None, axis=-1, is_ascend=1, dtype="float32"):
    axis = _axis(axis, len(data.shape))
    size = data.shape[axis]
    if valid_count is None:
        made = topi._top_k(data, size, axis, 0 if is_ascend else 1)[1]
    else:
        # an element that is not valid keeps its position
        worst = te.max_value(data.dtype) if is_ascend \
            else te.min_value(data.dtype)

        def valid(i):
            others = [x for d, x in enumerate(i) if d != axis]
            return i[axis] < valid_count(*others[:len(valid_count.shape)])
        keys = te.compute(data.shape, lambda *i: tir.Select(
            valid(i), data(*i), worst), name="valid_keys")
        order = topi._top_k(keys, size, axis, 0 if is_ascend else 1)[1]
        made = te.compute(data.shape, lambda *i: tir.Select(
            valid(i), order(*i), tir.Cast("int64", i[axis])), name="order")
    return _elements("argsort", made,
                     lambda v: v.astype(dtype))


def topk(data, k=1, axis=-1, ret_type="both", is_ascend=False, dtype="int64"):
    axis = _axis(axis, len(data.shape))
    if isinstance(k, te.Tensor):
        raise ValueError("k is an int here: a tensor does not tell the shape")
    count = data.shape[axis] if isinstance(k, int) and k < 1 else k
    if _number(count) is not None and _number(data.shape[axis]) is not None:
        count = min(count, data.shape[axis])
    values, order = topi._top_k(data, count, axis, 0 if is_ascend else 1)
    if ret_type == "indices" or dtype != "int64":
        order = _elements("topk_indices", order, lambda v: v.astype(dtype))
    if ret_type == "values":
        return _elements("topk_values", values, lambda v: v)
    if ret_type == "indices":
        return order
    if ret_type != "both":
        raise ValueError("ret_type is both, values or indices, not %s" %
                         ret_type)
    return [values, order]


def searchsorted(sorted_sequence, values, right=False, out_dtype="int64"):
    size = sorted_sequence.shape[-1]

    def fill(ins, outs):
        ib = tir.ir_builder.create()
        table, v = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1])
        y = ib.buffer_ptr(outs[0])
        low = ib.allocate("int32", (1,), name="low", scope="local")
        high = ib.allocate("int32", (1,), name="high", scope="local")
        with ib.for_range(0, _product(values.shape), "i") as i:
            at = _split(i, values.shape)
            row = at[:-1] if len(sorted_sequence.shape) > 1 else []
            low[0] = tir.const(0, "int32")
            high[0] = tir.Cast("int32", size)
            with ib.while_loop(low[0] < high[0]):
                middle = (low[0] + high[0]) // 2
                x = table[_place_of(row + [middle])]
                goal = v[_place_of(at)]
                after = x <= goal if right else x < goal
                with ib.if_scope(after):
                    low[0] = middle + 1
                with ib.else_scope():
                    high[0] = middle
            y[_place_of(at)] = low[0].astype(out_dtype)
        return ib.get()
    return te.extern([values.shape], [sorted_sequence, values], fill,
                     name="searchsorted", dtype=[out_dtype])


def argwhere(output_shape, condition):
    rank = len(condition.shape)

    def fill(ins, outs):
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        found = ib.allocate("int32", (1,), name="found", scope="local")
        found[0] = tir.const(0, "int32")
        with ib.for_range(0, _product(condition.shape), "i") as i:
            at = _split(i, condition.shape)
            v = x[_place_of(at)]
            with ib.if_scope(v if condition.dtype == "bool" else v != 0):
                for d in range(rank):
                    y[found[0], d] = tir.Cast("int32", at[d])
                found[0] = found[0] + 1
        return ib.get()
    if isinstance(output_shape, te.Tensor):
        shape = output_shape.shape
    else:
        shape = output_shape
    return te.extern([shape], [condition], fill, name="argwhere",
                     dtype=["int32"])


def unique(data, is_sorted=True, return_counts=False):
    """[distinct values, position of the first element with each value, index
    of the value for each element, number of values, counts]. The values are in
    ascending order or in the order of their first elements. Places behind the
    last value are 0."""
    n = data.shape[0]

    def fill(ins, outs):
        ib = tir.ir_builder.create()
        x, order = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1])
        y, first = ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        inverse, number = ib.buffer_ptr(outs[2]), ib.buffer_ptr(outs[3])
        counts = ib.buffer_ptr(outs[4]) if return_counts else None
        with ib.for_range(0, n, "i") as i:
            y[i] = _const(0, data.dtype)
            first[i] = tir.const(0, "int32")
            inverse[i] = tir.const(0, "int32")
            if return_counts:
                counts[i] = tir.const(0, "int32")
        number[0] = tir.const(0, "int32")
        with ib.for_range(0, n, "k") as k:
            at = tir.Cast("int32", order[k]) if is_sorted else k
            slot = ib.allocate("int32", (1,), name="slot", scope="local")
            slot[0] = number[0]
            if is_sorted:
                with ib.if_scope(k > 0):
                    with ib.if_scope(y[tir.max(number[0] - 1, 0)] == x[at]):
                        slot[0] = number[0] - 1
            else:
                with ib.for_range(0, n, "s") as s:
                    with ib.if_scope(tir.all(s < number[0],
                                             slot[0] == number[0])):
                        with ib.if_scope(y[s] == x[at]):
                            slot[0] = tir.Cast("int32", s)
            with ib.if_scope(slot[0] == number[0]):
                y[slot[0]] = x[at]
                first[slot[0]] = tir.Cast("int32", at)
                number[0] = number[0] + 1
            inverse[at] = slot[0]
            if return_counts:
                counts[slot[0]] = counts[slot[0]] + 1
        return ib.get()
    order = topi._top_k(data, n, 0, 0)[1]
    shapes = [data.shape, data.shape, data.shape, (1,)]
    types = [data.dtype, "int32", "int32", "int32"]
    if return_counts:
        shapes.append(data.shape)
        types.append("int32")
    return te.extern(shapes, [data, order], fill, name="unique", dtype=types)


# -- sparse tensors, signals

def sparse_reshape(sparse_indices, prev_shape, new_shape,
                   new_sparse_indices_shape, new_shape_shape):
    def fill(ins, outs):
        ib = tir.ir_builder.create()
        x, old = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1])
        wanted = ib.buffer_ptr(ins[2])
        y, new = ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        dtype = new_shape.dtype
        total = ib.allocate(dtype, (1,), name="total", scope="local")
        flat = ib.allocate(dtype, (1,), name="flat", scope="local")
        total[0] = _const(1, dtype)
        with ib.for_range(0, prev_shape.shape[0], "d") as d:
            total[0] = total[0] * old[d]
        with ib.for_range(0, new_shape.shape[0], "d") as d:
            with ib.if_scope(wanted[d] != -1):
                total[0] = tir.truncdiv(total[0], wanted[d])
        with ib.for_range(0, new_shape.shape[0], "d") as d:
            new[d] = tir.if_then_else(wanted[d] == -1, total[0], wanted[d])
        with ib.for_range(0, sparse_indices.shape[0], "i") as i:
            flat[0] = _const(0, dtype)
            with ib.for_range(0, prev_shape.shape[0], "d") as d:
                flat[0] = flat[0] * old[d] + x[i, d]
            with ib.for_range(0, new_shape.shape[0], "d") as d:
                last = new_shape.shape[0] - 1 - d
                y[i, last] = tir.truncmod(flat[0], new[last])
                flat[0] = tir.truncdiv(flat[0], new[last])
        return ib.get()
    return te.extern([new_sparse_indices_shape, new_shape_shape],
                     [sparse_indices, prev_shape, new_shape], fill,
                     name="sparse_reshape",
                     dtype=[sparse_indices.dtype, new_shape.dtype])


def sparse_fill_empty_rows(sparse_indices, sparse_values, dense_shape,
                           default_value, new_sparse_indices_shape,
                           new_sparse_values_shape,
                           empty_row_indicator_shape):
    """[indices, values, 1 for each row that was empty, else 0]. An empty row
    gets default_value in column 0."""
    def fill(ins, outs):
        ib = tir.ir_builder.create()
        x, v = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1])
        default = ib.buffer_ptr(ins[2])
        y, w = ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        empty = ib.buffer_ptr(outs[2])
        rank = int(sparse_indices.shape[1])
        next_one = ib.allocate("int32", (1,), name="next_one", scope="local")
        seen = ib.allocate("int32", (1,), name="seen", scope="local")
        next_one[0] = tir.const(0, "int32")
        with ib.for_range(0, empty_row_indicator_shape[0], "row") as row:
            seen[0] = tir.const(0, "int32")
            with ib.for_range(0, sparse_indices.shape[0], "k") as k:
                with ib.if_scope(x[k, 0] == row.astype(sparse_indices.dtype)):
                    for d in range(rank):
                        y[next_one[0], d] = x[k, d]
                    w[next_one[0]] = v[k]
                    next_one[0] = next_one[0] + 1
                    seen[0] = tir.const(1, "int32")
            empty[row] = seen[0] == 0
            with ib.if_scope(seen[0] == 0):
                for d in range(rank):
                    y[next_one[0], d] = row.astype(sparse_indices.dtype) \
                        if d == 0 else _const(0, sparse_indices.dtype)
                w[next_one[0]] = default[0]
                next_one[0] = next_one[0] + 1
        return ib.get()
    return te.extern(
        [new_sparse_indices_shape, new_sparse_values_shape,
         empty_row_indicator_shape],
        [sparse_indices, sparse_values, reshape(default_value, (1,))], fill,
        name="sparse_fill_empty_rows",
        dtype=[sparse_indices.dtype, sparse_values.dtype, "bool"])


def dft(re_data, im_data, inverse=False):
    n = re_data.shape[-1]
    sign = 1 if inverse else -1

    def part(first, second, by, name):
        # the sum of first * cos + by * second * sin over the last dimension
        k = te.reduce_axis((0, n), name="k")

        def element(*i):
            angle = tir.Cast(re_data.dtype, tir.floormod(i[-1] * k, n)) * \
                _const(sign * 2 * math.pi, re_data.dtype) / n
            index = list(i)[:-1] + [k]
            return te.sum(first(*index) * tir.cos(angle) +
                          by * second(*index) * tir.sin(angle), axis=k)
        made = te.compute(re_data.shape, element, name=name)
        return _elements(name + "_scaled", made, lambda v: v / n) \
            if inverse else made
    return [part(re_data, im_data, -1, "dft_real"),
            part(im_data, re_data, 1, "dft_imag")]


def stft(data, n_fft, hop_length, win_length, window, normalized, onesided,
         output_shape):
    def part(of, sign):
        k = te.reduce_axis((0, n_fft), name="k")

        def element(*i):
            batch, frequency, frame, which = i
            angle = tir.Cast("float32", tir.floormod(frequency * k, n_fft)) * \
                _const(2 * math.pi / n_fft, "float32")
            value = data(batch, frame * hop_length + k) * window(k)
            return te.sum(value * tir.Select(which == 0, tir.cos(angle),
                                             -tir.sin(angle)), axis=k)
        return te.compute(output_shape, element, name="stft")
    made = part(None, 1)
    if not normalized:
        return made
    return _elements("stft_scaled", made, lambda v: v / math.sqrt(n_fft))


def hamming_window(window_size, periodic, alpha, beta, dtype):
    if window_size == 1:
        return full((1,), dtype, 1)
    count = window_size if periodic else window_size - 1
    return te.compute((window_size,), lambda i: _const(alpha, dtype) - _const(
        beta, dtype) * tir.cos(tir.Cast(dtype, i) * _const(
            2 * math.pi / count, dtype)), name="hamming_window")
