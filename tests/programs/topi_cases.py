# SPDX-License-Identifier: Apache-2.0
"""Cases for topi_values.py, a line each:

    name | inputs | expression | formula of NumPy | TVM's expression, if another

Inputs: NAME:KIND:SIZES, of the kinds below."""
import re

import numpy as np


class Case:
    def __init__(self, number, line):
        parts = [p.strip() for p in re.split(r" \|(?= )", line)]
        self.name, inputs, self.expression = parts[:3]
        self.formula = parts[3] if len(parts) > 3 and parts[3] else None
        self.tvm = parts[4] if len(parts) > 4 else None
        self.seed = number
        self.names, self.data = [], []
        for one in inputs.split():
            name, kind, sizes = one.split(":")
            shape = "(%s)" % ", ".join(
                [s for s in sizes.split(",") if s] + [""]) \
                if sizes else "()"
            self.names.append(name)
            self.data.append(made(kind, shape.replace(", )", ",)")))


def made(kind, shape):
    """The expression of random data; int kinds may have a bound: i5 is 0..4."""
    letter, bound = kind[0], kind[1:]
    integers = {"i": "int32", "l": "int64", "c": "int8", "u": "uint8",
                "w": "uint32"}
    if letter == "f":
        return 'rng.uniform(-2, 2, %s).astype("float32")' % shape
    if letter == "p":  # positive
        return 'rng.uniform(0.1, 1, %s).astype("float32")' % shape
    if letter == "h":
        return 'rng.uniform(-2, 2, %s).astype("float16")' % shape
    if letter == "s":  # in order
        return 'np.sort(rng.uniform(-2, 2, %s).astype("float32"))' % shape
    if letter == "b":
        return 'rng.randint(0, 2, %s).astype("bool")' % shape
    if letter == "o":  # an order of all indices
        return 'rng.permutation(%s[0]).astype("int32")' % shape
    low = -9 if letter in "ilc" and not bound else 0
    return 'rng.randint(%d, %s, %s).astype("%s")' % (
        low, bound or "100", shape, integers[letter])


# -- formulas

def set_part(a, v, begin, end, step):
    made = a.copy()
    made[begin:end:step, begin:end:step] = v
    return made


def set_rows(a, rows, begin, end, step):
    made = a.copy()
    made[begin:end:step] = rows
    return made


def reversed_rows(a, lengths):
    made = a.copy()
    for row, n in zip(made, lengths):
        row[:max(n, 1)] = row[:max(n, 1)][::-1].copy()
    return made


def dense_of(index, values, shape, default=0):
    made = np.full(shape, default, values.dtype)
    for at, v in zip(index, values):
        made[tuple(at)] = v
    return made


def set_diagonal(a, diagonal):
    made = a.copy()
    for k in range(diagonal.shape[-1]):
        made[..., k, k] = diagonal[..., k]
    return made


def windows(a):
    return np.stack([np.stack(
        [a[:, y:y + 3, x:x + 2] for x in range(5)], 1) for y in (0, 2)], 1)


def scattered(a, index, updates, axis, combine=None):
    made = a.copy()
    for at in np.ndindex(*index.shape):
        to = list(at)
        to[axis] = index[at]
        to = tuple(to)
        made[to] = updates[at] if combine is None else combine(
            made[to], updates[at])
    return made


def scattered_nd(a, index, updates):
    made = a.copy()
    np.add.at(made, tuple(index), updates)
    return made


def order_of_valid(a, counts):
    made = np.tile(np.arange(a.shape[1]), (a.shape[0], 1))
    for row, x, n in zip(made, a, counts):
        row[:n] = np.argsort(-x[:n], kind="stable")
    return made


def padded(a, shape):
    made = np.zeros(shape, "int32")
    made[:len(a)] = a
    return made


def unique(a, in_order):
    values, first, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True)
    if not in_order:
        order = np.argsort(first)
        values, first, counts = values[order], first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    n = len(a) - len(values)
    return [np.pad(values, (0, n)), np.pad(first, (0, n)), inverse,
            np.array([len(values)]), np.pad(counts, (0, n))]


def sparse_reshaped():
    # one element at (1, 1) of 6 x 6, at the flat position 7 of 3 x 3 x 4
    return [np.tile(np.array(np.unravel_index(7, (3, 3, 4))), (3, 1)),
            np.array([3, 3, 4])]


def filled(values, default):
    # rows 0, 2 and 4 have an element; 1 and 3 get one
    index = np.array([[0, 1], [1, 0], [2, 3], [3, 0], [4, 5]])
    made = np.array([values[0], default, values[1], default, values[2]])
    return [np.pad(index, ((0, 1), (0, 0))), np.pad(made, (0, 1)),
            np.array([False, True, False, True, False])]


def stft(a, window):
    frames = np.stack([a[:, k * 4:k * 4 + 8] * window for k in range(4)], 1)
    made = np.fft.rfft(frames).transpose(0, 2, 1)
    return np.stack([made.real, made.imag], -1).astype("float32")


def dilated(a):
    made = np.ones(((a.shape[0] - 1) * 2 + 1, (a.shape[1] - 1) * 3 + 1), a.dtype)
    made[::2, ::3] = a
    return made


def conv(a, w, stride, padding, dilation):
    """NCHW and OIHW, of any rank."""
    n = a.ndim - 2

    def each(v):
        return (v,) * n if isinstance(v, int) else tuple(v)
    stride, padding, dilation = each(stride), each(padding), each(dilation)
    a = np.pad(a, ((0, 0), (0, 0)) + tuple((p, p) for p in padding))
    sizes = [(s - (k - 1) * d - 1) // t + 1 for s, k, d, t in zip(
        a.shape[2:], w.shape[2:], dilation, stride)]
    made = np.zeros((a.shape[0], w.shape[0]) + tuple(sizes), a.dtype)
    for at in np.ndindex(*w.shape[2:]):
        part = a[(slice(None), slice(None)) + tuple(
            slice(k * d, k * d + (s - 1) * t + 1, t)
            for k, d, s, t in zip(at, dilation, sizes, stride))]
        made += np.einsum("bi...,oi->bo...", part,
                          w[(slice(None), slice(None)) + at])
    return made


def blocks_of_depthwise(a, w):
    a = a.transpose(0, 1, 4, 2, 3).reshape(1, 8, 6, 6)
    w = w.transpose(0, 5, 1, 4, 2, 3).reshape(8, 1, 3, 3)
    made = np.concatenate([conv(a[:, k:k + 1], w[k:k + 1], 1, 1, 1)
                           for k in range(8)], 1)
    return made.reshape(1, 2, 4, 6, 6).transpose(0, 1, 3, 4, 2)


# p^k / the product of p - q over the other points q, and infinity; the first row
# has the sign that makes the product positive
G2 = np.array([[1, 0, 0], [.5, -.5, .5], [.5, .5, .5], [0, 0, 1]])
G4 = np.array([[1, 0, 0], [-1 / 3, 1 / 3, -1 / 3], [1 / 3, 1 / 3, 1 / 3],
               [-16 / 15, -8 / 15, -4 / 15], [1 / 15, -2 / 15, 4 / 15],
               [0, 0, 1]])


def winograd_weight(w, g):
    return np.einsum("oihw,ph,qw->pqoi", w, g, g)


def normal(a, axes):
    mean = a.mean(axes, keepdims=True)
    return (a - mean) / np.sqrt(a.var(axes, keepdims=True) + 1e-5)


def softmax(a, axis):
    made = np.exp(a - a.max(axis, keepdims=True))
    return made / made.sum(axis, keepdims=True)


