# SPDX-License-Identifier: Apache-2.0
"""The results that docs/reference/results.md ("Results") defines where ONNX leaves them
open and onnxruntime gives none, or one that depends on which of its loops runs.
Each function says why onnxruntime does not serve."""
import numpy as np

import values
from exact import cut, wrapped


def attribute(node, name, default=None):
    for a in node.attribute:
        if a.name == name:
            return {1: a.f, 2: a.i, 3: a.s, 7: list(a.ints),
                    6: list(a.floats)}[a.type]
    return default


def divide(node, inputs):
    """Div and Mod of integers: a division by zero ends onnxruntime's process.
    Here the quotient and the remainder are 0; the least number divided by -1
    wraps."""
    a, b = (x.astype(object) for x in inputs)
    mod = node.op_type == "Mod"
    truncates = not mod or attribute(node, "fmod", 0)

    def one(p, q):
        if q == 0:
            return 0
        quotient = abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) \
            if truncates else p // q
        return p - quotient * q if mod else quotient
    return [wrapped(np.frompyfunc(one, 2, 1)(a, b), inputs[0].dtype)]


def shift(node, inputs):
    """A shift by all bits or more gives 0; in onnxruntime it is undefined, as
    it is in C++."""
    a, b = np.broadcast_arrays(*inputs)
    left = attribute(node, "direction") == b"LEFT"
    small = np.where(b < 8 * a.dtype.itemsize, b, 0).astype(a.dtype)
    moved = np.left_shift(a, small) if left else np.right_shift(a, small)
    return [np.where(b < 8 * a.dtype.itemsize, moved, 0).astype(a.dtype)]


def power(node, inputs):
    """Of integers: powers wrap, and those with a negative exponent are cut
    toward zero. onnxruntime computes doubles, and converts those that do not
    fit, which is undefined."""
    def one(p, q):
        if q < 0:
            return 0 if p not in (1, -1) else int(p) if q % 2 else 1
        return pow(int(p), int(q), 2 ** 64)
    return [wrapped(np.frompyfunc(one, 2, 1)(
        inputs[0].astype(object), inputs[1].astype(object)),
        inputs[0].dtype)]


def windows(node, x, out, kernel=None):
    """For each element of the result of a pool or a Conv, whose sizes are `out`:
    its index, and the coordinates of its window in x, those outside x
    included."""
    kernel = kernel or attribute(node, "kernel_shape")
    rank = len(kernel)
    strides = attribute(node, "strides", [1] * rank)
    dilations = attribute(node, "dilations", [1] * rank)
    pads = attribute(node, "pads", [0] * 2 * rank)
    auto = attribute(node, "auto_pad", b"NOTSET")
    begins = []
    for d in range(rank):
        size, reach = x.shape[2 + d], (kernel[d] - 1) * dilations[d] + 1
        total = max((out[d] - 1) * strides[d] + reach - size, 0)
        begins.append({b"SAME_UPPER": total // 2, b"VALID": 0,
                       b"SAME_LOWER": total - total // 2}.get(auto, pads[d]))
    steps = [tuple(k * dilations[d] for d, k in enumerate(at))
             for at in np.ndindex(*kernel)]
    for at in np.ndindex(*out):
        first = [at[d] * strides[d] - begins[d] for d in range(rank)]
        yield at, [tuple(f + s for f, s in zip(first, step))
                   for step in steps]


def valid_sizes(node, sizes):
    """How many windows there are along each dimension without padding."""
    kernel = attribute(node, "kernel_shape")
    strides = attribute(node, "strides", [1] * len(sizes))
    dilations = attribute(node, "dilations", [1] * len(sizes))
    return tuple((n - (k - 1) * d - 1) // s + 1
                 for n, k, s, d in zip(sizes, kernel, strides, dilations))


def is_inside(x, at):
    return all(0 <= i < n for i, n in zip(at, x.shape[2:]))


def max_pool(node, inputs, results):
    """Where NaN is in a window, onnxruntime's result depends on the order in
    which it compares; where all elements are the least number, its index is
    that of no element."""
    x, y = inputs[0], results[0]
    flat = x.reshape(x.shape[:2] + (-1,))
    most, index = np.empty_like(y), np.zeros(y.shape, np.int64)
    sizes = x.shape[2:]
    plane = int(np.prod(sizes))
    columns = attribute(node, "storage_order", 0)
    for at, places in windows(node, x, y.shape[2:]):
        places = [p for p in places if is_inside(x, p)]
        rows = [int(np.ravel_multi_index(p, sizes)) for p in places]
        told = [int(np.ravel_multi_index(p[::-1], sizes[::-1]))
                if columns else row for p, row in zip(places, rows)]
        where = (slice(None), slice(None)) + at
        if not rows:
            most[where] = -np.inf if values.is_float(x) else \
                values.limits(x.dtype.name)[0]
            continue
        window = flat[:, :, rows]
        nan = np.isnan(window) if values.is_float(x) else \
            np.zeros(window.shape, bool)
        least = -np.inf if values.is_float(x) else \
            values.limits(x.dtype.name)[0]
        clean = np.where(nan, np.asarray(least, x.dtype), window)
        top = clean.max(-1)
        first = np.argmax((clean == top[..., None]) & ~nan, -1)
        every = nan.all(-1)
        most[where] = np.where(every, window[..., 0], top)
        index[where] = np.array(told)[np.where(every, 0, first)]
    channels = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2])
    index += (channels * plane).reshape(x.shape[:2] + (1,) * len(sizes))
    return [most, index][:len(results)]


