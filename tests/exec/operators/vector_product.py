#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A matrix that the model computes times a constant vector: the lanes of a
vector register go along the sum, where both are contiguous."""
import glob

import helper

try:
    import numpy as np
    import onnx
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

rng = np.random.default_rng(1)
m = Model("vector_product")
x = m.input("x", rng.standard_normal((3, 20, 64)).astype(np.float32))
w = m.constant(rng.standard_normal((64, 1)).astype(np.float32))
m.output(m.node("MatMul", [m.node("Sigmoid", [x]), w]))
m.check(["c99", "gnu-c"])

folder = helper.work_folder()
onnx.save(m.proto(), folder + "/model.onnx")
helper.tirc("compile", folder + "/model.onnx", "--target", "x86-64-v4", "-o",
            folder + "/out")
source = "".join(open(path).read() for path in glob.glob(folder +
                                                         "/out/*.c"))
if "k_o * 16 + k_i" not in source:
    helper.fail("the lanes do not go along the sum:\n" + source)
