#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inserting one Relu and renumbering every node and tensor changes at most 40
lines: functions that did not change keep their text, and only the layer that
got the Relu calls another one."""
import difflib
import os
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import compile_model, fail, work_folder

LAYERS = 12


def network(extra_relu):
    """Convolutions with Relu in between, residual sums, pooling: every node
    and every tensor between them has a name that counts."""
    rng = np.random.default_rng(1)
    nodes, weights, n = [], [], [0]

    def add(op, inputs, **attributes):
        number = n[0]
        n[0] += 1
        out = str(100 + number)
        nodes.append(helper.make_node(op, inputs, [out],
                                      "%s_%d" % (op, number), **attributes))
        return out

    def parameter(name, *shape):
        weights.append(numpy_helper.from_array(
            rng.standard_normal(shape).astype(np.float32) / 8, name))
        return name

    x = "data"
    channels = 3
    for i in range(LAYERS):
        w = parameter("features.%d.weight" % i, 8, channels, 3, 3)
        b = parameter("features.%d.bias" % i, 8)
        y = add("Conv", [x, w, b], pads=[1, 1, 1, 1])
        channels = 8
        if i % 3 != 1 or (extra_relu and i == 4):
            y = add("Relu", [y])
        if i % 3 == 2:
            y = add("Add", [y, x])
        if i == 6:
            y = add("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2])
        x = y
    x = add("GlobalAveragePool", [x])
    x = add("Flatten", [x])
    out = add("Gemm", [x, parameter("head.weight", 10, 8),
                       parameter("head.bias", 10)], transB=1)
    nodes[-1].output[0] = "logits"
    assert out
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT,
                                       [1, 3, 16, 16])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 10])],
        weights)
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 17)], ir_version=8)
    path = os.path.join(work_folder(), "net.onnx")
    save(model, path)
    return path


def bodies(text):
    """The static functions, without their names and comments."""
    out = []
    for part in re.split(r"\n\n(?=/\* )", text):
        code = re.search(r"^static [^\n]*\n(\w+)(\(.*)", part, re.M | re.S)
        if code:
            out.append(re.sub(r"\n\s+", "\n", code[2]))
    return out


def without_counts(text):
    """Without what the model's file counts: names of nodes and tensors that are
    numbers, positions of nodes and calls, lines of the source."""
    text = re.sub(r"\b[A-Z]\w+_\d+\b", "NODE", text)
    text = re.sub(r'"\d+"', '"TENSOR"', text)
    text = re.sub(r'"(line|index|call|first_call|last_call)":\d+', r'"\1":0',
                  text)
    return re.sub(r'"(nodes|folded)":\[[^]]*\]', r'"\1":[]', text)


a = compile_model(network(False))
b = compile_model(network(True))
changed = 0
for name in sorted(set(os.listdir(a)) | set(os.listdir(b))):
    with open(os.path.join(a, name), encoding="utf-8") as f:
        before = without_counts(f.read())
    with open(os.path.join(b, name), encoding="utf-8") as f:
        after = without_counts(f.read())
    if name == "net.c":
        one, two = bodies(before), bodies(after)
        if len(one) < 6 or one != two:
            fail("not the same %d functions, but %d" % (len(one), len(two)))
    lines = [line for line in difflib.unified_diff(
        before.splitlines(), after.splitlines(), n=0, lineterm="")
        if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    removed = sum(line[0] == "-" for line in lines)
    count = max(removed, len(lines) - removed)
    print("%s: %d lines" % (name, count))
    changed += count
if changed > 40:
    fail("%d other lines changed" % changed)
