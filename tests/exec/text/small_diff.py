#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inserting one Relu and renumbering every node and tensor changes at most 40
lines: functions that did not change keep their text, and only the layer that
got the Relu calls another one. An Identity more, other numbers in the names that
an exporter gives, and another order of independent nodes change nothing but
comments."""
import copy
import difflib
import os
import re

import numpy as np
from onnx import TensorProto, helper, load, numpy_helper, parser, save

import turns
from helper import compile_model, fail, has_dialect, shared, work_folder
from renumbered import insert_identity, rename, reorder

LAYERS = 12


def network(extra_relu, layers=LAYERS, channels_inside=8, size=16):
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
    for i in range(layers):
        w = parameter("features.%d.weight" % i, channels_inside, channels, 3, 3)
        b = parameter("features.%d.bias" % i, channels_inside)
        y = add("Conv", [x, w, b], pads=[1, 1, 1, 1])
        channels = channels_inside
        if i % 3 != 1 or (extra_relu and i == 4):
            y = add("Relu", [y])
        if i % 3 == 2:
            y = add("Add", [y, x])
        if i == 6:
            y = add("MaxPool", [y], kernel_shape=[2, 2], strides=[2, 2])
        x = y
    x = add("GlobalAveragePool", [x])
    x = add("Flatten", [x])
    out = add("Gemm", [x, parameter("head.weight", 10, channels),
                       parameter("head.bias", 10)], transB=1)
    nodes[-1].output[0] = "logits"
    assert out
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT,
                                       [1, 3, size, size])],
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


a = compile_model(network(False), "--target", "c99-scalar")
b = compile_model(network(True), "--target", "c99-scalar")
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


# -- what changes nothing --

def attention():
    """Three products of one input, which may stand in any order, and what
    follows."""
    rng = np.random.default_rng(2)
    model = parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
block (float[1, 16, 32] x) => (float[1, 16, 32] y)
{
  q = MatMul (x, q.weight)
  k = MatMul (x, k.weight)
  v = MatMul (x, v.weight)
  kt = Transpose <perm = [0, 2, 1]> (k)
  scores = MatMul (q, kt)
  weights = Softmax <axis = 2> (scores)
  mixed = MatMul (weights, v)
  out = MatMul (mixed, out.weight)
  sum = Add (out, x)
  y = LayerNormalization <axis = 2> (sum, norm.weight, norm.bias)
}""".replace(".weight", "_weight").replace(".bias", "_bias"))
    for name in ("q", "k", "v", "out"):
        model.graph.initializer.append(numpy_helper.from_array(
            rng.standard_normal((32, 32)).astype(np.float32),
            name + ".weight"))
    for name in ("norm.weight", "norm.bias"):
        model.graph.initializer.append(numpy_helper.from_array(
            rng.standard_normal(32).astype(np.float32), name))
    for node in model.graph.node:
        for i, x in enumerate(node.input):
            node.input[i] = re.sub(r"_(weight|bias)$", r".\1", x)
    return model


def models():
    yield "layers", load(network(False))
    yield "tiles", load(network(False, 3, 64, 28)) # large enough for Winograd
    yield "attention", attention()
    for name in ("resnet8_fp32", "resnet8_int8"):
        path = os.path.join(shared() or "", "models", "mlperf_tiny", name,
                            "model.onnx")
        if os.path.exists(path):
            yield name, load(path)


def emitted(model, target):
    """The files without comments, and without what tells the model's file by
    its digest or counts its nodes."""
    path = os.path.join(work_folder(), "net.onnx")
    save(model, path)
    out = compile_model(path, "--target", target, "--name", "net")
    files = {}
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name), "rb") as f:
            text = f.read()
        if not name.endswith((".json", "_misra.txt", ".mk", ".cmake")):
            text = re.sub(rb"#define \w+_MODEL_DIGEST .*\n", b"", text)
            files[name] = re.sub(rb"/\*.*?\*/", b"", text, flags=re.S)
    return files


def compare(what, a, b):
    if a.keys() != b.keys():
        fail("%s: not the same files" % what)
    for name in a:
        if a[name] != b[name]:
            lines = list(difflib.unified_diff(
                *(x[name].decode("ascii", "replace").splitlines()
                  for x in (a, b)), n=0, lineterm=""))
            fail("%s: %d lines of %s changed:\n%s" % (
                what, len(lines), name, "\n".join(lines[:20])))


# How tensors are named, and a target.
WAYS = [("numbers", "gnu-c"), ("numbers", "c99"), ("numbers", "misra"),
        ("scopes", "gnu-c"), ("values", "gnu-c")]
for name, model in models():
    for style, target in turns.some(name, WAYS, 2):
        if not has_dialect(target):
            continue
        one, two, three = (copy.deepcopy(model) for i in range(3))
        insert_identity(two, len(two.graph.node) // 2)
        rename(one, style, 10)
        rename(two, style, 57)
        rename(three, style, 10)
        reorder(three, 1)
        what = "%s, %s, %s" % (name, style, target)
        first = emitted(one, target)
        compare(what + ", an Identity more", first, emitted(two, target))
        compare(what + ", another order", first, emitted(three, target))
