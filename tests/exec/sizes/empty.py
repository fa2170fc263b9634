#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensors without elements: inputs, results and what lies between. Who computes
nothing is no kernel; sums of nothing are 0, the largest of nothing is -inf."""
import json
import os

import numpy as np

import proto
from helper import (compile_model, execute, fail, has_dialect, results_alone,
                    tirc, work_folder)

results_alone()

nodes, inputs, outputs, constants = [], [], [], []
x = np.arange(12, dtype=np.float32).reshape(3, 4)
given = {"none": np.zeros((0, 4), np.float32),
         "rows": np.zeros((3, 0), np.float32), "x": x,
         "other": np.zeros((1, 3, 0), np.float32)}
want = {}


def tensor(name, value, kind=proto.FLOAT):
    return proto.tensor(name, list(value.shape), value.tobytes(), kind)


def result(name, op, names, value, kind=proto.FLOAT, **attributes):
    nodes.append(proto.node(op, names, [name], **attributes))
    outputs.append(proto.value_info(name, value.shape, kind))
    want[name] = tensor(name, value, kind)


for name, value in given.items():
    inputs.append(proto.value_info(name, value.shape))
inputs.append(proto.value_info("like", [0], proto.INT64))
constants.append(tensor("axes", np.array([1], np.int64), proto.INT64))
nodes.append(proto.node("Relu", ["none"], ["none_too"]))
result("all", "Concat", ["none_too", "x", "none"], x, axis=0)
result("copy", "Exp", ["none"], given["none"])
result("turned", "Transpose", ["copy"], given["none"].T, perm=[1, 0])
result("whole", "CastLike", ["x", "like"], x.astype(np.int64), proto.INT64)
result("sum", "ReduceSum", ["rows", "axes"], np.zeros((3, 1), np.float32))
result("most", "ReduceMax", ["rows", "axes"],
       np.full((3, 1), -np.inf, np.float32))
constants += [tensor(name, np.array([value], np.int64), proto.INT64)
              for name, value in (("from", 5), ("to", -9), ("by", -1))]
result("back", "Slice", ["rows", "from", "to", "axes", "by"], given["rows"])
result("product", "MatMul", ["rows", "none"], np.zeros((3, 4), np.float32))

# Views and constants of no elements, which passes move.
nodes.append(proto.node("Relu", ["rows"], ["rows_too"]))
constants.append(tensor("first", np.array([0], np.int64), proto.INT64))
nodes.append(proto.node("Unsqueeze", ["rows_too", "first"], ["stack"]))
result("added", "Add", ["stack", "other"], given["other"])
nodes.append(proto.node("Transpose", ["none"], ["across"], perm=[1, 0]))
constants.append(tensor("nothing", np.zeros(0, np.float32)))
result("shifted", "Add", ["across", "nothing"], given["none"].T)

# What is computed only for a result of no elements is no kernel either.
nodes.append(proto.node("Exp", ["x"], ["grown"]))
constants.append(tensor("scales", np.array([2, 0.1], np.float32)))
result("thin", "Resize", ["grown", "", "scales"], np.zeros((6, 0), np.float32))

folder = work_folder()
model = os.path.join(folder, "empty.onnx")
with open(model, "wb") as file:
    file.write(proto.model(proto.graph(nodes, inputs, outputs, constants)))
data = os.path.join(folder, "test_data_set_0")
os.mkdir(data)
put = [tensor(name, value) for name, value in given.items()]
put.append(tensor("like", np.zeros(0, np.int64), proto.INT64))
for what, values in (("input", put), ("output", want.values())):
    for i, value in enumerate(values):
        with open(os.path.join(data, "%s_%d.pb" % (what, i)), "wb") as file:
            file.write(value)
tirc("test", model, "--target", "c99")
if os.path.exists("/usr/include/cjson/cJSON.h"):
    tirc("test", model, "--target", "c99", "--form", "graph")
out = compile_model(model, "--target", "c99", "--name", "m")
with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
    source = file.read()
for word in ("copy(", "turned(", "[0]", "(void)\n{\n}"):
    if word in source:
        fail("'%s' in the source of what computes nothing:\n%s" % (word,
                                                                   source))
execute(["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c",
         "m.c"], cwd=out)

# The largest of an image without an element, known or not.
pools = os.path.join(folder, "pools")
os.makedirs(os.path.join(pools, "test_data_set_0"))
lowest = np.full((1, 2, 1, 2), -np.inf, np.float32)
for height, more in ((0, []), ("h", ["--dim", "h=0..4"])):
    with open(os.path.join(pools, "model.onnx"), "wb") as file:
        file.write(proto.model(proto.graph(
            [proto.node("Pad", ["x", "pads", "lowest"], ["p"]),
             proto.node("MaxPool", ["p"], ["y"], kernel_shape=[2, 2]),
             proto.node("MaxPool", ["x"], ["z", "at"], kernel_shape=[2, 2],
                        pads=[1, 0, 1, 0]),
             proto.node("GlobalMaxPool", ["x"], ["all"])],
            [proto.value_info("x", [1, 2, height, 3])],
            [proto.value_info("y", [1, 2, "y0", 2]),
             proto.value_info("z", [1, 2, "z0", 2]),
             proto.value_info("at", [1, 2, "a0", 2], proto.INT64),
             proto.value_info("all", [1, 2, 1, 1])],
            [tensor("pads", np.array([0, 0, 1, 0, 0, 0, 1, 0]), proto.INT64),
             tensor("lowest", np.float32(-np.inf))])))
    for name, value in (
            ("input_0", tensor("x", np.zeros((1, 2, 0, 3), np.float32))),
            ("output_0", tensor("y", lowest)), ("output_1", tensor("z", lowest)),
            ("output_2", tensor("at", np.zeros((1, 2, 1, 2), np.int64),
                                proto.INT64)),
            ("output_3", tensor("all", lowest[..., :1]))):
        with open(os.path.join(pools, "test_data_set_0", name + ".pb"),
                  "wb") as file:
            file.write(value)
    for target in ("c99", "gnu-c"):
        tirc("test", os.path.join(pools, "model.onnx"), "--target", target,
             *more)

# Where an index is computed, there is nothing that it could be of.
lookup = os.path.join(folder, "lookup.onnx")
for shape, more in (([0, 4], []), ([0, "n"], ["--dim", "n=1..16"])):
    with open(lookup, "wb") as file:
        file.write(proto.model(proto.graph(
            [proto.node("Gather", ["none", "like"], ["y"])],
            [proto.value_info("none", shape),
             proto.value_info("like", [2], proto.INT64)],
            [proto.value_info("y", [2, shape[1]])])))
    said = tirc("compile", lookup, "-o", folder, *more, status=1).stderr
    if "'none', which is empty" not in said:
        fail("a lookup in nothing: " + said)

for target in ("cuda", "opencl"):
    if has_dialect(target):
        out = compile_model(model, "--target", target, "--name", "m")
        with open(os.path.join(out, "m.cu" if target == "cuda" else "m.c"),
                  encoding="utf-8") as file:
            if "in->none, " in file.read().split("m_run_host")[1]:
                fail("nothing is copied to the device")

# One dimension without elements is enough, whatever the symbolic ones are.
symbolic = os.path.join(folder, "symbolic.onnx")
with open(symbolic, "wb") as file:
    file.write(proto.model(proto.graph(
        [proto.node("Relu", ["x"], ["y"])],
        [proto.value_info("x", ["n", 0])],
        [proto.value_info("y", ["n", 0])])))
for target in ("c99", "cuda", "opencl"):
    if has_dialect(target):
        out = compile_model(symbolic, "--target", target, "--name", "m",
                            "--dim", "n=1..16")
        with open(os.path.join(out, "m.json"), encoding="utf-8") as file:
            if json.load(file)["kernels"]:
                fail("a kernel of %s that computes nothing" % target)

# Sums and the largest of at most one row, and of none.
row = os.path.join(folder, "row")
os.makedirs(os.path.join(row, "test_data_set_0"))
with open(os.path.join(row, "model.onnx"), "wb") as file:
    file.write(proto.model(proto.graph(
        [proto.node("ReduceMax", ["x", "first"], ["most"], keepdims=0),
         proto.node("ReduceMax", ["w", "axes"], ["row_most"], keepdims=0),
         proto.node("Neg", ["most"], ["least"]),
         proto.node("ReduceSum", ["x", "first"], ["sum"], keepdims=0),
         proto.node("MatMul", ["w", "x"], ["product"])],
        [proto.value_info("x", ["n", 3]), proto.value_info("w", [2, "n"])],
        [proto.value_info("least", [3]), proto.value_info("row_most", [2]),
         proto.value_info("sum", [3]), proto.value_info("product", [2, 3])],
        [constants[0], tensor("first", np.array([0]), proto.INT64)])))
for name, value in (("input_0", np.zeros((0, 3))), ("input_1", np.zeros((2, 0))),
                    ("output_0", np.full(3, np.inf)),
                    ("output_1", np.full(2, -np.inf)),
                    ("output_2", np.zeros(3)), ("output_3", np.zeros((2, 3)))):
    put = {"input_0": "x", "input_1": "w", "output_0": "least",
           "output_1": "row_most", "output_2": "sum", "output_3": "product"}
    with open(os.path.join(row, "test_data_set_0", name + ".pb"),
              "wb") as file:
        file.write(tensor(put[name], value.astype(np.float32)))
for target in ("c99", "gnu-c"):
    tirc("test", os.path.join(row, "model.onnx"), "--target", target, "--dim",
         "n=0..1")
