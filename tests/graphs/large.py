# SPDX-License-Identifier: Apache-2.0
"""Nodes of the size that models have: inputs (an array is constant, a type and
shape is an input), products that are summed, number of outputs, attributes."""
import numpy as np
from onnx import TensorProto as T

F, I, B, U8, I8 = T.FLOAT, T.INT64, T.BOOL, T.UINT8, T.INT8
ROW = (F, [64, 512])
IMAGE = (F, [1, 16, 40, 40])
CONST = np.array


def ints(*values):
    return np.array(values, np.int64)


def floats(*shape):
    return np.full(shape, 0.5, np.float32)


def case(inputs, products=0, outputs=1, **attributes):
    return inputs, products, outputs, attributes


CONV = 16 * 40 * 40 * 16 * 9
