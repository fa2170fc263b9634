# SPDX-License-Identifier: Apache-2.0
"""The data types, from ir/core/dtype.def."""
import collections
import os
import re

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(
    os.path.dirname(os.path.abspath(__file__)))

# The short name, the class (BOOL, INT, UINT, FLOAT), the bits, ONNX's number and
# name (TensorProto.DataType); of floats the bits of exponent and fraction, the
# bias, and the special values (enum float_specials in ir/core/dtype.h).
Type = collections.namedtuple(
    "Type", "short of bits code onnx exponent fraction bias specials",
    defaults=(0, 0, 0, None))
ROW = re.compile(
    r'DTYPE\(\w+, "(\w+)", "(\w+)", (BOOL|U?INT|FLOAT), (\d+), \w+,\s+'
    r'(?:NO_FORM|FORM\((\d+), (\d+), (\d+), (\w+)\)), (\d+), "(\w+)"')


def _read():
    with open(os.path.join(ROOT, "ir", "core", "dtype.def"), encoding="utf-8") as file:
        rows = ROW.findall(file.read())
    return {name: Type(short, of, int(bits), int(code), onnx,
                       *map(int, form[:3]), form[3]) if form[0] else
            Type(short, of, int(bits), int(code), onnx)
            for name, short, of, bits, *form, code, onnx in rows}


# By name in TVMScript, those of numbers and truth values.
TYPES = _read()


def names(of, least=1, most=64):
    """The types of a class with so many bits."""
    return [name for name, t in TYPES.items()
            if t.of == of and least <= t.bits <= most]
