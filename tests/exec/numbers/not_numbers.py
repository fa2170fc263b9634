#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NaN, infinities and the largest and lowest numbers through what compares,
chooses and adds up: results are onnxruntime's, or, where it has one answer for
each of its loops or none, what docs/reference/results.md says."""
import sys

import helper

try:
    import numpy as np
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

TARGETS = ["c99", "gnu-c", "misra", "c-openmp", "cuda", "opencl-cpu",
           "x86-64-v3", "x86-64-v4"]
rng = np.random.default_rng(3)
NAN, INF = np.nan, np.inf


def values(shape, kind, extremes=True):
    """Few different ones, so that there are ties; whole windows of NaN, of
    -inf, of the lowest, NaN first and last."""
    few = [NAN, NAN, INF, -INF, 0.0, -0.0, 1.0, -2.0]
    if extremes:
        few += [np.finfo(kind).max, np.finfo(kind).min]
    x = rng.choice(np.array(few, kind), shape)
    flat = x.reshape(-1, shape[-1])
    for i, special in enumerate((NAN, -INF, INF, np.finfo(kind).min)):
        if extremes or np.isinf(special) or np.isnan(special):
            flat[2 * i:2 * i + 2] = special
    flat[8], flat[9] = np.arange(shape[-1]), -np.arange(shape[-1])
    flat[8, 0] = flat[9, -1] = NAN
    return x


def largest_of(window, kind):
    """(value, its place): of numbers; a NaN where there are none."""
    numbers = [(v, -i) for i, v in enumerate(window) if not np.isnan(v)]
    if numbers:
        value, place = max(numbers)
        return value, -place
    return (NAN, 0) if len(window) else (-INF, None)


def max_pool(x, kernel, stride=(1, 1), pads=(0, 0, 0, 0), dilation=(1, 1),
             column_major=False):
    n, c, height, width = x.shape
    out = [(size + pads[d] + pads[d + 2] - (kernel[d] - 1) * dilation[d] - 1)
           // stride[d] + 1 for d, size in enumerate((height, width))]
    y = np.zeros((n, c, *out), x.dtype)
    at = np.zeros(y.shape, np.int64)
    for i, j, oh, ow in np.ndindex(*y.shape):
        taps = [(oh * stride[0] - pads[0] + kh * dilation[0],
                 ow * stride[1] - pads[1] + kw * dilation[1])
                for kh in range(kernel[0]) for kw in range(kernel[1])]
        taps = [(h, w) for h, w in taps
                if 0 <= h < height and 0 <= w < width]
        y[i, j, oh, ow], place = largest_of([x[i, j, h, w] for h, w in taps],
                                            x.dtype)
        if place is not None:
            h, w = taps[place]
            at[i, j, oh, ow] = (i * c + j) * height * width + (
                w * height + h if column_major else h * width + w)
    return y, at


def hard(x):
    """1 where ArgMax is: what no element before it is below."""
    y = np.zeros_like(x)
    for row, out in zip(x, y):
        best = 0
        for i, v in enumerate(row):
            best = i if v > row[best] else best
        out[best] = 1
    return y


def rows(m, kind):
    name = np.dtype(kind).name
    array = values((24, 7), kind)
    x = m.input("rows_" + name, array)
    sums = m.input("sums_" + name, values((24, 7), kind, False))
    other = m.input("other_" + name, array[::-1, ::-1].copy())
    axis = m.constant(np.array([1]))
    with np.errstate(invalid="ignore"):
        m.output(m.node("ReduceMax", [x, axis], keepdims=0), array.max(1))
        m.output(m.node("ReduceMin", [x, axis], keepdims=0), array.min(1))
        m.output(m.node("ReduceMax", [x, m.constant(np.array([0]))],
                        keepdims=0), array.max(0))
    for op in ("ArgMax", "ArgMin"):
        for last in (0, 1):
            for along in (0, 1):
                m.output(m.node(op, [x], axis=along, keepdims=0,
                                select_last_index=last))
    for op in ("ReduceSum", "ReduceMean"):
        m.output(m.node(op, [sums, axis], keepdims=0))
    # C's isinf may give -1 for -inf, and isnan any number but 0.
    for op, told in (("IsInf", np.isinf), ("IsNaN", np.isnan)):
        m.output(m.node("Cast", [m.node(op, [x])], to=1),
                 told(array).astype(np.float32))
    low, high = (m.constant(np.array(v, kind)) for v in (0, 2))
    m.output(m.node("Clip", [x, low, high]))
    m.output(m.node("Relu", [x]))
    for op in ("Max", "Min"):
        m.output(m.node(op, [x, other]))
        m.output(m.node(op, [x, high]))
        m.output(m.node(op, [low, other, x]))
    if kind == np.float32:
        for op in ("ReduceL1", "ReduceL2", "ReduceSumSquare"):
            m.output(m.node(op, [sums, axis], keepdims=0))
        m.output(m.node("Softmax", [x], axis=1))
        m.output(m.node("LogSoftmax", [x], axis=1))
        m.output(m.node("Hardmax", [x], axis=1), hard(array))
        ones = m.input("ones_" + name, array[:, :1].copy())
        with np.errstate(invalid="ignore"):
            none = array[:, :1] - array[:, :1]
        m.output(m.node("Softmax", [ones], axis=1), none + 1)
        m.output(m.node("LogSoftmax", [ones], axis=1), none)
    # The sign of -0 is 0: its reciprocal is inf.
    with np.errstate(divide="ignore"):
        m.output(m.node("Reciprocal", [m.node("Sign", [x])]),
                 (1 / np.sign(array)).astype(kind))
        nothing = m.constant(np.array(NAN, kind))
        nan = np.full_like(array, NAN)
        m.output(m.node("Clip", [x, nothing, high]), nan)
        m.output(m.node("Clip", [x, low, nothing]), nan)


def windows(m, kind):
    array = values((1, 2, 9, 8), kind)
    x = m.input("image_" + np.dtype(kind).name, array)
    blocks = values((1, 16, 9, 8), kind)
    b = m.input("blocks_" + np.dtype(kind).name, blocks)
    wide = values((1, 3, 9, 37), kind)
    w = m.input("wide_" + np.dtype(kind).name, wide)
    # Written by a kernel, so that it may lie otherwise than the model says.
    inner = m.node("Mul", [b, m.constant(np.array(1, kind))])
    for given, which in ((x, array), (w, wide), (inner, blocks))[
            :3 if kind == np.float32 else 1]:
        for attributes in (
                {"kernel": (2, 2), "stride": (2, 2)},
                {"kernel": (3, 3), "pads": (1, 1, 1, 1)},
                {"kernel": (3, 3), "stride": (2, 2), "pads": (0, 1, 2, 1)},
                {"kernel": (2, 3), "dilation": (2, 2), "pads": (1, 2, 1, 2)},
                {"kernel": (1, 4), "dilation": (1, 2)}):
            y, at = max_pool(which, **attributes)
            words = {"kernel_shape": attributes["kernel"]}
            for word, ours in (("strides", "stride"), ("pads", "pads"),
                               ("dilations", "dilation")):
                if ours in attributes:
                    words[word] = attributes[ours]
            m.output(m.node("MaxPool", [given], **words), y)
            both = m.node("MaxPool", [given], 2, **words)
            m.output(both[0], y)
            m.output(both[1], at)
        y, at = max_pool(which, (3, 2), column_major=True)
        both = m.node("MaxPool", [given], 2, kernel_shape=[3, 2],
                      storage_order=1)
        m.output(both[0], y)
        m.output(both[1], at)
    if kind == np.float32:
        m.output(m.node("GlobalMaxPool", [x]),
                 max_pool(array, array.shape[2:])[0])
        sums = m.input("sum_image", values((1, 2, 9, 8), kind, False))
        for op in ("AveragePool", "LpPool"):
            m.output(m.node(op, [sums], kernel_shape=[3, 3],
                            pads=[1, 1, 1, 1]))
        for op in ("GlobalAveragePool", "GlobalLpPool"):
            m.output(m.node(op, [sums]))


def integers(m, kind):
    """Of the lowest there are whole windows."""
    lowest = np.iinfo(kind).min
    array = rng.choice(np.array([lowest, lowest, lowest, lowest + 1], kind),
                       (1, 2, 6, 6))
    array[0, 1] = lowest
    x = m.input("image_" + np.dtype(kind).name, array)
    for words in ({"strides": [2, 2]}, {"pads": [1, 1, 1, 1]}):
        for y in m.node("MaxPool", [x], 2, kernel_shape=[2, 2], **words):
            m.output(y)
    m.output(m.node("ArgMax", [x], axis=3))
    m.output(m.node("ArgMin", [x], axis=2, select_last_index=1))


def padded_products():
    """Weights with rows of zeros, which constants of fewer bytes give: 0 times inf
    or NaN is NaN, even if memory counts more than speed."""
    x = rng.integers(-4, 5, (4, 128)).astype(np.float32)
    x[1, 100], x[3, 127] = INF, NAN
    w = rng.integers(-4, 5, (64, 32)).astype(np.float32)
    for zeros in ("Pad", "Concat"):
        m = Model("padded_products")
        small = m.constant(w)
        if zeros == "Pad":
            whole = m.node("Pad", [small, m.constant(np.array([0, 0, 64, 0]))])
        else:
            whole = m.node("Concat", [small, m.constant(np.zeros_like(w))],
                           axis=0)
        m.output(m.node("MatMul", [m.input("x", x), whole]))
        m.check(TARGETS[:2], "--optimize", "memory")


def long_rows(m, kind):
    """Rows that lanes share, of one length that lanes divide and one that they do
    not."""
    for size in (56, 64):
        x = m.input("long_%d_%s" % (size, np.dtype(kind).name),
                    values((24, size), kind))
        for op in ("ArgMax", "ArgMin"):
            for last in (0, 1):
                m.output(m.node(op, [x], axis=1, keepdims=last,
                                select_last_index=last))


def main():
    padded_products()
    m = Model("not_numbers")
    for kind in (np.float32, np.float64):
        rows(m, kind)
        windows(m, kind)
        long_rows(m, kind)
    for kind in (np.int8, np.uint8):
        integers(m, kind)
    m.check([t for t in TARGETS if helper.has_processor(t)])


if __name__ == "__main__":
    sys.exit(main())