def global_max_pool(node, inputs):
    """With NaN onnxruntime's result depends on the order in which it compares.
    Of float64 it has no kernel, and onnx.reference loses dimensions where there
    are not four."""
    x = inputs[0]
    axes = tuple(range(2, x.ndim))
    least = np.where(np.isnan(x), np.asarray(-np.inf, x.dtype), x).max(
        axes, keepdims=True)
    return [np.where(np.isnan(x).all(axes, keepdims=True),
                     np.asarray(np.nan, x.dtype), least)]


def max_roi_pool(node, inputs):
    """With NaN onnxruntime's result depends on the order in which it compares.
    Here it is that of MaxPool."""
    x, regions = inputs[0], inputs[1].astype(np.float32)
    bins = attribute(node, "pooled_shape")
    corners = regions[:, 1:] * np.float32(attribute(node, "spatial_scale", 1.0))
    corners = np.trunc(corners + np.copysign(np.float32(0.5), corners))
    y = np.zeros((len(regions), x.shape[1], *bins), x.dtype)
    for r, *at in np.ndindex(len(regions), *bins):
        window = x[int(regions[r, 0])]
        for d in range(2):
            first, last = corners[r, 1 - d], corners[r, 3 - d]
            size = max(last - first + 1, np.float32(1)) / np.float32(bins[d])
            ends = (np.floor(at[d] * size), np.ceil((at[d] + 1) * size))
            low, high = (min(max(int(end + first), 0), x.shape[2 + d])
                         for end in ends)
            window = window[:, low:high] if d == 0 else window[:, :, low:high]
        if window.size:
            nan = np.isnan(window)
            most = np.where(nan, x.dtype.type(-np.inf), window).max((1, 2))
            y[(r, slice(None), *at)] = np.where(
                nan.all((1, 2)), x.dtype.type(np.nan), most)
    return [y]


def float64_pool(node, inputs, results):
    """AveragePool and LpPool of float64: onnxruntime has no kernel.
    onnx.reference pads with NaN and leaves out all NaN, and with auto_pad VALID
    it counts windows as if they were not dilated."""
    x, y = inputs[0], results[0].copy()
    if attribute(node, "auto_pad") == b"VALID":
        y = np.zeros(x.shape[:2] + valid_sizes(node, x.shape[2:]))
    pads = attribute(node, "pads", [0] * 2 * (x.ndim - 2))
    p = attribute(node, "p", 2)
    for at, places in windows(node, x, y.shape[2:]):
        inside = [(slice(None), slice(None)) + q for q in places
                  if is_inside(x, q)]
        total = 0.0
        for q in inside:
            total = total + (x[q] if node.op_type == "AveragePool"
                             else np.abs(x[q]) ** p)
        count = len(inside)
        if attribute(node, "count_include_pad", 0):
            # Elements that ceil_mode adds behind the padding do not count.
            count = sum(all(i < n + pads[len(q) + d] for d, (i, n) in
                            enumerate(zip(q, x.shape[2:]))) for q in places) \
                if attribute(node, "auto_pad", b"NOTSET") == b"NOTSET" \
                else len(places)
        with np.errstate(all="ignore"):
            y[(slice(None), slice(None)) + at] = total / count \
                if node.op_type == "AveragePool" else total ** (1 / p)
    return [y]


