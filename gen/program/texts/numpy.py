# SPDX-License-Identifier: Apache-2.0
"""numpy: medians and quantiles of all elements, or along one axis, with linear
interpolation between two elements; NaN where there is a NaN."""
import math

import numpy as np


def _sorted_floats(a, axis):
    """The elements as floats, in order along the first axis."""
    a = np.asarray(a)
    if a.size == 0:
        raise IndexError("an array without elements")
    if not str(a.dtype).startswith("float"):
        a = a.astype("float64")
    if axis is None:
        return np.sort(a.reshape(-1))
    if axis < -a.ndim or axis >= a.ndim:
        raise ValueError("axis %d of an array of %d dimensions" % (axis, a.ndim))
    axis = axis % a.ndim
    others = [d for d in range(a.ndim) if d != axis]
    return np.sort(np.transpose(a, [axis] + others), axis=0)


def _without_nan(rows, value):
    """The value, but NaN where the last of the sorted elements is NaN."""
    return np.where(np.isnan(rows[-1]), rows[-1], value)[()]


def median(a, axis=None):
    rows = _sorted_floats(a, axis)
    n = rows.shape[0]
    value = rows[n // 2] if n % 2 else (rows[n // 2 - 1] + rows[n // 2]) / 2
    return _without_nan(rows, value)


def _at(rows, fraction, wide):
    """The value at a fraction of the way from the first to the last element: in the type
    of the elements; wide: in float64."""
    if not 0 <= fraction <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    place = fraction * (rows.shape[0] - 1)
    first = int(math.floor(place))
    part = np.asarray(place - first) if wide else place - first
    low, high = rows[first], rows[min(first + 1, rows.shape[0] - 1)]
    step = high - low
    value = low + step * part if part < 0.5 else high - step * (1 - part)
    return _without_nan(rows, value)


def _quantiles(a, q, whole, axis):
    rows = _sorted_floats(a, axis)
    if isinstance(q, (int, float)):
        return _at(rows, q / whole, False)
    q = np.asarray(q, "float64") / whole
    if q.ndim == 0:
        return _at(rows, float(q), True)
    return np.stack([_at(rows, float(q[i]), True) for i in range(q.shape[0])])


def quantile(a, q, axis=None):
    return _quantiles(a, q, 1, axis)


def percentile(a, q, axis=None):
    return _quantiles(a, q, 100, axis)
