#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantized models of 8 bits against what others compute of them: the logits
of onnxruntime with --requant onnx, at most one step off; with --requant tflite
those of TensorFlow Lite's reference kernels, the same, and every layer on its
own inputs the same. Other arguments are for tirc.

    quantized_layers.py NAME [--target gnu-c …]
"""
import os
import shutil
import sys

import numpy
import onnx
from onnx import numpy_helper

import helper

helper.results_alone()


def nodes_behind(graph, output, inputs):
    """Those that compute `output`, in order."""
    needed, found = {output}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            found.append(node)
            needed |= set(node.input) - set(inputs)
    return found[::-1]


def cut(model, nodes, inputs, outputs):
    """A model of these nodes; inputs and outputs as (name, shape)."""
    def described(tensors):
        return [onnx.helper.make_tensor_value_info(
            name, onnx.TensorProto.INT8, shape) for name, shape in tensors]

    used = {name for node in nodes for name in node.input}
    graph = onnx.helper.make_graph(
        nodes, model.graph.name, described(inputs), described(outputs),
        [x for x in model.graph.initializer if x.name in used])
    made = onnx.helper.make_model(graph, opset_imports=model.opset_import)
    made.ir_version = model.ir_version
    return made


def run(model, folder, feeds, options):
    """The outputs in order. Inputs go by position: names may be odd."""
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    command = ["run", path, "--output", os.path.join(folder, "out.npz"),
               *options]
    for i, x in enumerate(feeds):
        onnx.save_tensor(numpy_helper.from_array(x),
                         os.path.join(folder, "in_%d.pb" % i))
        command += ["--input", os.path.join(folder, "in_%d.pb" % i)]
    helper.tirc(*command)
    with numpy.load(os.path.join(folder, "out.npz")) as got:
        return [got[name] for name in got.files]


def steps(a, b):
    if a.shape != b.shape:
        helper.fail("shapes %s and %s" % (a.shape, b.shape))
    return int(numpy.abs(a.astype(int) - b.astype(int)).max())


def check_logits(top, model, options):
    """Where the tensor is that Softmax reads."""
    path = os.path.join(top, "logits.npz")
    if not os.path.exists(path):
        print("no logits are known: the model has no Softmax")
        return
    made = {name: node for node in model.graph.node for name in node.output}
    softmax, = [n for n in model.graph.node if n.op_type == "Softmax"]
    logits = made[softmax.input[0]].input[0]
    given = model.graph.input[0]
    shape = [d.dim_value for d in given.type.tensor_type.shape.dim]
    with numpy.load(path) as known:
        want = {"onnx": known["onnxruntime"], "tflite": known["tflm"]}
    part = cut(model, nodes_behind(model.graph, logits, [given.name]),
               [(given.name, shape)], [(logits, want["onnx"].shape[1:])])
    folder = helper.work_folder()
    path = os.path.join(folder, "model.onnx")
    onnx.save(part, path)
    for how, allowed in (("onnx", 1), ("tflite", 0)):
        for k, expected in enumerate(want[how]):
            data = os.path.join(folder, "test_data_set_%d" % k)
            os.makedirs(data, exist_ok=True)
            shutil.copy(os.path.join(top, os.path.basename(data),
                                     "input_0.pb"), data)
            onnx.save_tensor(numpy_helper.from_array(expected),
                             os.path.join(data, "output_0.pb"))
        print(helper.tirc("test", path, "--requant", how, "--atol", allowed,
                          *options).stdout)


def check_layers(top, model, folder, options):
    """All layers at once, each of which reads what was computed before it."""
    with numpy.load(os.path.join(top, "tflm_layers.npz")) as known:
        layers = {name.replace("|", "/"): known[name]
                  for name in known.files}
    given = model.graph.input[0].name
    nodes = [onnx.NodeProto.FromString(n.SerializeToString())
             for n in model.graph.node]
    outputs, softmax = [], []
    for node in nodes:
        for i, name in enumerate(node.input):
            if name in layers and name != given:
                node.input[i] = name + "_before"
        if node.output[0] in layers:
            outputs.append(node.output[0])
            softmax.append("Softmax" in [
                n.op_type for n in nodes if node.input[0] in n.output])
    inputs = [given] + [
        name for name in outputs
        if any(name + "_before" in node.input for node in nodes)]
    part = cut(model, nodes,
               [(given, layers[given].shape)] +
               [(name + "_before", layers[name].shape)
                for name in inputs[1:]],
               [(name, layers[name].shape) for name in outputs])
    got = run(part, folder, [layers[name] for name in inputs],
              ["--requant", "tflite", *options])
    if not outputs or len(got) != len(outputs):
        helper.fail("%d layers of %d" % (len(got), len(outputs)))
    for name, y, rounded in zip(outputs, got, softmax):
        off = steps(y, layers[name])
        if off > (1 if rounded else 0):
            helper.fail("%s differs by %d" % (name, off))
    print("%d layers are the same" % len(outputs))


def main():
    top = helper.shared_model("mlperf_tiny/" + sys.argv[1])
    model = onnx.load(os.path.join(top, "model.onnx"))
    folder = helper.work_folder()
    check_logits(top, model, sys.argv[2:])
    check_layers(top, model, folder, sys.argv[2:])


main()
