# SPDX-License-Identifier: Apache-2.0
"""Floats of 16 bits and fewer by their definitions: what each pattern is, and which
is nearest to a number."""
import collections

import numpy as np

import dtypes
from helper import fail

# Bits behind the point, what the exponent is biased by, the pattern of the
# largest number, and the special values: IEEE (infinities and NaN), ONE_NAN,
# ONE_ZERO (no -0, whose pattern is NaN), FINITE (neither).
Form = collections.namedtuple("Form", "bits fraction bias largest specials")


def form(t):
    top = (1 << (t.bits - 1)) - 1
    return Form(t.bits, t.fraction, t.bias,
                top - {"IEEE": 1 << t.fraction, "ONE_NAN": 1}.get(
                    t.specials, 0), t.specials)


FORMS = {name: form(dtypes.TYPES[name])
         for name in dtypes.names("FLOAT", most=16)}


def pattern_type(kind):
    return np.uint16 if FORMS[kind].bits == 16 else np.uint8


def exact(bits, kind):
    """The numbers of all patterns, as float64."""
    of = FORMS[kind]
    sign = 1 << (of.bits - 1)
    magnitude = bits.astype(np.int64) & (sign - 1)
    exponent = np.maximum(magnitude >> of.fraction, 1)
    part = magnitude - ((exponent - 1) << of.fraction)
    values = np.ldexp(part.astype(np.float64),
                      exponent - of.bias - of.fraction)
    values[magnitude > of.largest] = np.nan
    if of.specials == "IEEE":
        values[magnitude == of.largest + 1] = np.inf
    values = np.where(bits & sign, -values, values)
    if of.specials == "ONE_ZERO":
        values[bits == sign] = np.nan
    return values


def nearest(x, kind):
    """Patterns of the numbers nearest to x (float64): found among all."""
    of = FORMS[kind]
    sign = 1 << (of.bits - 1)
    values = exact(np.arange(of.largest + 1), kind)
    values = np.append(values, 2 * values[-1] - values[-2])
    magnitude = np.abs(x)
    above = np.clip(np.searchsorted(values, magnitude), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    middle = (low + high) / 2                       # exact: 53 bits are many
    up = (magnitude > middle) | ((magnitude == middle) & (above % 2 == 0))
    found = np.where(up, above, above - 1)
    beyond = of.largest + (of.specials != "FINITE")
    found = np.where(magnitude >= values[-1], beyond, found)
    if of.specials == "FINITE":
        found = np.where(np.isnan(x), 0, np.minimum(found, beyond))
    sign = np.where(np.signbit(x) & (
        (of.specials != "ONE_ZERO") | (found > 0)), sign, 0)
    return (found | sign).astype(pattern_type(kind))


def same(got, want, what):
    wrong = np.nonzero(got != want)[0]
    if len(wrong):
        i = wrong[0]
        fail("%s: %d wrong, the first at %d: %#x, not %#x" % (
            what, len(wrong), i, int(got[i]), int(want[i])))
