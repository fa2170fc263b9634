#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table_names.py: what the tables of trees and the weights of recurrent nodes are. The
comment of a recurrent kernel has the order of the gates, parameters are named after
ONNX's W and R; the notes of the tables of trees name ONNX's attributes."""
import os
import re

from helper import HAS_ML, compile_model, fail, skip, work_folder

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper, save
except ImportError as missing:
    skip(str(missing))

HIDDEN, WIDTH, TIMES, ROWS = 6, 5, 7, 2
folder = work_folder()


def source(name, node, x_shape, y, weights, domains):
    graph = helper.make_graph(
        [node], name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, y)],
        [numpy_helper.from_array(a, key) for key, a in weights.items()])
    path = os.path.join(folder, name + ".onnx")
    save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid(*domain) for domain in domains]), path)
    with open(os.path.join(compile_model(path, "--target", "c99"),
                           name + ".c")) as file:
        return re.sub(r"\n \* +", " ", file.read())


def recurrent(op, gates, **more):
    rng = np.random.default_rng(1)
    weights = {key: (rng.standard_normal(shape) / 4).astype("f4")
               for key, shape in (("a", (1, gates * HIDDEN, WIDTH)),
                                  ("b", (1, gates * HIDDEN, HIDDEN)),
                                  ("c", (1, 2 * gates * HIDDEN)),
                                  ("p", (1, 3 * HIDDEN)))}
    inputs = ["x", "a", "b", "c"] + (["", "", "", "p"] if op == "LSTM" else [])
    return source(op.lower(), helper.make_node(
        op, inputs, ["y"], "cell", hidden_size=HIDDEN, **more),
        [TIMES, ROWS, WIDTH], [TIMES, 1, ROWS, HIDDEN],
        {key: weights[key] for key in inputs[1:] if key}, [("", 18)])


def need(text, *parts):
    for part in parts:
        if part not in text:
            fail("nothing says %r in\n%s" % (part, text))


need(recurrent("LSTM", 4), "i (input), o (output), f (forget), c (cell), in this",
     "i, o, f in peepholes", "const float r[restrict 6][24]")
need(recurrent("GRU", 3), "z (update), r (reset), h (hidden), in this",
     "h in inner_r", "const float inner_r[")
need(recurrent("GRU", 3, linear_before_reset=1), "and in r, ONNX's R",
     "const float r[restrict 6][")
if HAS_ML:
    trees = source("trees", helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], "forest", domain="ai.onnx.ml",
        nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2],
        nodes_featureids=[3, 0, 0], nodes_values=[0.5, 0.0, 0.0],
        nodes_hitrates=[1.0, 1.0, 1.0], nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        nodes_missing_value_tracks_true=[1, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], target_treeids=[0, 0],
        target_nodeids=[1, 2], target_ids=[0, 1], target_weights=[2.5, -1.0],
        n_targets=2), [3, 4], [3, 2], {}, [("", 18), ("ai.onnx.ml", 3)])
    need(trees, "/* nodes_featureids", "/* nodes_values", "target_weights",
         "nodes_truenodeids and nodes_falsenodeids", "target_ids of leaves",
         "nodes_missing_value_tracks_true")
