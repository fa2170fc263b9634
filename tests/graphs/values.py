# SPDX-License-Identifier: Apache-2.0
"""Types of elements and random tensors of them."""
import numpy as np
from onnx import TensorProto
from onnx import helper as make

FLOATS = ["float32", "float64", "float16", "bfloat16"]
SMALL_FLOATS = ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
                "float8_e5m2fnuz"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
NIBBLES = ["int4", "uint4"]
# The classes of types of input 0 that passes/ops/ops.def names.
CLASSES = {
    "FLOAT": FLOATS, "INTEGER": SIGNED + UNSIGNED, "SIGNED": SIGNED,
    "NUMBER": FLOATS + SIGNED + UNSIGNED, "BOOL": ["bool"],
    "ANY": FLOATS + SIGNED + UNSIGNED + ["bool"] + SMALL_FLOATS + NIBBLES,
}
CODES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
CODES.update({name: getattr(TensorProto, name.upper().replace(
    "FLOAT8_", "FLOAT8")) for name in
              SIGNED + UNSIGNED + NIBBLES + SMALL_FLOATS + [
                  "float16", "bfloat16", "bool"]})
DTYPES = {name: make.tensor_dtype_to_np_dtype(code)
          for name, code in CODES.items()}
NARROW = ["float16", "bfloat16"] + SMALL_FLOATS
# The distance from 1 to the next larger number.
EPSILON = {"float64": 2.0 ** -52, "float32": 2.0 ** -23,
           "float16": 2.0 ** -10, "bfloat16": 2.0 ** -7,
           "float8_e4m3fn": 2.0 ** -3, "float8_e4m3fnuz": 2.0 ** -3,
           "float8_e5m2": 2.0 ** -2, "float8_e5m2fnuz": 2.0 ** -2}
# Differences as small as this always pass: about the least normal number.
LEAST = {"float64": 1e-300, "float32": 2e-38, "float16": 3e-7,
         "bfloat16": 2e-38, "float8_e4m3fn": 2e-3, "float8_e4m3fnuz": 1e-3,
         "float8_e5m2": 2e-5, "float8_e5m2fnuz": 1e-5}


def is_float(array):
    return array.dtype.name in EPSILON


def is_integer(array):
    return array.dtype.name in SIGNED + UNSIGNED + NIBBLES


def limits(name):
    """The least and largest value of a type of integers."""
    if name in NIBBLES:
        return (-8, 7) if name == "int4" else (0, 15)
    info = np.iinfo(DTYPES[name])
    return int(info.min), int(info.max)


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
        low = high = int(rng.integers(max(low, -3), 4))
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
