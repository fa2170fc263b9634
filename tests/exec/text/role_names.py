#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""role_names.py: names in emitted text come from roles and layers. Of a model in
which an exporter has numbered every node, tensor and constant no number is in the
text, but for comments; parameters are called after what they are for the
operators: weights, biases, queries, keys and values, a residual, scale and shift.
Other numbers, and a node in front, change no name."""
import os
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import compile_model, fail, has_dialect, work_folder

HEADS, LENGTH, WIDTH = 2, 64, 32
folder = work_folder()


class Maker:
    """Nodes and constants, with the names of exporters."""

    def __init__(self, first):
        self.number = first
        self.nodes, self.constants, self.random = [], [], \
            np.random.default_rng(0)

    def name(self, pattern):
        self.number += 7
        return pattern % self.number

    def constant(self, array):
        name = self.name("onnx__MatMul_%d")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def floats(self, *shape):
        return self.constant(self.random.standard_normal(shape).astype("f4"))

    def add(self, op, inputs, pattern="/Add_%d_output_0", **attributes):
        out = self.name(pattern)
        self.nodes.append(helper.make_node(
            op, inputs, [out], self.name("node_" + op + "_%d"), **attributes))
        return out


def heads(m, x):
    """The projection of x, and its channels by heads."""
    p = m.add("MatMul", [x, m.floats(WIDTH, WIDTH)], "t%d")
    shape = m.constant(np.array([1, LENGTH, HEADS, WIDTH // HEADS], "i8"))
    return m.add("Reshape", [p, shape], "r%d")


def attention(m, x):
    q = m.add("Transpose", [heads(m, x)], "val_%d", perm=[0, 2, 1, 3])
    k = m.add("Transpose", [heads(m, x)], "val_%d", perm=[0, 2, 3, 1])
    v = m.add("Transpose", [heads(m, x)], "val_%d", perm=[0, 2, 1, 3])
    scores = m.add("Mul", [m.add("MatMul", [q, k]),
                           m.constant(np.array(0.25, "f4"))])
    mixed = m.add("MatMul", [m.add("Softmax", [scores], axis=-1), v])
    back = m.add("Transpose", [mixed], "%d", perm=[0, 2, 1, 3])
    flat = m.add("Reshape", [back, m.constant(
        np.array([1, LENGTH, WIDTH], "i8"))], "r%d")
    out = m.add("MatMul", [flat, m.floats(WIDTH, WIDTH)])
    return m.add("Add", [m.add("Add", [out, m.floats(WIDTH)]), x])


def model(name, first, before):
    m = Maker(first)
    x = "data"
    for _ in range(before):
        x = m.add("Relu", [x])
    x = attention(m, x)
    x = m.add("LayerNormalization", [x, m.floats(WIDTH), m.floats(WIDTH)])
    # A normalisation by constants that no product can take.
    x = m.add("Tanh", [x])
    x = m.add("Mul", [x, m.floats(LENGTH, 1)], "%d")
    x = m.add("Relu", [m.add("Add", [x, m.floats(LENGTH, 1)], "%d")])
    # Bytes of weights with a scale for each column.
    bytes_ = m.constant(np.arange(WIDTH * 16).reshape(WIDTH, 16).astype("i1"))
    w = m.add("DequantizeLinear", [bytes_, m.floats(16)], axis=1)
    x = m.add("MatMul", [m.add("Exp", [x]), w])
    m.nodes[-1].output[0] = "prob"
    graph = helper.make_graph(
        m.nodes, "net",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT,
                                       [1, LENGTH, WIDTH])],
        [helper.make_tensor_value_info("prob", TensorProto.FLOAT,
                                       [1, LENGTH, 16])], m.constants)
    path = os.path.join(folder, name, "net.onnx")
    os.makedirs(os.path.dirname(path))
    save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)]), path)
    numbers = {n for t in [n.name for n in m.nodes] +
               [o for n in m.nodes for o in n.output] +
               [c.name for c in m.constants]
               for n in re.findall(r"\d{3,}", t)}
    return path, numbers


def code(path, target):
    """The text without comments, and the names of all parameters of kernels."""
    out = compile_model(path, "--target", target, "--weights", "file")
    text = ""
    for name in sorted(os.listdir(out)):
        if name.endswith((".c", ".h", ".cu", ".cl")):
            with open(os.path.join(out, name), encoding="utf-8") as f:
                text += re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    head = re.findall(r"^\w+\(([^;{}]*)\)\n\{", text, re.M)
    return text, {w for h in head for p in h.split(",")
                  for w in re.findall(r"(\w+)[^\w]*(?:\[.*)?$", re.sub(
                      r"\[.*|\)\[.*", "", p.strip()))}


def without_digest(text):
    return re.sub(r'_DIGEST "\w+"', "", text)


WANTED = {"x", "w", "y", "q", "k", "v", "probabilities", "residual", "scale",
          "shift", "bias"}
for target, dialect in ("c99", "c99"), ("gnu-c", "gnu-c"), ("cuda", "cuda"):
    if not has_dialect(dialect):
        continue
    path, numbers = model("plain" + target, 20411, 0)
    text, names = code(path, target)
    for number in numbers:
        if re.search(r"(?<![\d.])%s(?!\d)" % number, text):
            fail("%s: %s is in the text: %s" % (target, number, re.search(
                r".*%s.*" % number, text)[0]))
    missing = WANTED - names
    if missing:
        fail("%s: no parameter %s, only %s" % (
            target, ", ".join(sorted(missing)), ", ".join(sorted(names))))
    other, _ = model("renumbered" + target, 61219, 0)
    if without_digest(code(other, target)[0]) != without_digest(text):
        fail("%s: other numbers, another text" % target)
    longer, _ = model("longer" + target, 61219, 1)
    # The result may lie over the residual then.
    gone = names - code(longer, target)[1] - {"residual"}
    if gone:
        fail("%s: a Relu in front renames %s" % (target, gone))
