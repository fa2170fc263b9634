#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes that an operator requires to be equal, in the graph form: the
executor refuses others before a kernel reads outside of its arrays."""
import os

import numpy as np

import helper
from proto import *

FOLDER = helper.work_folder()
MODEL = os.path.join(FOLDER, "product.onnx")
with open(MODEL, "wb") as file:
    file.write(model(graph([node("MatMul", ["a", "b"], ["y"])],
                           [value_info("a", [4, "n"]),
                            value_info("b", ["m", 4])],
                           [value_info("y", [4, 4])])))


def run(n, m, status=0):
    arrays = os.path.join(FOLDER, "arrays.npz")
    np.savez(arrays, a=np.ones((4, n), np.float32),
             b=np.ones((m, 4), np.float32))
    return helper.tirc("run", MODEL, "--form", "graph", "--dim", "n=1..8",
                       "--dim", "m=1..64", "--input", arrays, status=status)


run(8, 8)
run(3, 3)
done = run(8, 64, status=1)
if "the symbolic sizes do not fit together" not in done.stderr:
    helper.fail("not refused:\n" + done.stdout + done.stderr)
