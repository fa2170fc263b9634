#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows with one position along an axis whose results lie behind elements that
another operator writes: the index of that axis is a constant, and the block that
stores the results has no axis for it."""
import helper

try:
    import numpy as np
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

rng = np.random.default_rng(1)


def values(*shape):
    return rng.integers(-2, 3, shape).astype(np.float32)


m = Model("one_position")
for name, rows, columns, pads in [("rows", 1, 9, [0, 0, 2, 0, 0, 0, 0, 0]),
                                  ("columns", 9, 1, [0, 0, 0, 2, 0, 0, 0, 1]),
                                  ("both", 1, 1, [0, 0, 0, 2, 0, 0, 2, 2])]:
    x = m.input(name, values(1, 3, rows + 2, columns + 2))
    narrow = m.input(name + "_narrow", values(1, 1, rows + 2, columns + 2))
    convolved = m.node("Conv", [x, m.constant(values(8, 3, 3, 3)),
                                m.constant(values(8))])
    pooled = m.node("MaxPool", [x], kernel_shape=[3, 3])
    single = m.node("Conv", [narrow, m.constant(values(8, 1, 3, 3))])
    for result in convolved, single, pooled:
        m.output(m.node("Pad", [result, m.constant(np.array(pads))]))
m.check(["c99", "gnu-c", "x86-64-v3", "c-openmp"])
