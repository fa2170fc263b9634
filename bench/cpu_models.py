# SPDX-License-Identifier: Apache-2.0
"""Models beyond the table of bench/cpu.py, made here or with sizes fixed."""
import math
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHARED = ["cct2_128", "tinyvit", "super_resolution"]
MATMULS = [64, 128, 256, 512, 1024, 2048]


class Graph:
    """A model under construction, weights from a seed."""

    def __init__(self):
        self.nodes, self.constants = [], []
        self.random = np.random.default_rng(0)

    def constant(self, array):
        name = "c%d" % len(self.constants)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, *inputs, **attributes):
        name = "t%d" % len(self.nodes)
        self.nodes.append(helper.make_node(op, inputs, [name], name=name,
                                           **attributes))
        return name

    def dense(self, x, n_in, n_out):
        weight = self.random.standard_normal((n_in, n_out)) / math.sqrt(n_in)
        bias = self.random.standard_normal(n_out) * 0.1
        product = self.add("MatMul", x, self.constant(weight.astype("f4")))
        return self.add("Add", product, self.constant(bias.astype("f4")))

    def norm(self, x, width):
        return self.add("LayerNormalization", x,
                        self.constant(np.ones(width, "f4")),
                        self.constant(np.zeros(width, "f4")), axis=-1)

    def gelu(self, x):
        inner = self.add("Erf", self.add("Mul", x, self.constant(
            np.array(math.sqrt(0.5), "f4"))))
        return self.add("Mul", self.add("Mul", x, self.constant(
            np.array(0.5, "f4"))), self.add("Add", inner, self.constant(
                np.array(1, "f4"))))

    def attention(self, x, tokens, width, heads, causal):
        shape = self.constant(np.array([1, tokens, heads, width // heads]))
        q, k, v = (self.add("Transpose", self.add(
            "Reshape", self.dense(x, width, width), shape), perm=perm)
            for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = self.add("Mul", self.add("MatMul", q, k), self.constant(
            np.array(1 / math.sqrt(width // heads), "f4")))
        if causal:
            mask = np.triu(np.full((tokens, tokens), -1e9, "f4"), 1)
            scores = self.add("Add", scores, self.constant(mask))
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), v)
        flat = self.add("Reshape", self.add(
            "Transpose", mixed, perm=[0, 2, 1, 3]),
            self.constant(np.array([1, tokens, width])))
        return self.dense(flat, width, width)

    def feed_forward(self, x, width):
        return self.dense(self.gelu(self.dense(x, width, 4 * width)),
                          4 * width, width)

    def save(self, path, shape):
        output = self.nodes[-1].output[0]
        graph = helper.make_graph(
            self.nodes, "model",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
            self.constants)
        onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", 17)]), path)


def encoder(path, tokens=128, width=128, layers=2, heads=4):
    """Normalisation after each part, as BERT has it."""
    g = Graph()
    x = "x"
    for _ in range(layers):
        x = g.norm(g.add("Add", x, g.attention(
            x, tokens, width, heads, False)), width)
        x = g.norm(g.add("Add", x, g.feed_forward(x, width)), width)
    g.save(path, [1, tokens, width])


def decoder(path, tokens=128, width=256, heads=4):
    """One block, normalisation before each part, as GPT-2 has it."""
    g = Graph()
    x = g.add("Add", "x", g.attention(
        g.norm("x", width), tokens, width, heads, True))
    g.add("Add", x, g.feed_forward(g.norm(x, width), width))
    g.save(path, [1, tokens, width])


def matmul(path, n):
    g = Graph()
    g.add("MatMul", "x", g.constant(
        (g.random.standard_normal((n, n)) / math.sqrt(n)).astype("f4")))
    g.save(path, [n, n])


def fixed(source, path):
    """The model with 1 for each size that has a name only."""
    model = onnx.load(source)
    for value in [*model.graph.input, *model.graph.output]:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_value = 1
    del model.graph.value_info[:]
    onnx.save(model, path)


def batched(path, n, folder):
    """The model with n in place of a first dimension of 1 of each input, and of
    each constant shape to which data is reshaped, in the folder; None if other
    shapes do not follow."""
    model = onnx.load(path)
    constants = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        dims = value.type.tensor_type.shape.dim
        if value.name in constants:
            continue
        if not dims or dims[0].dim_value not in (0, 1):
            return None
        dims[0].ClearField("dim_param")
        dims[0].dim_value = n
    shapes = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        shape = shapes.get(node.input[1]) if node.op_type == "Reshape" else None
        if shape is not None and node.input[0] not in constants and \
                shape.size and shape[0] == 1:
            name = node.input[1] + "_of_batch"
            if name not in shapes:
                shapes[name] = np.concatenate([[n], shape[1:]]).astype(shape.dtype)
                model.graph.initializer.append(numpy_helper.from_array(shapes[name],
                                                                       name))
            node.input[1] = name
    outputs = [value.name for value in model.graph.output]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    try:
        shaped = onnx.shape_inference.infer_shapes(model, strict_mode=True,
                                                   data_prop=True)
    except onnx.shape_inference.InferenceError:
        return None
    for value in shaped.graph.output:
        dims = value.type.tensor_type.shape.dim
        if value.name in outputs and not (dims and dims[0].dim_value == n):
            return None
    made = os.path.join(folder, "batch-%d%s" % (n, path.replace("/", "-")))
    onnx.save(shaped, made)
    return made


def extras(top, folder):
    """Names and files, made one by one."""
    for name in SHARED:
        path = os.path.join(folder, name + ".onnx")
        yield name, path, lambda p, n=name: fixed(
            os.path.join(top, n, "model.onnx"), p)
    yield "encoder", os.path.join(folder, "encoder.onnx"), encoder
    yield "encoder768", os.path.join(folder, "encoder768.onnx"), lambda p: encoder(
        p, width=768, layers=1, heads=12)
    yield "decoder", os.path.join(folder, "decoder.onnx"), decoder
    for n in MATMULS:
        path = os.path.join(folder, "matmul%d.onnx" % n)
        yield "matmul%d" % n, path, lambda p, n=n: matmul(p, n)
