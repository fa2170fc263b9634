#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Passes note what they find out in attributes. A model's node may have attributes
of these names, which ONNX does not define for its operator: they change nothing of
what is emitted but the digest of the model's file."""
import os
import re

from helper import contents, fail, tirc, work_folder
from proto import *

# Those that passes set or read, with values that would matter.
FORGED = {
    "shifted_most": 5, "left": 3, "right": 2, "sum_most": 7,
    "constant_channels": 1, "model_channels": 2, "outside": 9, "x_zero": 3,
    "a_zero": 3, "b_zero": 4, "zero": 1, "low": 0, "high": 1, "offset": 5,
    "stem": "x", "title": "x", "tile": 2, "tiles": [2, 2], "kernel_body": 1,
    "rounding": "floor", "negative": 1, "targets": 4, "steps": [3],
    "states": 2, "loop": 1, "then": 1, "else": 1, "trips": 4, "body": 1,
    "back": 1, "counted": 1, "rows": 3, "columns": 2, "sides": 1, "bias": 1,
    "weights": 3, "pieces": 2, "count": 3, "inverse": 1, "stream": 1}


def build(forged):
    extra = FORGED if forged else {}

    def n(op, inputs, outputs, name, **attrs):
        return node(op, inputs, outputs, name, **{**extra, **attrs})
    nodes = [
        n("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        n("Relu", ["c"], ["r"], "relu"),
        n("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2],
          strides=[2, 2]),
        n("QuantizeLinear", ["p", "s", "z"], ["q"], "quantize"),
        n("ConvInteger", ["q", "qw", "z"], ["i"], "integers"),
        n("BitShift", ["u", "two"], ["v"], "shift", direction="LEFT"),
        n("Cast", ["i"], ["f"], "cast", to=1),
        n("Reshape", ["f", "shape"], ["g"], "reshape"),
        n("MatMul", ["g", "m"], ["h"], "product"),
        n("Softmax", ["h"], ["y"], "softmax", axis=1)]
    weights = [
        tensor("w", [2, 1, 3, 3], floats(*range(18))),
        tensor("s", [], floats(0.5)), tensor("z", [], b"\3", 2),
        tensor("qw", [2, 2, 1, 1], bytes([1, 2, 3, 4]), 2),
        tensor("two", [], b"\2\0\0\0", 12), tensor("shape", [2], ints(1, 8),
                                                   INT64),
        tensor("m", [8, 3], floats(*range(24)))]
    return model(graph(
        nodes, [value_info("x", [1, 1, 4, 4]), value_info("u", [4], 12)],
        [value_info("y", [1, 3]), value_info("v", [4], 12)], weights))


folder = work_folder()
for target in ("c99", "cortex-m4"):
    out = []
    for forged in (False, True):
        path = os.path.join(folder, "m.onnx")
        with open(path, "wb") as file:
            file.write(build(forged))
        there = os.path.join(folder, "%s%d" % (target, forged))
        tirc("compile", path, "-o", there, "--target", target)
        out.append({name: re.sub(
            rb"(sha256 |MODEL_DIGEST \"|\t\"digest\": \")[0-9a-f]{16,64}", rb"\1",
            data) for name, data in contents(there).items()})
    for name in out[0]:
        if out[0][name] != out[1].get(name):
            fail("%s: %s differs:\n%s" % (target, name, "\n".join(
                "%r\n%r" % pair for pair in zip(
                    out[0][name].split(b"\n"), out[1][name].split(b"\n"))
                if pair[0] != pair[1])[:1500]))
print("%d attributes change nothing" % len(FORGED))
