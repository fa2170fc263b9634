# SPDX-License-Identifier: Apache-2.0
"""Floats of 16 and 8 bits by their definitions: what each pattern is, and which
is nearest to a number."""
import collections

import numpy as np

from helper import fail

# Bits behind the point, what the exponent is biased by, the pattern of the
# largest number, and whether there are infinity and a negative zero.
Form = collections.namedtuple("Form", "bits fraction bias largest inf zeros")
FORMS = {
    "float16": Form(16, 10, 15, 0x7bff, True, 2),
    "bfloat16": Form(16, 7, 127, 0x7f7f, True, 2),
    "float8_e4m3fn": Form(8, 3, 7, 0x7e, False, 2),
    "float8_e4m3fnuz": Form(8, 3, 8, 0x7f, False, 1),
    "float8_e5m2": Form(8, 2, 15, 0x7b, True, 2),
    "float8_e5m2fnuz": Form(8, 2, 16, 0x7f, False, 1),
}


def pattern_type(kind):
    return np.uint16 if FORMS[kind].bits == 16 else np.uint8


def exact(bits, kind):
    """The numbers of all patterns, as float64."""
    form = FORMS[kind]
    sign = 1 << (form.bits - 1)
    magnitude = bits.astype(np.int64) & (sign - 1)
    exponent = np.maximum(magnitude >> form.fraction, 1)
    part = magnitude - ((exponent - 1) << form.fraction)
    values = np.ldexp(part.astype(np.float64),
                      exponent - form.bias - form.fraction)
    values[magnitude > form.largest] = np.nan
    if form.inf:
        values[magnitude == form.largest + 1] = np.inf
    values = np.where(bits & sign, -values, values)
    if form.zeros == 1:
        values[bits == sign] = np.nan
    return values


def nearest(x, kind):
    """Patterns of the numbers nearest to x (float64): found among all."""
    form = FORMS[kind]
    sign = 1 << (form.bits - 1)
    values = exact(np.arange(form.largest + 1), kind)
    values = np.append(values, 2 * values[-1] - values[-2])
    magnitude = np.abs(x)
    above = np.clip(np.searchsorted(values, magnitude), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    middle = (low + high) / 2                       # exact: 53 bits are many
    up = (magnitude > middle) | ((magnitude == middle) & (above % 2 == 0))
    found = np.where(up, above, above - 1)
    found = np.where(magnitude >= values[-1], form.largest + 1, found)
    sign = np.where(np.signbit(x) & ((form.zeros == 2) | (found > 0)), sign, 0)
    return (found | sign).astype(pattern_type(kind))


def same(got, want, what):
    wrong = np.nonzero(got != want)[0]
    if len(wrong):
        i = wrong[0]
        fail("%s: %d wrong, the first at %d: %#x, not %#x" % (
            what, len(wrong), i, int(got[i]), int(want[i])))
