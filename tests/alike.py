# SPDX-License-Identifier: Apache-2.0
"""Arrays beside those that are wanted, as `tirc test` compares them
(docs/reference/results.md, "Results"): element by element, by the numbers of
passes/analyse/tolerance.def. Needs numpy alone."""
import os
import re

import numpy as np

import dtypes

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNS = 8


def number(text):
    return float.fromhex(text) if "x" in text else float(text)


def tolerances():
    """{name: (rtol, atol, change of the inputs)}"""
    with open(os.path.join(ROOT, "passes", "analyse", "tolerance.def"),
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


def moved(x, share, rng):
    """x with each float multiplied by 1 + share sqrt(3) u, u uniform in [-1, 1]."""
    if x.dtype.kind != "f":
        return x
    u = rng.uniform(-1, 1, x.shape)
    return (x * (1 + share * np.sqrt(3) * u)).astype(x.dtype)


def rounding_of(compute, inputs):
    """For each result of compute(inputs), an array: how far rounding errors may
    move its elements, from runs on perturbed inputs (gen/cli/observed.c). The
    height of a step is no part of it, nor is, unlike there, the distance of the
    outermost values. It is 0 for a result whose shape a perturbed run changes."""
    own = [max(float(np.finfo(x.dtype).eps), TOLERANCES[x.dtype.name][2])
           for x in inputs if x.dtype.kind == "f"]
    was = [np.asarray(y) for y in compute(inputs)]
    if not own:
        return [np.zeros(y.shape) for y in was]
    wanted = [TOLERANCES.get(y.dtype.name, (0, 0, 0))[2] for y in was]
    share = max(*own, *wanted)
    rng = np.random.default_rng(1)
    runs = [[np.asarray(y, np.float64)] for y in was]
    for _ in range(RUNS):
        for seen, y in zip(runs, compute([moved(x, share, rng)
                                          for x in inputs])):
            seen.append(np.asarray(y, np.float64))
    widths = []
    for seen, part in zip(runs, wanted):
        if any(y.shape != seen[0].shape for y in seen):
            widths.append(np.zeros(seen[0].shape))
            continue
        with np.errstate(all="ignore"):
            gaps = np.sort(np.diff(np.sort(np.stack(seen), 0), axis=0), 0)
            width = RUNS * gaps[(RUNS - 1) // 2] * min(1, part / share)
        widths.append(np.where(np.isfinite(width), width, 0))
    return widths


def off(have, want, rounding=0.0):
    """The largest difference, of floats in units of what is allowed: more than
    1 is too much. Of integers the difference itself. Without elements on the
    other side of a step."""
    if have.shape != want.shape:
        return np.inf
    a, b = have.astype(np.float64), want.astype(np.float64)
    with np.errstate(all="ignore"):
        error = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0,
                         np.abs(a - b))
        if want.dtype.name in TOLERANCES:
            rtol, atol, _ = TOLERANCES[want.dtype.name]
            error = np.where(error == 0, 0, error / (
                atol + rtol * np.abs(b) + rounding))
    return float(np.nan_to_num(error, nan=np.inf).max(initial=0))