def dilated_conv(node, inputs, results):
    """Conv of float64 with dilations: onnx.reference puts zeros between the
    weights, and multiplies NaN and infinities by them."""
    x, w = inputs[:2]
    y, group = results[0].copy(), attribute(node, "group", 1)
    every = (slice(None), slice(None))
    for at, places in windows(node, x, y.shape[2:], w.shape[2:]):
        total = 0.0 if len(inputs) < 3 or inputs[2] is None else inputs[2]
        for place, tap in zip(places, np.ndindex(*w.shape[2:])):
            if is_inside(x, place):
                terms = x[every + place].reshape(len(x), group, 1, -1) * \
                    w[every + tap].reshape(1, group, -1, w.shape[1])
                total = total + terms.sum(-1).reshape(len(x), -1)
        y[every + at] = total
    return [y]


def chosen(x, axis, is_max, last):
    """The index along `axis` that is chosen by going through the elements: the
    first, then each that is larger (smaller) than the one chosen before. NaN is
    chosen at index 0 only."""
    x = np.moveaxis(x, axis, 0)
    best, index = x[0].copy(), np.zeros(x.shape[1:], np.int64)
    for i in range(1, x.shape[0]):
        better = x[i] > best if is_max else x[i] < best
        if last:
            better = better | (x[i] == best)
        index = np.where(better, i, index)
        best = np.where(better, x[i], best)
    return index


def arg(node, inputs):
    """ArgMax and ArgMin with NaN, of which ONNX says nothing: onnxruntime's
    result is the documented one for some axes, for others it is Eigen's."""
    x, axis = inputs[0].astype(np.float64), attribute(node, "axis", 0)
    index = chosen(x, axis, node.op_type == "ArgMax",
                   attribute(node, "select_last_index", 0))
    return [np.expand_dims(index, axis % x.ndim)
            if attribute(node, "keepdims", 1) else index]


def hardmax(node, inputs):
    """With NaN: as ArgMax."""
    x, axis = inputs[0], attribute(node, "axis", -1)
    index = np.expand_dims(chosen(x.astype(np.float64), axis, True, 0),
                           axis % x.ndim)
    places = np.arange(x.shape[axis]).reshape(
        [-1 if d == axis % x.ndim else 1 for d in range(x.ndim)])
    return [(index == places).astype(x.dtype)]


def top_k(node, inputs):
    """TopK with NaN, of which ONNX says nothing: it is larger than all
    numbers."""
    x, axis = inputs[0], attribute(node, "axis", -1)
    wide = np.moveaxis(x.astype(np.float64), axis, 0)
    places = np.broadcast_to(np.arange(wide.shape[0]).reshape(
        [-1] + [1] * (wide.ndim - 1)), wide.shape)
    lost = np.isnan(wide)
    largest = attribute(node, "largest", 1)
    order = np.lexsort((places, -wide if largest else wide,
                        ~lost if largest else lost), 0)
    order = np.moveaxis(order[:int(inputs[1][0])], 0, axis)
    return [np.take_along_axis(x, order, axis), order]


def scatter_largest(node, inputs):
    """ScatterElements with max or min where there is NaN, which stays. In
    onnxruntime, and with Python's max and min, which onnx.reference calls, it
    depends on which of the two numbers is NaN."""
    x, indices, updates = inputs
    choose = np.maximum if attribute(node, "reduction") == b"max" \
        else np.minimum
    y = x.copy()
    for place in np.ndindex(indices.shape):
        to = list(place)
        to[attribute(node, "axis", 0)] = indices[place]
        y[tuple(to)] = choose(y[tuple(to)], updates[place])
    return [y]


def saturated(node, inputs, results):
    """Cast of floats beyond the range of an integer type, which is undefined in
    ONNX."""
    return [cut(inputs[0], results[0].dtype)]
