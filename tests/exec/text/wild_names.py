#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names with quotes, slashes, newlines, keywords, the names that emitted code
has for itself, 300 characters, or differing only after 40: the source
compiles without a warning and the metadata are JSON that knows them all."""
import json
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import STRICT, compilers, execute, fail, tirc, work_folder

NAMES = ['in"put*/\n#error x', "int", "float", "9lives", "a" * 300,
         "b" * 40 + "1", "b" * 40 + "2", "max_f32", "m", "out", "in",
         "workspace", "net_run", "NULL", "a\\", "??/", "x/../y", "é€",
         "\u202eevil", "acc", "i", "expf", "weights", "at_least_f32",
         "linux", "and", "class", "i32_to_f32", "memcpy", "%d{{model}}"]

rng = np.random.default_rng(1)
nodes, weights = [], []
previous = NAMES[0]
for k, name in enumerate(NAMES[1:]):
    weights.append(numpy_helper.from_array(
        rng.standard_normal((4, 4)).astype(np.float32), name + ".w"))
    nodes.append(helper.make_node("MatMul", [previous, name + ".w"],
                                  [name + "_mm"], name + "/MatMul"))
    op = ["Relu", "Softmax", "Sigmoid", "Tanh"][k % 4]
    nodes.append(helper.make_node(op, [name + "_mm"], [name], name))
    previous = name
# Kernels that are called as the model's own function and file scope names.
for name in ("net_init", "net_run", "net"):
    nodes.append(helper.make_node("Transpose",
                                  [previous], [name + "_t"], name,
                                  perm=[1, 0]))
    previous = name + "_t"
    nodes.append(helper.make_node("Softmax", [previous], [name + "_s"],
                                  name + "/Softmax", axis=0))
    previous = name + "_s"
graph = helper.make_graph(
    nodes, 'my "graph" */\n int',
    [helper.make_tensor_value_info(NAMES[0], TensorProto.FLOAT, [2, 4])],
    [helper.make_tensor_value_info(previous, TensorProto.FLOAT, [4, 2])],
    weights)
model = os.path.join(work_folder(), "wild.onnx")
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                       ir_version=8), model)
for name in (None, "net", "int", "x" * 60):
    out = work_folder()
    tirc("compile", model, "-o", out, *(["--name", name] if name else []))
    for cc in compilers():
        for file in sorted(os.listdir(out)):
            if file.endswith(".c"):
                execute([cc, "-std=c99", *STRICT, "-fsyntax-only",
                         os.path.join(out, file)])
    path = [f for f in os.listdir(out) if f.endswith(".json")][0]
    with open(os.path.join(out, path), encoding="utf-8") as file:
        trace = json.load(file)["trace"]
    missing = {n.name for n in nodes} - {row["node"] for row in trace}
    if missing:
        fail("nodes that the trace does not know: %s" % missing)
