# SPDX-License-Identifier: Apache-2.0
"""Types of elements and random tensors of them."""
import numpy as np
from onnx import helper as make

import dtypes

FLOATS = dtypes.names("FLOAT", 32) + dtypes.names("FLOAT", 16, 16)
SMALL_FLOATS = dtypes.names("FLOAT", most=8)
SIGNED = dtypes.names("INT", 8)
# e8m0 has no arithmetic, and numpy calls it float8_e8m0fnu: its casts and moves
# are in tests/exec/numbers/float8_models.py.
UNSIGNED = [name for name in dtypes.names("UINT", 8) if name != "e8m0"]
SHORT = dtypes.names("INT", most=7) + dtypes.names("UINT", most=7)
NARROW = dtypes.names("FLOAT", most=16)
INTEGERS = SIGNED + UNSIGNED + SHORT
# The classes of types of input 0 that passes/ops/core/ops.def names.
CLASSES = {
    "FLOAT": FLOATS, "INTEGER": SIGNED + UNSIGNED, "SIGNED": SIGNED,
    "NUMBER": FLOATS + SIGNED + UNSIGNED, "BOOL": ["bool"],
    "ANY": FLOATS + SIGNED + UNSIGNED + ["bool"] + SMALL_FLOATS + SHORT,
}
CODES = {name: dtypes.TYPES[name].code for name in
         dtypes.names("FLOAT", 32) + INTEGERS + NARROW + ["bool"]}
DTYPES = {name: make.tensor_dtype_to_np_dtype(code)
          for name, code in CODES.items()}
# The distance from 1 to the next larger number.
EPSILON = {name: 2.0 ** -dtypes.TYPES[name].fraction
           for name in FLOATS + SMALL_FLOATS}
# Differences as small as this always pass: about the least normal number.
LEAST = {name: 2.0 ** (1 - dtypes.TYPES[name].bias)
         for name in FLOATS + SMALL_FLOATS}


def is_float(array):
    return array.dtype.name in EPSILON


def is_integer(array):
    return array.dtype.name in INTEGERS


def limits(name):
    """The least and largest value of a type of integers."""
    bits = dtypes.TYPES[name].bits
    if dtypes.TYPES[name].of == "UINT":
        return 0, 2 ** bits - 1
    return -2 ** (bits - 1), 2 ** (bits - 1) - 1


def cast(array, name):
    """The array converted to a type, without a warning where it overflows."""
    with np.errstate(all="ignore"):
        return np.asarray(array).astype(DTYPES[name])


def wide(array):
    """The array as float64; integers of 64 bits as Python's integers."""
    if array.dtype.name in ("int64", "uint64"):
        return array.astype(object)
    return array.astype(np.float64)


def floats(rng, name, shape, profile):
    values = rng.normal(0, 1.5, shape)
    if profile == "integers":
        values = rng.integers(-4, 5, shape).astype(np.float64)
    elif profile == "positive":
        values = rng.uniform(0.1, 3, shape)
    elif profile == "same":
        values = np.full(shape, rng.choice([0, 1, -1, 0.5, 2, 3.25]))
    elif profile == "large":
        values = values * 10.0 ** rng.uniform(
            -4, 1 if name in SMALL_FLOATS else 4, shape)
    elif profile == "special":
        odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5]
        if name in ("float32", "float64"):
            odd += [3e38, -3e38, 1e-40, 2.0 ** 31, -2.0 ** 63]
        values = np.where(rng.random(shape) < 0.3,
                          rng.choice(odd, size=shape), values)
    return cast(values, name)


def integers(rng, name, shape, profile):
    low, high = limits(name)
    if profile == "plain":
        low, high = max(low, -9), min(high, 9)
    elif profile == "positive":
        low, high = 1, min(high, 9)
    elif profile == "same":
        low = high = int(rng.integers(max(low, -3), min(high, 3) + 1))
    elif profile == "special":
        odd = np.array([low, high, 0, 1, low + 1, high - 1, high // 2],
                       object)
        return odd[rng.integers(0, len(odd), shape)].astype(DTYPES[name]) \
            if shape else np.array(odd[rng.integers(len(odd))], DTYPES[name])
    values = rng.integers(low, high, shape, endpoint=True,
                          dtype=np.uint64 if low >= 0 else np.int64)
    return np.asarray(values).astype(DTYPES[name])


PROFILES = (["plain"] * 9 + ["integers"] * 4 + ["positive"] * 3 +
            ["special"] * 3 + ["same"] + ["large"])


def random(rng, name, shape, profile=None):
    """A random array of a type and shape; the profile says which values it
    has."""
    shape = tuple(shape)
    if profile is None:
        profile = PROFILES[rng.integers(len(PROFILES))]
    if name == "bool":
        share = rng.choice([0.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5])
        return np.asarray(rng.random(shape) < share)
    if name in EPSILON:
        return floats(rng, name, shape, profile)
    if profile in ("integers", "large"):
        profile = "wide" if profile == "large" else "plain"
    return integers(rng, name, shape, profile)