def csr(data, columns, width):
    """Three rows, which begin at 0, 2 and 4 of five elements."""
    made = np.zeros((3, width), data.dtype)
    for k, (v, c) in enumerate(zip(data, columns)):
        made[k // 2, c] += v
    return made


def bsr(data, columns):
    """Two rows of blocks, which begin at 0 and 2 of three."""
    made = np.zeros((4, 8), data.dtype)
    for k, (v, c) in enumerate(zip(data, columns)):
        made[k // 2 * 2:k // 2 * 2 + 2, c * 4:c * 4 + 4] += v
    return made


def csr_transposed(data):
    columns, rows = np.arange(5) * 2 % 3, np.arange(5) // 2
    order = np.argsort(columns, kind="stable")
    counts = np.bincount(columns, minlength=3)
    return [data[order], rows[order], np.concatenate([[0], counts.cumsum()])]


def lstm(x, wi, wh, b):
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))
    h, c, all_h, all_c = 0, 0, [], []
    h = c = np.zeros((x.shape[1], wh.shape[1]), x.dtype)
    for step in x:
        i, f, g, o = np.split(step @ wi.T + h @ wh.T + b, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        all_h.append(h)
        all_c.append(c)
    return [np.stack(all_h), np.stack(all_c)]


def bilinear(image, y, x):
    """image: (channels, height, width)"""
    y0, x0 = int(np.floor(y)), int(np.floor(x))
    total = 0
    for v, a in ((y0, 1 - y + y0), (y0 + 1, y - y0)):
        for u, b in ((x0, 1 - x + x0), (x0 + 1, x - x0)):
            v1 = min(max(v, 0), image.shape[1] - 1)
            u1 = min(max(u, 0), image.shape[2] - 1)
            total = total + image[:, v1, u1] * a * b
    return total


def cropped(a, boxes, index, height, width, nearest=False):
    last = np.array(a.shape[2:]) - 1
    made = np.zeros((len(boxes), a.shape[1], height, width), a.dtype)
    for k, (box, image) in enumerate(zip(boxes, index)):
        step = (box[2:] - box[:2]) * last / [height - 1, width - 1]
        for i, j in np.ndindex(height, width):
            y, x = box[:2] * last + step * [i, j]
            if 0 <= y <= last[0] and 0 <= x <= last[1]:
                made[k, :, i, j] = a[image, :, int(np.rint(y)), int(
                    np.rint(x))] if nearest else bilinear(a[image], y, x)
    return made


def roi_align(a, rois, pooled, scale):
    made = np.zeros((len(rois), a.shape[1]) + pooled, a.dtype)
    height, width = a.shape[2:]
    for k, roi in enumerate(rois):
        box = roi[1:] * scale
        size = np.maximum(box[2:] - box[:2], 1)[::-1]
        step = size / pooled
        many = np.ceil(step).astype(int)
        for ph, pw in np.ndindex(*pooled):
            for i, j in np.ndindex(*many):
                y = box[1] + (ph + (i + .5) / many[0]) * step[0]
                x = box[0] + (pw + (j + .5) / many[1]) * step[1]
                if -1 <= y <= height and -1 <= x <= width:
                    made[k, :, ph, pw] += bilinear(
                        a[int(roi[0])], min(max(y, 0), height - 1),
                        min(max(x, 0), width - 1)) / many.prod()
    return made


def roi_pool(a, rois, pooled, scale):
    made = np.zeros((len(rois), a.shape[1], pooled, pooled), a.dtype)
    for k, roi in enumerate(rois):
        left, top, right, bottom = np.rint(roi[1:] * scale).astype(int)
        high, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for i, j in np.ndindex(pooled, pooled):
            y0, y1 = [min(max(top + int(f), 0), a.shape[2]) for f in (
                np.floor(i * high / pooled + 1e-5),
                np.ceil((i + 1) * high / pooled - 1e-5))]
            x0, x1 = [min(max(left + int(f), 0), a.shape[3]) for f in (
                np.floor(j * wide / pooled + 1e-5),
                np.ceil((j + 1) * wide / pooled - 1e-5))]
            if y0 < y1 and x0 < x1:
                made[k, :, i, j] = a[int(roi[0]), :, y0:y1, x0:x1].max((1, 2))
    return made


def reorg(a, s):
    batch, channels, height, width = a.shape
    part = channels // (s * s)
    flat, made = a.reshape(-1), np.empty(a.shape, a.dtype)
    for b, k, j, i in np.ndindex(*a.shape):
        x, y = i * s + k // part % s, j * s + k // part // s
        made[b, k, j, i] = flat[x + width * s * (
            y + height * s * (k % part + part * b))]
    return made.reshape(batch, channels * s * s, height // s, width // s)


def prior(height, width, sizes, ratios):
    boxes = [(s * height / width / 2, s / 2) for s in sizes] + [
        (sizes[0] * height / width * r ** .5 / 2, sizes[0] / r ** .5 / 2)
        for r in ratios[1:]]
    return np.array([[[x - w, y - h, x + w, y + h]
                      for y in (np.arange(height) + .5) / height
                      for x in (np.arange(width) + .5) / width
                      for w, h in boxes]], "float32")[0].reshape(1, -1, 4)


def transform_loc(prob, loc, anchor, threshold):
    batch, classes, count = prob.shape
    made = np.full((batch, count, 6), -1, "float32")
    found = np.zeros(batch, "int32")
    for b, j in np.ndindex(batch, count):
        which = prob[b, 1:, j].argmax()
        score = prob[b, which + 1, j]
        if score < threshold:
            continue
        low, high = anchor[0, j, :2], anchor[0, j, 2:]
        delta = loc[b, j * 4:j * 4 + 4]
        middle = delta[:2] * .1 * (high - low) + (low + high) / 2
        half = np.exp(delta[2:] * .2) * (high - low) / 2
        made[b, found[b], :2] = which, score
        made[b, found[b], 2:4] = np.clip(middle - half, 0, 1)
        made[b, found[b], 4:] = np.clip(middle + half, 0, 1)
        found[b] += 1
    return [made, found]


def valid_counts(a, threshold):
    made = np.full(a.shape, -1, a.dtype)
    where = np.full(a.shape[:2], -1, "int32")
    counts = np.zeros(a.shape[0], "int32")
    for b, j in np.ndindex(*a.shape[:2]):
        if a[b, j, 1] > threshold and a[b, j, 0] >= 0:
            made[b, counts[b]] = a[b, j]
            where[b, counts[b]] = j
            counts[b] += 1
    return [counts, made, where]


def overlap(a, b):
    low, high = np.minimum(a[:2], a[2:]), np.maximum(a[:2], a[2:])
    low2, high2 = np.minimum(b[:2], b[2:]), np.maximum(b[:2], b[2:])
    both = np.maximum(np.minimum(high, high2) - np.maximum(low, low2), 0).prod()
    return both / ((high - low).prod() + (high2 - low2).prod() - both)


def nms(a, counts, names, threshold):
    made = np.full(names.shape, -1, "int32")
    found = np.zeros((len(a), 1), "int32")
    for b in range(len(a)):
        kept = []
        for j in np.argsort(-a[b, :counts[b], 1], kind="stable"):
            if all(overlap(a[b, j, 2:], a[b, k, 2:]) < threshold for k in kept):
                kept.append(j)
        made[b, :len(kept)] = names[b, kept]
        found[b] = len(kept)
    return [made, found]


def all_class(boxes, scores, most, threshold, least):
    made = []
    for b, c in np.ndindex(*scores.shape[:2]):
        kept = []
        for j in np.argsort(-scores[b, c], kind="stable"):
            if scores[b, c, j] > least and len(kept) < most and all(
                    overlap(boxes[b, j], boxes[b, k]) < threshold for k in kept):
                kept.append(j)
        made += [(b, c, j) for j in kept]
    whole = np.zeros((scores.size, 3), "int64")
    whole[:len(made)] = made
    return [whole, np.array([len(made)])]


LINES = """
isfinite | A:f:2,3 | topi.isfinite(A) | np.isfinite(A)
log10 | A:p:2,3 | topi.log10(A) | np.log10(A)
log2 | A:p:2,3 | topi.log2(A) | np.log2(A)
ceil_log2 | A:i100:12 | topi.ceil_log2(topi.add(A, 1)) | np.ceil(np.log2(A + 1)).astype("int32")
ceil_log2_float | A:p:12 | topi.ceil_log2(A) | np.ceil(np.log2(A))
reinterpret | A:f:2,3 | topi.reinterpret(A, "int32") | A.view("int32")
fixed_point_multiply | A:i1000:20 | topi.fixed_point_multiply(A, 1395864371, 2)
fixed_point_multiply_right | A:i100000:20 | topi.fixed_point_multiply(A, 1395864371, -3)
fixed_point_multiply_per_axis | A:i1000:4,5 Y:i2000000000:5 L:i3:5 R:i3:5 | topi.fixed_point_multiply_per_axis(A, Y, L, R, False, True, [1])
elemwise_sum | A:f:2,3 B:f:2,3 C:f:2,3 | topi.elemwise_sum([A, B, C]) | A + B + C
full | A:f:2 | topi.full((2, 3), "float32", 1.5) | np.full((2, 3), 1.5, "float32")
full_like | A:f:2,3 | topi.full_like(A, 7) | np.full((2, 3), 7, "float32")
eye | A:f:2 | topi.eye(3, 4, 1, "float32") | np.eye(3, 4, 1, "float32")
log_add_exp | A:f:2,3 B:f:3 | topi.log_add_exp(A, B) | np.logaddexp(A, B)
atan2 | A:f:2,3 B:f:2,3 | topi.atan2(A, B) | np.arctan2(A, B)
where | C:b:2,3 A:f:2,3 B:f:2,3 | topi.where(C, A, B) | np.where(C, A, B)
where_broadcast | C:i2:3 A:f:2,3 B:f:1 | topi.where(C, A, B) | np.where(C, A, B)
clip | A:f:3,4 | topi.clip(A, -1, 1) | np.clip(A, -1, 1)
trilu | A:f:2,4,5 | topi.trilu(A, 1, True) | np.triu(A, 1) | topi.trilu(A, tir.const(1, "int32"), True)
tril | A:f:4,5 | topi.trilu(A, -1, False) | np.tril(A, -1)
sum_axes | A:f:2,3,4 | topi.sum(A, axis=(0, -1)) | A.sum((0, 2))
sum_all | A:f:2,3 | topi.sum(A) | A.sum()
prod | A:f:2,3 | topi.prod(A, axis=1, keepdims=True) | A.prod(1, keepdims=True)
all | A:b:3,4 | topi.all(A, axis=1) | A.all(1)
any | A:b:3,4 | topi.any(A, axis=0, keepdims=True) | A.any(0, keepdims=True)
all_of_all | A:b:3,4 | topi.all(A) | A.all()
argmax | A:f:3,4 | topi.argmax(A, axis=1) | A.argmax(1).astype("int32")
argmin | A:i3:3,4,5 | topi.argmin(A, axis=1, keepdims=True) | np.expand_dims(A.argmin(1), 1)
argmax_last | A:i3:3,8 | topi.argmax(A, 1, False, True) | 7 - A[:, ::-1].argmax(1)
argmax_two_axes | A:f:3,4,5 | topi.argmax(A, axis=(1, 2)) | A.reshape(3, 20).argmax(1)
argmax_all | A:f:3,4 | topi.argmax(A) | A.argmax()
collapse_sum | A:f:2,3,4 | topi.collapse_sum(A, (3, 1)) | A.sum((0, 2)).reshape(3, 1)
cumsum | A:f:3,4 | topi.cumsum(A, 1) | A.cumsum(1)
cumsum_flat | A:i:3,4 | topi.cumsum(A) | A.cumsum()
cumsum_exclusive | A:f:3,4 | topi.cumsum(A, 0, exclusive=True) | A.cumsum(0) - A
cumsum_wide | A:c:3,4 | topi.cumsum(A, 1, dtype="int64") | A.cumsum(1, dtype="int64")
cumprod | A:f:3,4 | topi.cumprod(A, 0) | A.cumprod(0)
expand_dims | A:f:2,3 | topi.expand_dims(A, 1, 2) | A.reshape(2, 1, 1, 3)
expand_dims_end | A:f:2,3 | topi.expand_dims(A, -1) | A.reshape(2, 3, 1)
expand_like | A:f:3 B:f:3,2,3 | topi.expand_like(A, B, [1, 2]) | np.broadcast_to(A.reshape(3, 1, 1), (3, 2, 3))
flip | A:f:2,3 | topi.flip(A, 1) | A[:, ::-1]
transpose | A:f:2,3,4 | topi.transpose(A, (2, 0, 1)) | A.transpose(2, 0, 1)
transpose_all | A:f:2,3,4 | topi.transpose(A) | A.transpose()
reshape | A:f:2,3,4 | topi.reshape(A, (4, 6)) | A.reshape(4, 6)
squeeze | A:f:2,1,3,1 | topi.squeeze(A) | A.squeeze()
squeeze_axis | A:f:2,1,3,1 | topi.squeeze(A, 1) | A.squeeze(1)
broadcast_to | A:f:3,1 | topi.broadcast_to(A, (2, 3, 4)) | np.broadcast_to(A, (2, 3, 4))
concatenate | A:f:2,3 B:f:2,2 C:f:2,1 | topi.concatenate([A, B, C], 1) | np.concatenate([A, B, C], 1)
stack | A:f:2,3 B:f:2,3 | topi.stack([A, B], 1) | np.stack([A, B], 1)
stack_end | A:f:2,3 B:f:2,3 | topi.stack([A, B], -1) | np.stack([A, B], -1)
split | A:f:6,2 | topi.split(A, 3, 0) | np.split(A, 3)
split_at | A:f:6,2 | topi.split(A, [1, 4], 0) | np.split(A, [1, 4])
strided_slice | A:f:5,6 | topi.strided_slice(A, [1, 0], [4, 6], [1, 2]) | A[1:4, 0:6:2]
strided_slice_back | A:f:5,6 | topi.strided_slice(A, [4, -1], [0, 0], [-2, -1]) | A[4:0:-2, -1:0:-1]
strided_slice_axes | A:f:5,6,7 | topi.strided_slice(A, [1, 2], [-1, 9], [1, 1], [0, 2]) | A[1:-1, :, 2:]
strided_slice_size | A:f:5,6 | topi.strided_slice(A, [1, 2], [3, -1], slice_mode="size") | A[1:4, 2:]
strided_set | A:f:5,6 V:f:2,2 B:i1:2 E:i1:2 S:i1:2 | topi.strided_set(A, V, topi.add(B, 1), topi.add(E, 5), topi.add(S, 2)) | cases.set_part(A, V, 1, 5, 2)
slice_scatter | A:f:6,3 S:f:2,3 | topi.slice_scatter(A, S, 1, 5, 2, 0) | cases.set_rows(A, S, 1, 5, 2)
take | A:f:4,5 I:i5:2,3 | topi.take(A, I, 1) | A.take(I, 1)
take_flat | A:f:4,5 I:i20:2,3 | topi.take(A, I) | A.take(I)
take_clip | A:f:4,5 I:i:6 | topi.take(A, I, 0, mode="clip") | A.take(I, 0, mode="clip")
take_wrap | A:f:4,5 I:i:6 | topi.take(A, I, 0, mode="wrap") | A.take(I, 0, mode="wrap")
take_batch | A:f:2,4,5 I:i4:2,3 | topi.take(A, I, 1, 1, "clip") | np.stack([a.take(i, 0) for a, i in zip(A, I)])
gather | A:f:3,4 I:i3:2,4 | topi.gather(A, 0, I) | np.take_along_axis(A, I, 0)
gather_nd | A:f:3,4,5 I:i3:2,6 | topi.gather_nd(A, I) | A[I[0], I[1]]
gather_nd_whole | A:f:3,4 I:i3:2,2,3 | topi.gather_nd(A, I) | A[I[0], I[1]]
adv_index | A:f:3,4,5 I:i3:2,1 J:i4:3 | topi.adv_index(A, [I, J]) | A[I, J]
reverse_sequence | A:f:3,4 L:l4:3 | topi.reverse_sequence(A, L, 1, 0) | cases.reversed_rows(A, L)
tile | A:f:2,3 | topi.tile(A, (2, 1, 3)) | np.tile(A, (2, 1, 3))
tile_short | A:f:2,3 | topi.tile(A, (3,)) | np.tile(A, 3)
repeat | A:f:2,3 | topi.repeat(A, 2, 1) | A.repeat(2, 1)
arange | A:f:2 | topi.arange(1, 8, 2, "int32") | np.arange(1, 8, 2)
arange_float | A:f:2 | topi.arange(0.0, 1.0, 0.25, "float32") | np.arange(0, 1, 0.25)
arange_stop | A:f:2 | topi.arange(5) | np.arange(5)
meshgrid | A:f:2 B:f:3 | topi.meshgrid([A, B], "ij") | np.meshgrid(A, B, indexing="ij")
meshgrid_xy | A:f:2 B:f:3 C:f:4 | topi.meshgrid([A, B, C], "xy") | np.meshgrid(A, B, C, indexing="xy")
shape | A:f:2,3,4 | topi.shape(A) | np.array([2, 3, 4])
ndarray_size | A:f:2,3,4 | topi.ndarray_size(A) | np.array(24)
tensor_size | A:f:2,3 | topi.tensor_size(A) | np.array(6)
sequence_mask | A:f:4,3,2 L:i4:3 | topi.sequence_mask(A, L, -1, 0) | np.where((np.arange(4)[:, None] >= L)[:, :, None], -1, A)
sequence_mask_1 | A:f:3,4 L:i4:3 | topi.sequence_mask(A, L, 0, 1) | np.where(np.arange(4) >= L[:, None], 0, A)
one_hot | I:i4:3 | topi.one_hot(I, tir.const(2, "float32"), tir.const(-1, "float32"), 4, -1, "float32") | np.where(I[:, None] == np.arange(4), 2, -1)
one_hot_axis | I:i4:2,3 | topi.one_hot(I, 1, 0, 4, 1, "int32") | np.moveaxis(np.eye(4, dtype="int32")[I], -1, 1) | topi.one_hot(I, tir.const(1, "int32"), tir.const(0, "int32"), 4, 1, "int32")
unravel_index | I:i42:5 S:i1:2 | topi.unravel_index(I, topi.add(S, 7)) | np.stack(np.unravel_index(I, (7, 7)))
unravel_index_two | I:i12:5 | topi.unravel_index(I, (3, 4)) | np.stack(np.unravel_index(I, (3, 4)))
sparse_to_dense | I:i4:3,2 V:f:3 | topi.sparse_to_dense(I, (4, 4), V) | cases.dense_of(I, V, (4, 4))
sparse_to_dense_1 | I:i9:3 V:f:3 | topi.sparse_to_dense(I, (9,), V, -1) | cases.dense_of(I.reshape(3, 1), V, (9,), -1)
matrix_set_diag | A:f:2,3,4 D:f:2,3 | topi.matrix_set_diag(A, D) | cases.set_diagonal(A, D)
matrix_set_diag_band | A:f:2,4,4 D:f:2,3,4 | topi.matrix_set_diag(A, D, (-1, 1), "LEFT_RIGHT")
matrix_set_diag_right | A:f:2,4,4 D:f:2,2,4 | topi.matrix_set_diag(A, D, (0, 1))
invert_permutation | A:o:6 | topi.invert_permutation(A) | np.argsort(A)
sliding_window | A:f:2,5,6 | topi.sliding_window(A, 1, [3, 2], [2, 1]) | cases.windows(A)
layout_transform | A:f:2,8,3,4 | topi.layout_transform(A, "NCHW", "NCHW4c") | A.reshape(2, 2, 4, 3, 4).transpose(0, 1, 3, 4, 2)
layout_transform_back | A:f:2,2,3,4,4 | topi.layout_transform(A, "NCHW4c", "NHWC") | A.transpose(0, 2, 3, 1, 4).reshape(2, 3, 4, 8)
layout_transform_uneven | A:f:2,6,3,4 | topi.layout_transform(A, "NCHW", "NCHW4c")
matmul | A:f:3,4 B:f:5,4 | topi.matmul(A, B, False, True) | A @ B.T
matmul_transposed | A:f:4,3 B:f:4,5 | topi.matmul(A, B, True) | A.T @ B
tensordot | A:f:2,3,4 B:f:3,4,5 | topi.tensordot(A, B, 2) | np.tensordot(A, B, 2)
tensordot_axes | A:f:2,3,4 B:f:4,3,5 | topi.tensordot(A, B, ([1, 2], [1, 0])) | np.tensordot(A, B, ([1, 2], [1, 0]))
einsum | A:f:2,3 B:f:3,4 | topi.einsum("ij,jk->ik", A, B) | A @ B
einsum_trace | A:f:3,3 | topi.einsum("ii->", A) | np.trace(A)
scatter | A:f:3,4 I:i3:2,4 U:f:2,4 | topi.scatter_elements(A, I, U, 0) | cases.scattered(A, I, U, 0)
scatter_add | A:f:3,4 I:i3:2,4 U:f:2,4 | topi.scatter_elements(A, I, U, 0, "add") | cases.scattered(A, I, U, 0, np.add)
scatter_mul | A:f:3,4 I:i4:3,2 U:f:3,2 | topi.scatter_elements(A, I, U, 1, "mul") | cases.scattered(A, I, U, 1, np.multiply)
scatter_min | A:f:3,4 I:i4:3,2 U:f:3,2 | topi.scatter_elements(A, I, U, 1, "min") | cases.scattered(A, I, U, 1, np.minimum)
scatter_old | A:f:3,4 I:i3:2,4 U:f:2,4 | topi.scatter(A, I, U, 0) | cases.scattered(A, I, U, 0)
scatter_add_old | A:f:3,4 I:i3:2,4 U:f:2,4 | topi.scatter_add(A, I, U, 0) | cases.scattered(A, I, U, 0, np.add)
scatter_nd | A:f:3,4,5 I:i3:2,4 U:f:4,5 | topi.scatter_nd(A, I, U, "add") | cases.scattered_nd(A, I, U)
index_put | A:f:3,4,5 I:i3:3 J:i4:3 V:f:3,5 | topi.index_put(A, [I, J], V, True) | cases.scattered_nd(A, np.stack([I, J]), V)
sort | A:f:3,8 | topi.sort(A, 1) | np.sort(A, 1)
sort_down | A:f:5,3 | topi.sort(A, 0, False) | -np.sort(-A, 0)
argsort | A:i5:3,12 | topi.argsort(A, axis=1, dtype="int32") | np.argsort(A, 1, kind="stable")
argsort_down | A:i5:3,12 | topi.argsort(A, axis=1, is_ascend=False, dtype="int32") | np.argsort(-A, 1, kind="stable")
argsort_float | A:f:3,4 | topi.argsort(A) | np.argsort(A, 1, kind="stable")
argsort_valid | A:f:3,6 V:i6:3 | topi.argsort(A, V, 1, False, "int32") | cases.order_of_valid(A, V)
topk | A:f:3,8 | topi.topk(A, 3, 1) | [-np.sort(-A, 1)[:, :3], np.argsort(-A, 1, kind="stable")[:, :3]]
topk_up | A:f:8,3 | topi.topk(A, 2, 0, "indices", True, "int32") | np.argsort(A, 0, kind="stable")[:2]
topk_values | A:f:3,8 | topi.topk(A, 0, 1, "values") | -np.sort(-A, 1)
searchsorted | S:s:8 V:f:3,4 | topi.searchsorted(S, V) | np.searchsorted(S, V)
searchsorted_right | S:s:3,8 V:f:3,4 | topi.searchsorted(S, V, True, "int32") | np.stack([np.searchsorted(s, v, "right") for s, v in zip(S, V)])
argwhere | A:i2:3,4 | topi.argwhere((12, 2), A) | cases.padded(np.argwhere(A), (12, 2))
unique | A:i5:10 | topi.unique(A, True, True) | cases.unique(A, True)
unique_order | A:i5:10 | topi.unique(A, False, True) | cases.unique(A, False)
sparse_reshape | I:i1:3,2 P:i1:2 | topi.sparse_reshape(topi.add(I, 1), topi.add(P, 6), te.compute((3,), lambda i: tir.if_then_else(i == 2, -1, 3)), (3, 3), (3,)) | cases.sparse_reshaped()
sparse_fill_empty_rows | V:f:3 D:f: | topi.sparse_fill_empty_rows(topi.cast(topi.reshape(topi.arange(6), (3, 2)), "int64"), V, te.compute((2,), lambda i: 5), D, (6, 2), (6,), (5,)) | cases.filled(V, D)
dft | A:f:3,8 B:f:3,8 | topi.dft(A, B, False) | [np.fft.fft(A + 1j * B).real.astype("float32"), np.fft.fft(A + 1j * B).imag.astype("float32")] | topi.signal.dft(A, B, False)
dft_inverse | A:f:3,8 B:f:3,8 | topi.dft(A, B, True) | [np.fft.ifft(A + 1j * B).real.astype("float32"), np.fft.ifft(A + 1j * B).imag.astype("float32")]
stft | A:f:2,20 W:p:8 | topi.stft(A, 8, 4, 8, W, False, True, (2, 5, 4, 2)) | cases.stft(A, W)
hamming_window | A:f:2 | topi.hamming_window(8, True, 0.54, 0.46, "float32") | 0.54 - 0.46 * np.cos(2 * np.pi * np.arange(8) / 8)
nn_pad | A:f:2,3 | topi.nn.pad(A, (1, 0), (2, 1), 5.0) | np.pad(A, ((1, 2), (0, 1)), constant_values=5)
mirror_pad | A:f:4,5 | topi.nn.mirror_pad(A, (1, 2), (2, 1), "REFLECT") | np.pad(A, ((1, 2), (2, 1)), "reflect")
mirror_pad_edge | A:f:4,5 | topi.nn.mirror_pad(A, (1, 2), (2, 1), "SYMMETRIC") | np.pad(A, ((1, 2), (2, 1)), "symmetric")
reflect_pad | A:f:1,4,5 | topi.nn.reflect_pad(A, (0, 1, 2), (0, 2, 1)) | np.pad(A, ((0, 0), (1, 2), (2, 1)), "reflect")
replicate_pad | A:f:1,4,5 | topi.nn.replicate_pad(A, (0, 1, 2), (0, 2, 1)) | np.pad(A, ((0, 0), (1, 2), (2, 1)), "edge")
circular_pad | A:f:1,4,5 | topi.nn.circular_pad(A, (0, 1, 2), (0, 2, 1)) | np.pad(A, ((0, 0), (1, 2), (2, 1)), "wrap")
dilate | A:f:2,3 | topi.nn.dilate(A, (2, 3), 1.0) | cases.dilated(A)
conv1d_ncw | A:f:2,3,8 W:f:4,3,3 | topi.nn.conv1d_ncw(A, W, 2, 1, 1) | cases.conv(A, W, 2, 1, 1)
conv1d_nwc | A:f:2,8,3 W:f:3,3,4 | topi.nn.conv1d_nwc(A, W, 1, "SAME", 2)
group_conv1d_ncw | A:f:2,4,8 W:f:6,2,3 | topi.nn.group_conv1d_ncw(A, W, 1, 1, 1, 2)
group_conv1d_nwc | A:f:2,8,4 W:f:3,2,6 | topi.nn.group_conv1d_nwc(A, W, 1, 1, 1, 2)
conv2d_nchw | A:f:2,3,8,7 W:f:4,3,3,2 | topi.nn.conv2d_nchw(A, W, (2, 1), (1, 2), (1, 2)) | cases.conv(A, W, (2, 1), (1, 2), (1, 2))
conv2d_nhwc | A:f:2,8,7,3 W:f:3,3,3,4 | topi.nn.conv2d_nhwc(A, W, 1, "SAME", 1)
conv2d_hwcn | A:f:8,7,3,2 W:f:3,3,3,4 | topi.nn.conv2d_hwcn(A, W, 1, 1, 1)
conv2d | A:f:1,3,6,6 W:f:4,3,3,3 | topi.nn.conv2d(A, W, 1, (1, 0, 2, 1), 1)
conv2d_wide | A:c:1,3,6,6 W:c:4,3,3,3 | topi.nn.conv2d_nchw(A, W, 1, 1, 1, "int32")
group_conv2d_nchw | A:f:1,4,6,6 W:f:6,2,3,3 | topi.nn.group_conv2d_nchw(A, W, 1, 1, 1, 2)
group_conv2d_nhwc | A:f:1,6,6,4 W:f:3,3,2,6 | topi.nn.group_conv2d_nhwc(A, W, 1, 1, 1, 2)
conv3d_ncdhw | A:f:1,2,4,5,4 W:f:3,2,3,3,3 | topi.nn.conv3d_ncdhw(A, W, 1, 1, 1, 1) | cases.conv(A, W, 1, 1, 1)
conv3d_ndhwc | A:f:1,4,5,4,2 W:f:3,3,3,2,3 | topi.nn.conv3d_ndhwc(A, W, 2, 1, 1, 1)
conv2d_NCHWc | A:f:1,2,6,6,4 W:f:3,2,3,3,4,2 | topi.nn.conv2d_NCHWc(A, W, 1, 1, 1, "NCHW4c", "NCHW2c") | | topi.nn.conv2d_NCHWc(A, W, 1, 1, 1, "NCHW4c", "NCHW2c")
conv2d_NCHWc_int8 | A:u:1,2,5,5,8 W:c:3,2,3,3,2,2,4 | topi.nn.conv2d_NCHWc_int8(A, W, 1, 1, 1, "NCHW8c", "NCHW2c")
unpack_NCHWc | A:f:1,2,3,4,4 | topi.nn.unpack_NCHWc_to_nchw(A, "float32") | A.transpose(0, 1, 4, 2, 3).reshape(1, 8, 3, 4)
depthwise_conv2d_nchw | A:f:1,3,6,6 W:f:3,2,3,3 | topi.nn.depthwise_conv2d_nchw(A, W, 2, 1, 1)
depthwise_conv2d_nhwc | A:f:1,6,6,3 W:f:3,3,3,2 | topi.nn.depthwise_conv2d_nhwc(A, W, 1, "SAME", 1)
depthwise_conv2d_NCHWc | A:f:1,2,6,6,4 W:f:2,1,3,3,1,4 | topi.nn.depthwise_conv2d_NCHWc(A, W, 1, 1, 1, "NCHW4c", "NCHW4c") | cases.blocks_of_depthwise(A, W)
depthwise_backward_input | W:f:3,3,2,2 G:f:1,3,3,4 | topi.nn.depthwise_conv2d_backward_input_nhwc(W, G, (1, 3, 3, 4), (1, 6, 6, 2), (2, 2), (1, 1))
depthwise_backward_weight | A:f:1,6,6,2 G:f:1,3,3,4 | topi.nn.depthwise_conv2d_backward_weight_nhwc(A, G, (1, 3, 3, 4), (3, 3, 2, 2), (2, 2), (1, 1))
conv1d_transpose | A:f:1,3,5 W:f:3,2,3 | topi.nn.conv1d_transpose_ncw(A, W, 2, 1, "float32", 1) | | topi.nn.conv1d_transpose_ncw(A, W, 2, 1, "float32", (1,))
conv2d_transpose | A:f:1,3,4,4 W:f:3,2,3,3 | topi.nn.conv2d_transpose_nchw(A, W, (2, 2), (1, 1), "float32", (1, 0))
group_conv2d_transpose | A:f:1,4,4,4 W:f:4,2,3,3 | topi.nn.group_conv2d_transpose_nchw(A, W, (2, 2), (1, 1), "float32", (0, 0), 2)
conv3d_transpose | A:f:1,2,3,3,3 W:f:2,2,3,3,3 | topi.nn.conv3d_transpose_ncdhw(A, W, (2, 2, 2), (1, 1, 1), "float32", (0, 0, 0))
winograd_weight | W:f:2,3,3,3 | topi.nn.conv2d_winograd_weight_transform(W, 4) | cases.winograd_weight(W, cases.G4)
winograd_weight_2 | W:f:2,3,3,3 | topi.nn.conv2d_winograd_weight_transform(W, 2) | cases.winograd_weight(W, cases.G2)
winograd_weight_3d | W:f:2,2,3,3,3 | topi.nn.conv3d_winograd_weight_transform(W, 2) | np.einsum("oidhw,pd,qh,rw->pqroi", W, cases.G2, cases.G2, cases.G2)
winograd_nhwc | A:f:1,6,7,2 W:f:3,3,2,3 | topi.nn.conv2d_winograd_nhwc(A, W, 1, 1, 1, "float32") | cases.conv(A.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1), 1, 1, 1).transpose(0, 2, 3, 1) | topi.nn.conv2d_nhwc(A, W, 1, 1, 1)
winograd_nchw | A:f:1,2,6,7 W:f:3,2,3,3 | topi.nn.conv2d_winograd_nchw(A, W, 1, 1, 1, "float32") | cases.conv(A, W, 1, 1, 1) | topi.nn.conv2d_nchw(A, W, 1, 1, 1)
gemm_weight | W:f:3,3,2,5 | topi.nn.conv2d_gemm_weight_transform(W, 4, 4) | np.pad(W.reshape(18, 5), ((0, 2), (0, 3))).reshape(5, 4, 2, 4).transpose(2, 0, 3, 1)
correlation | A:f:1,2,6,6 B:f:1,2,6,6 | topi.nn.correlation_nchw(A, B, 3, 2, 1, 1, 2, True)
correlation_difference | A:f:1,2,6,6 B:f:1,2,6,6 | topi.nn.correlation_nchw(A, B, 1, 2, 2, 1, 2, False)
deformable_nchw | A:f:1,4,5,5 O:f:1,36,5,5 W:f:3,4,3,3 | topi.nn.deformable_conv2d_nchw(A, O, W, 1, 1, 1, 2, 1, "float32")
deformable_nhwc | A:f:1,5,5,4 O:f:1,5,5,18 W:f:3,3,4,3 | topi.nn.deformable_conv2d_nhwc(A, O, W, 1, 1, 1, 1, 1, "float32")
pool1d | A:f:2,3,8 | topi.nn.pool1d(A, [3], [2], [1], [1, 1], "max")
pool2d_max | A:f:1,2,7,8 | topi.nn.pool2d(A, (3, 2), (2, 2), (1, 1), (1, 0, 1, 0), "max")
pool2d_avg | A:f:1,2,7,8 | topi.nn.pool2d(A, (3, 2), (2, 2), (1, 1), (1, 0, 1, 0), "avg")
pool2d_exclude | A:f:1,2,7,8 | topi.nn.pool2d(A, (3, 2), (2, 2), (1, 1), (1, 0, 1, 1), "avg", False, "NCHW", False)
pool2d_ceil | A:f:1,2,7,8 | topi.nn.pool2d(A, (3, 2), (2, 3), (1, 1), (1, 0, 1, 0), "avg", True)
pool2d_ceil_max | A:f:1,7,8,2 | topi.nn.pool2d(A, (3, 2), (2, 3), (1, 1), (1, 0, 1, 0), "max", True, "NHWC")
pool2d_dilated | A:f:1,2,9,9 | topi.nn.pool2d(A, (3, 2), (1, 2), (2, 3), (1, 1, 1, 1), "avg", False, "NCHW", False)
pool2d_blocks | A:f:1,2,6,6,4 | topi.nn.pool2d(A, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), "avg", False, "NCHW4c")
pool3d | A:f:1,2,4,4,4 | topi.nn.pool3d(A, (2, 2, 2), (2, 2, 2), (1, 1, 1), (0, 0, 0, 0, 0, 0), "avg")
pool_grad_avg | G:f:1,2,4,4 A:f:1,2,8,8 | topi.nn.pool_grad(G, A, (2, 2), (2, 2), (0, 0, 0, 0), "avg", False, True) | | topi.nn.pool_grad(G, A, (2, 2), (2, 2), (0, 0, 0, 0), "avg", False, True)
pool_grad_avg_pad | G:f:1,2,4,4 A:f:1,2,7,7 | topi.nn.pool_grad(G, A, (3, 3), (2, 2), (1, 1, 1, 1), "avg", False, False)
pool_grad_max | G:f:1,2,4,4 A:f:1,2,7,7 | topi.nn.pool_grad(G, A, (3, 3), (2, 2), (1, 1, 1, 1), "max", False, True)
global_pool | A:f:1,2,5,6 | topi.nn.global_pool(A, "avg") | A.mean((2, 3), keepdims=True)
global_pool_max | A:f:1,5,6,2 | topi.nn.global_pool(A, "max", "NHWC") | A.max((1, 2), keepdims=True)
adaptive_pool | A:f:1,2,7,8 | topi.nn.adaptive_pool(A, (3, 4), "avg")
adaptive_pool_max | A:f:1,2,7,8 | topi.nn.adaptive_pool(A, (3, 5), "max")
adaptive_pool1d | A:f:1,2,7 | topi.nn.adaptive_pool1d(A, (3,), "avg")
adaptive_pool3d | A:f:1,2,5,4,6 | topi.nn.adaptive_pool3d(A, (2, 2, 3), "avg")
dense | A:f:3,4 W:f:5,4 B:f:5 | topi.nn.dense(A, W, B) | A @ W.T + B
nn_matmul | A:f:3,4 B:f:4,5 | topi.nn.matmul(A, B) | A @ B
nn_matmul_t | A:f:4,3 B:f:5,4 C:f:5 | topi.nn.matmul(A, B, C, None, True, True) | A.T @ B.T + C
dense_pack | A:f:3,4 W:f:2,4,3 | topi.nn.dense_pack(A, W) | A @ W.transpose(0, 2, 1).reshape(6, 4).T
batch_matmul | A:f:2,3,4 B:f:2,5,4 | topi.nn.batch_matmul(A, B) | A @ B.transpose(0, 2, 1)
batch_matmul_nn | A:f:1,3,4 B:f:2,4,5 | topi.nn.batch_matmul(A, B, None, None, False, False) | A @ B
relu | A:f:3,4 | topi.nn.relu(A) | np.maximum(A, 0)
leaky_relu | A:f:3,4 | topi.nn.leaky_relu(A, 0.1) | np.where(A > 0, A, np.float32(0.1) * A)
prelu | A:f:2,3,4 S:f:3 | topi.nn.prelu(A, S) | np.where(A > 0, A, A * S[:, None])
softplus | A:f:2,3 | topi.nn.softplus(A) | np.log1p(np.exp(A))
flatten | A:f:2,3,4 | topi.nn.flatten(A) | A.reshape(2, 12)
scale_shift_nchw | A:f:1,3,2,2 S:f:3 T:f:3 | topi.nn.scale_shift_nchw(A, S, T) | A * S[:, None, None] + T[:, None, None]
scale_shift_nhwc | A:f:1,2,2,3 S:f:3 T:f:3 | topi.nn.scale_shift_nhwc(A, S, T) | A * S + T
scale_shift_nchwc | A:f:1,2,2,2,3 S:f:2,3 T:f:2,3 | topi.nn.scale_shift_nchwc(A, S, T)
fifo_buffer | D:f:2,3 B:f:2,5 | topi.nn.fifo_buffer(D, B, 1) | np.concatenate([B, D], 1)[:, 3:]
softmax | A:f:3,4 | topi.nn.softmax(A) | cases.softmax(A, -1)
softmax_axis | A:f:2,3,4 | topi.nn.softmax(A, 1) | cases.softmax(A, 1)
fast_softmax | A:f:3,4 | topi.nn.fast_softmax(A) | cases.softmax(A, -1)
log_softmax | A:f:3,4 | topi.nn.log_softmax(A) | np.log(cases.softmax(A, -1))
batch_norm | A:f:2,3,4,4 G:f:3 B:f:3 M:f:3 V:p:3 | topi.nn.batch_norm(A, G, B, M, V, 1, 1e-5, True, True)[0] | (A - M[:, None, None]) / np.sqrt(V + 1e-5)[:, None, None] * G[:, None, None] + B[:, None, None]
batch_norm_training | A:f:2,3,4,4 G:f:3 B:f:3 M:f:3 V:p:3 | topi.nn.batch_norm(A, G, B, M, V, 1, 1e-5, True, True, True, 0.1)
layer_norm | A:f:2,3,4 G:f:3,4 B:f:3,4 | topi.nn.layer_norm(A, G, B, (1, 2)) | cases.normal(A, (1, 2)) * G + B
instance_norm | A:f:2,3,4,4 G:f:3 B:f:3 | topi.nn.instance_norm(A, G, B, 1, (2, 3)) | cases.normal(A, (2, 3)) * G[:, None, None] + B[:, None, None]
group_norm | A:f:2,4,3,3 G:f:4 B:f:4 | topi.nn.group_norm(A, G, B, 2, 1, [2, 3]) | cases.normal(A.reshape(2, 2, 2, 3, 3), (2, 3, 4)).reshape(A.shape) * G[:, None, None] + B[:, None, None]
rms_norm | A:f:2,3,4 W:f:4 | topi.nn.rms_norm(A, W, -1) | A / np.sqrt((A * A).mean(-1, keepdims=True) + 1e-5) * W
lrn | A:p:1,6,3,3 | topi.nn.lrn(A, 3, 1, 0.1, 0.75, 2.0)
lrn_last | A:p:1,3,3,6 | topi.nn.lrn(A, 5, 3, 0.1, 0.75, 2.0)
nll_loss | P:f:4,3 T:i3:4 W:p:3 | topi.nn.nll_loss(P, T, W, "mean", -100)
nll_loss_sum | P:f:2,3,4 T:i3:2,4 W:p:3 | topi.nn.nll_loss(P, T, W, "sum", 1)
nll_loss_none | P:f:4,3 T:i3:4 W:p:3 | topi.nn.nll_loss(P, T, W, "none", 2)
depth_to_space | A:f:1,8,2,3 | topi.nn.depth_to_space(A, 2)
depth_to_space_crd | A:f:1,8,2,3 | topi.nn.depth_to_space(A, 2, "NCHW", "CRD")
depth_to_space_nhwc | A:f:1,2,3,8 | topi.nn.depth_to_space(A, 2, "NHWC")
space_to_depth | A:f:1,2,4,6 | topi.nn.space_to_depth(A, 2)
space_to_depth_nhwc | A:f:1,4,6,2 | topi.nn.space_to_depth(A, 2, "NHWC")
space_to_batch | A:f:2,3,4,2 | topi.nn.space_to_batch_nd(A, [2, 2], [1, 0], [0, 0])
batch_to_space | A:f:8,2,2,1 | topi.nn.batch_to_space_nd(A, [2, 2], [0, 1], [1, 0]) | A.reshape(2, 2, 2, 2, 2).transpose(2, 3, 0, 4, 1).reshape(2, 4, 4, 1)[:, :3, 1:] | none
upsampling | A:f:1,2,3,3 | topi.nn.upsampling(A, 2, 2) | A.repeat(2, 2).repeat(2, 3)
upsampling_bilinear | A:f:1,2,3,3 | topi.nn.upsampling(A, 2, 3, "NCHW", "bilinear", True)
upsampling3d | A:f:1,1,2,2,2 | topi.nn.upsampling3d(A, 2, 2, 2, "NCDHW", "trilinear")
bitpack | A:i4:2,32 | topi.nn.bitpack(A, 2, 1, 1, "uint32")
bitserial_dense | A:i4:2,32 W:i4:3,32 | topi.nn.bitserial_dense(A, W, 2, 2, "uint32", "int32", False) | A @ W.T
bitserial_dense_unipolar | A:i4:2,32 W:i2:3,32 | topi.nn.bitserial_dense(A, W, 2, 1, "uint32", "int32") | A @ (2 * W.T - 1)
bitserial_nchw | A:i4:1,32,4,4 W:i4:2,32,3,3 | topi.nn.bitserial_conv2d_nchw(A, W, 1, 1, 2, 2, "uint32", "int32", False) | cases.conv(A, W, 1, 1, 1)
bitserial_nhwc | A:i4:1,4,4,32 W:i4:3,3,32,2 | topi.nn.bitserial_conv2d_nhwc(A, W, 1, 0, 2, 2, "uint32", "int32", False) | cases.conv(A.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1), 1, 0, 1).transpose(0, 2, 3, 1)
binarize_pack | A:f:2,64 | topi.nn.binarize_pack(A)
binary_dense | A:f:2,64 W:f:3,64 | topi.nn.binary_dense(topi.nn.binarize_pack(A), topi.nn.binarize_pack(W)) | np.where(A >= 0, 1, -1) @ np.where(W >= 0, 1, -1).T
simulated_quantize | A:f:3,4 S:p:4 Z:f:4 | topi.nn.simulated_quantize(A, tir.const(1, "int32"), S, Z, 1)
simulated_dequantize | A:f:3,4 S:p:4 Z:f:4 | topi.nn.simulated_dequantize(A, tir.const(2, "int32"), S, Z, 1)
sparse_dense | A:f:2,4 D:f:5 I:i4:5 | topi.nn.sparse_dense_sp_rhs(A, D, I, te.compute((4,), lambda i: tir.min(i * 2, 5))) | A @ cases.csr(D, I, 4).T
sparse_dense_left | D:f:5 I:i4:5 W:f:3,4 | topi.nn.sparse_dense(W, D, I, te.compute((4,), lambda i: tir.min(i * 2, 5)), True) | cases.csr(D, I, 4) @ W.T
sparse_dense_blocks | A:f:2,8 D:f:3,2,4 I:i2:3 | topi.nn.sparse_dense(A, D, I, te.compute((3,), lambda i: tir.min(i * 2, 3))) | A @ cases.bsr(D, I).T
sparse_add | A:f:3,4 D:f:5 I:i4:5 | topi.nn.sparse_add(A, D, I, te.compute((4,), lambda i: tir.min(i * 2, 5))) | A + cases.csr(D, I, 4)
sparse_transpose | D:f:5 | topi.nn.sparse_transpose(D, te.compute((5,), lambda i: (i * 2) % 3), te.compute((4,), lambda i: tir.min(i * 2, 5))) | cases.csr_transposed(D)
sparse_conv2d | A:f:1,2,2,4 D:f:5 I:i4:5 | topi.nn.sparse_conv2d(A, D, I, te.compute((4,), lambda i: tir.min(i * 2, 5))) | A @ cases.csr(D, I, 4).T
csrmm | D:f:5 I:i4:5 W:f:4,2 B:f:3 | topi.sparse.csrmm_default(D, I, te.compute((4,), lambda i: tir.min(i * 2, 5)), W, B) | cases.csr(D, I, 4) @ W + B[:, None]
dense_si | D:f:5 I:i4:5 W:f:3,4 B:f:3 | topi.sparse.dense_si(D, I, te.compute((4,), lambda i: tir.min(i * 2, 5)), W, B) | cases.csr(D, I, 4) @ W.T + B
dense_sw | A:f:2,4 D:f:5 I:i4:5 | topi.sparse.dense_sw(A, D, I, te.compute((4,), lambda i: tir.min(i * 2, 5))) | A @ cases.csr(D, I, 4).T
lstm | X:f:3,2,4 W:f:12,4 H:f:12,3 B:f:12 | topi.nn.lstm(X, W, H, B) | cases.lstm(X, W, H, B) | topi.nn.lstm(X, W, H, B, f_act=topi.sigmoid, g_act=topi.tanh, h_act=topi.tanh)
lstm_reverse | X:f:3,2,4 W:f:12,4 H:f:12,3 B:f:12 | topi.nn.lstm(X, W, H, B, reverse=True)[0] | cases.lstm(X[::-1], W, H, B)[0]
resize1d | A:f:1,2,5 | topi.image.resize1d(A, [0.0, 0.0], [8], "NCW", "linear", "half_pixel")
resize2d_nearest | A:f:1,2,4,5 | topi.image.resize2d(A, [0.0] * 4, [7, 8], "NCHW", "nearest_neighbor", "asymmetric")
resize2d_round | A:f:1,2,4,5 | topi.image.resize2d(A, [0.0] * 4, [7, 8], "NCHW", "nearest_neighbor", "half_pixel", "round_prefer_ceil")
resize2d_linear | A:f:1,4,5,2 | topi.image.resize2d(A, [0.0] * 4, [7, 8], "NHWC", "linear", "align_corners")
resize2d_cubic | A:f:1,2,4,5 | topi.image.resize2d(A, [0.0] * 4, [7, 8], "NCHW", "cubic", "half_pixel", "", -0.75)
resize2d_exclude | A:f:1,1,4,5 | topi.image.resize2d(A, [0.0] * 4, [3, 4], "NCHW", "cubic", "half_pixel", "", -0.5, 1)
resize2d_pytorch | A:f:1,2,4,5 | topi.image.resize2d(A, [0.0] * 4, [1, 3], "NCHW", "linear", "pytorch_half_pixel")
resize2d_crop | A:f:1,2,6,6 | topi.image.resize2d(A, [0.1, 0.2, 0.8, 1.1], [4, 5], "NCHW", "linear", "tf_crop_and_resize", "", -0.5, 0, 9.0)
resize2d_blocks | A:f:1,2,4,5,4 | topi.image.resize2d(A, [0.0] * 4, [7, 8], "NCHW4c", "linear", "half_pixel")
resize3d | A:f:1,1,2,3,4 | topi.image.resize3d(A, [0.0] * 6, [3, 4, 5], "NCDHW", "linear", "half_pixel")
resize3d_nearest | A:f:1,1,2,3,4 | topi.image.resize3d(A, [0.0] * 6, [3, 4, 5], "NCDHW", "nearest_neighbor", "asymmetric")
crop_and_resize | A:f:2,2,5,5 B:p:3,4 I:i2:3 | topi.image.crop_and_resize(A, B, I, [3, 4]) | cases.cropped(A, B, I, 3, 4)
crop_and_resize_nearest | A:f:2,5,5,2 B:p:3,4 I:i2:3 | topi.image.crop_and_resize(A, B, I, [3, 4], "NHWC", "nearest_neighbor") | cases.cropped(A.transpose(0, 3, 1, 2), B, I, 3, 4, True).transpose(0, 2, 3, 1)
dilation2d_nchw | A:f:1,2,5,5 W:f:2,3,3 | topi.image.dilation2d_nchw(A, W, 1, 1, 1)
dilation2d_nhwc | A:f:1,5,5,2 W:f:3,3,2 | topi.image.dilation2d_nhwc(A, W, (2, 1), 0, (1, 2))
affine_grid | A:f:2,2,3 | topi.image.affine_grid(A, (4, 5))
grid_sample | A:f:1,2,4,5 G:f:1,2,3,3 | topi.image.grid_sample(A, G)
grid_sample_border | A:f:1,2,4,5 G:f:1,2,3,3 | topi.image.grid_sample(A, G, "bilinear", "NCHW", "border", False)
grid_sample_reflection | A:f:1,2,4,5 G:f:1,2,3,3 | topi.image.grid_sample(A, G, "bilinear", "NCHW", "reflection", True)
grid_sample_reflection_half | A:f:1,2,4,5 G:f:1,2,3,3 | topi.image.grid_sample(A, G, "nearest", "NCHW", "reflection", False)
grid_sample_cubic | A:f:1,2,4,5 G:f:1,2,3,3 | topi.image.grid_sample(A, G, "bicubic", "NCHW", "border", False)
grid_sample_cubic_zeros | A:f:1,2,4,5 G:f:1,2,3,3 | topi.image.grid_sample(A, G, "bicubic")
grid_sample_3d | A:f:1,1,3,4,5 G:f:1,3,2,2,2 | topi.image.grid_sample(A, G, "bilinear", "NCDHW", "border", True)
roi_align | A:f:2,2,6,6 R:p:3,5 | topi.vision.rcnn.roi_align_nchw(A, topi.multiply(R, 1.9), (2, 3), 3.0, "avg", 2) | | topi.vision.roi_align_nchw(A, topi.multiply(R, tir.const(1.9, "float32")), (2, 3), 3.0, 0, 2)
roi_align_max | A:f:2,2,6,6 R:p:3,5 | topi.vision.roi_align_nchw(A, topi.multiply(topi.abs(R), 1.9), (2, 3), 0.9, 1, 2) | | topi.vision.roi_align_nchw(A, topi.multiply(topi.abs(R), tir.const(1.9, "float32")), (2, 3), 0.9, 1, 2)
roi_align_adaptive | A:f:2,6,6,2 R:p:3,5 | topi.vision.roi_align_nhwc(A, topi.multiply(R, 1.9), (2, 3), 2.0, 0, -1) | cases.roi_align(A.transpose(0, 3, 1, 2), R * np.float32(1.9), (2, 3), 2.0).transpose(0, 2, 3, 1)
roi_pool | A:f:2,2,6,6 R:p:3,5 | topi.vision.rcnn.roi_pool_nchw(A, topi.multiply(R, 1.9), 2, 3.0) | cases.roi_pool(A, R * np.float32(1.9), 2, 3.0) | topi.vision.roi_pool_nchw(A, topi.multiply(R, tir.const(1.9, "float32")), 2, 3.0)
reorg | A:f:2,8,4,4 | topi.vision.reorg(A, 2) | cases.reorg(A, 2)
multibox_prior | A:f:1,3,2,3 | topi.vision.ssd.multibox_prior(A, (0.5, 0.25), (1, 2, 0.5)) | cases.prior(2, 3, (0.5, 0.25), (1, 2, 0.5))
multibox_transform_loc | P:p:2,3,4 L:f:2,16 A:p:1,4,4 | topi.vision.ssd.multibox_transform_loc(P, L, A, True, 0.5) | cases.transform_loc(P, L, A, 0.5)
get_valid_counts | A:f:2,6,6 | topi.vision.get_valid_counts(A, 0.3, 0, 1) | cases.valid_counts(A, 0.3) | topi.vision.get_valid_counts(A, 0.3, 0, 1)
nms | A:p:2,8,6 C:i9:2 I:i8:2,8 | topi.vision.non_max_suppression(A, C, I, -1, 0.2, True, -1, 2, 1, 0, True) | cases.nms(A, C, I, 0.2) | topi.vision.non_max_suppression(A, C, I, tir.const(-1, "int32"), 0.2, True, -1, 2, 1, 0, True)
nms_boxes | A:p:2,8,6 C:i9:2 I:i8:2,8 | topi.vision.non_max_suppression(A, C, I, 3, 0.2, True, 6, 2, 1, -1, False, True)
all_class_nms | B:p:1,6,4 S:p:1,2,6 | topi.vision.all_class_non_max_suppression(B, S, 3, 0.2, 0.3) | cases.all_class(B, S, 3, 0.2, 0.3) | none
"""
CASES = [Case(i, line) for i, line in
         enumerate(LINES.strip().split("\n")) if line]
