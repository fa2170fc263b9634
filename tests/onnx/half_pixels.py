#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resize by tf_half_pixel_for_nn, which operator sets 11 and 12 have: element i
is at (i + 1/2) / scale. The size and the scale are constants, or known only when
the model runs."""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from helper import results_alone, tirc, work_folder
from onnx_data import write_data

results_alone()

SIZE = 7
ROUND = {"floor": np.floor, "ceil": np.ceil,
         "round_prefer_floor": lambda x: np.ceil(x - 0.5),
         "round_prefer_ceil": lambda x: np.floor(x + 0.5)}
SCALES = (2, 3, 0.5, 1.5, 0.25)


def resized(x, scale, how):
    at = (np.arange(int(SIZE * scale)) + 0.5) / scale
    if how != "linear":
        return x[np.clip(ROUND[how](at), 0, SIZE - 1).astype(int)]
    at = np.clip(at, 0, SIZE - 1)
    low = np.minimum(at.astype(int), SIZE - 2)
    return (x[low] * (1 - (at - low)) + x[low + 1] * (at - low)).astype(
        np.float32)


x = np.array([1, 4, 9, 16, 25, 36, 49], np.float32)
for dims, scale_given, options in (
        ([SIZE], False, []), (["n"], False, ["--dim", "n=1..9"]),
        ([SIZE], True, ["--dim", "y_0=0..32"])):
    nodes, constants, want, inputs = [], [], [], [("x", x)]
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)]
    for scale in SCALES:
        name = "s%g" % scale
        value = np.array([scale], np.float32)
        if scale_given:
            inputs.append((name, value))
            infos.append(helper.make_tensor_value_info(
                name, TensorProto.FLOAT, [1]))
        else:
            constants.append(numpy_helper.from_array(value, name))
        for how in (*ROUND, "linear"):
            if how == "linear" and scale_given:
                continue
            want.append(("y%d" % len(want), resized(x, scale, how)))
            nodes.append(helper.make_node(
                "Resize", ["x", "none", name], [want[-1][0]],
                coordinate_transformation_mode="tf_half_pixel_for_nn",
                **({"mode": "linear"} if how == "linear" else
                   {"mode": "nearest", "nearest_mode": how})))
    constants.append(numpy_helper.from_array(np.zeros(0, np.float32), "none"))
    folder = work_folder()
    path = os.path.join(folder, "model.onnx")
    graph = helper.make_graph(
        nodes, "half", infos,
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
         for name, _ in want], constants)
    with open(path, "wb") as file:
        file.write(helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 11)]).SerializeToString())
    write_data(folder, inputs, want)
    if scale_given:
        options = [o for name, _ in want for o in ("--bound", name + "=32")]
    tirc("test", path, "--target", "c99", *options)
