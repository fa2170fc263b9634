# SPDX-License-Identifier: Apache-2.0
"""Arrays beside those that are wanted, as `tirc test` compares them
(docs/output.md, "Results"): element by element, by the numbers of
gen/cli/tolerance.def. Needs numpy alone."""
import os
import re

import numpy as np

import dtypes

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNS = 8


def number(text):
    return float.fromhex(text) if "x" in text else float(text)


def tolerances():
    """{name: (rtol, atol, part of the terms)}"""
    with open(os.path.join(ROOT, "gen", "cli", "tolerance.def"),
              encoding="utf-8") as file:
        text = file.read()
    rows = re.findall(r"^TOLERANCE\((\w+), (\S+), (\S+), (\S+)\)", text, re.M)
    rows = {row[0].lower(): tuple(map(number, row[1:])) for row in rows}
    rest = re.search(r"^TOLERANCE_OF_BYTES\((\S+), (\S+)\)", text, re.M)
    rest = tuple(map(number, rest.groups()))
    return {name: rows.get(dtypes.TYPES[name].short,
                           (2.0 ** -dtypes.TYPES[name].fraction, *rest))
            for name in dtypes.names("FLOAT")}


TOLERANCES = tolerances()


def terms_of(compute, inputs):
    """For each result of compute(inputs), a list of arrays, the size of the
    terms that its elements are sums of: how far they go when the inputs move
    by eps, over eps."""
    floats = [x for x in inputs if x.dtype.kind == "f"]
    was = [np.asarray(y, np.float64) for y in compute(inputs)]
    sizes = [np.zeros(y.shape) for y in was]
    if not floats:
        return sizes
    share = max(float(np.finfo(x.dtype).eps) for x in floats)
    rng = np.random.default_rng(1)
    for _ in range(RUNS):
        now = compute([
            (x * (1 + share * rng.choice([-1.0, 1.0], x.shape))).astype(
                x.dtype) if x.dtype.kind == "f" else x for x in inputs])
        for size, a, b in zip(sizes, was, now):
            with np.errstate(all="ignore"):
                far = np.abs(np.asarray(b, np.float64) - a) / share
            np.maximum(size, np.where(np.isfinite(far), far, 0), out=size)
    return sizes


def off(have, want, terms=0.0):
    """The largest difference, of floats in units of what is allowed: more than
    1 is too much. Of integers the difference itself."""
    if have.shape != want.shape:
        return np.inf
    a, b = have.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0,
                         np.abs(a - b))
        if want.dtype.name in TOLERANCES:
            rtol, atol, part = TOLERANCES[want.dtype.name]
            error = np.where(error == 0, 0, error / (
                atol + rtol * np.abs(b) + part * terms))
    return float(np.nan_to_num(error, nan=np.inf).max(initial=0))
