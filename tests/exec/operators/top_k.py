#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TopK on several targets: rows that are sorted at once, rows of which parts are, and
heaps, which blocks of a row are compared with. Values repeat, so that
the positions of equal ones are seen; among floats are NaN, both zeroes and
infinities.

    top_k.py NAME

NAME is a function here."""
import sys

import helper

try:
    import numpy as np
    from answers_model import Known
except ImportError as missing:
    helper.skip(str(missing))

ALL = ["c99", "gnu-c", "misra", "c-openmp", "opencl", "opencl-cpu", "cuda"]
rng = np.random.default_rng(3)


def values(kind, shape):
    x = rng.integers(-100, 100, shape)
    if np.dtype(kind).kind == "f":
        x = (x / 4).astype(kind)
        for special in np.nan, np.inf, -np.inf, -0.0:
            x[rng.random(shape) < 0.05] = special
    return x.astype(kind)


def order_of(x, axis, largest):
    """Positions in the order that TopK gives: stable, NaN the largest."""
    rank = np.unique(x, return_inverse=True)[1].reshape(x.shape)
    return np.argsort(-rank if largest else rank, axis, kind="stable")


def check(kind, shape, axis, k, largest, targets):
    m = Known("top_k")
    x = values(kind, shape)
    order = np.take(order_of(x, axis, largest), range(k), axis)
    y, at = m.node("TopK", [m.input("x", x), m.constant(
        np.array([k], np.int64))], n=2, axis=axis, largest=largest)
    m.output(y, np.take_along_axis(x, order, axis))
    m.output(at, order)
    m.check(targets)


def heaps():
    """Few elements of rows of less than a block, of whole ones and of a rest."""
    for n in 40, 128, 150, 1000:
        check(np.float32, (60, n), 1, 5, n % 3 % 2, ["c99", "gnu-c"])
    check(np.float32, (40, 300), 1, 40, 0, ALL)
    check(np.int16, (9, 300), 1, 1, 1, ["c99"])
    check(np.float32, (300, 4), 0, 3, 1, ["c99"])


def whole_rows():
    """k from half of a row to all of it."""
    for axis, k, largest in (1, 300, 1), (0, 65, 0), (1, 150, 0):
        check(np.float32, (70, 300), axis, k, largest, ALL)
    for kind in (np.float64, np.float16, np.int8, np.uint8, np.int16, np.int32,
                 np.int64, np.uint64):
        for largest in 0, 1:
            check(kind, (2, 90), 1, 90, largest, ["c99"])


def parts():
    """k below half of a row: rows that are full of candidates again and again
    (ascending ones), once, and never."""
    for axis, k, largest in (1, 70, 1), (1, 65, 0), (0, 100, 0):
        check(np.float32, (400, 500), axis, k, largest, ALL)
    for kind in (np.float64, np.float16, np.int8, np.uint8, np.int16, np.int32,
                 np.int64, np.uint64):
        check(kind, (2, 300), 1, 80, int(kind != np.float64), ["c99"])
    for x in np.arange(1000), np.arange(1000)[::-1], np.zeros(1000):
        m = Known("order")
        x = x.astype(np.float32)
        y, at = m.node("TopK", [m.input("x", x), m.constant(
            np.array([100], np.int64))], n=2)
        order = order_of(x, 0, 1)[:100]
        m.output(y, x[order])
        m.output(at, order)
        m.check(["c99", "gnu-c"])


if __name__ == "__main__":
    {"heaps": heaps, "whole_rows": whole_rows, "parts": parts}[sys.argv[1]]()
