# SPDX-License-Identifier: Apache-2.0
"""Large models that tests and benchmarks build for themselves. Needs onnx and
numpy."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Nodes and weights of an image classifier; every method takes and gives
    a tensor's name. Weights are random, of a scale that keeps activations."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.nodes = []
        self.weights = []

    def weight(self, name, *shape, scale=None, around=0.0):
        if scale is None:
            scale = np.sqrt(2 / np.prod(shape[1:]))
        value = self.rng.standard_normal(shape, np.float32)
        value *= np.float32(scale)
        value += np.float32(around)
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def node(self, kind, name, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, list(inputs), [name],
                                           name=name, **attributes))
        return name

    def conv_bn(self, name, x, inputs, outputs, kernel, stride=1, gain=1.0):
        w = self.weight(name + ".weight", outputs, inputs, kernel, kernel)
        y = self.node("Conv", name + ".conv", x, w,
                      kernel_shape=[kernel, kernel], strides=[stride, stride],
                      pads=[kernel // 2] * 4)
        facts = [self.weight(name + ".scale", outputs, scale=0.1 * gain,
                             around=gain),
                 self.weight(name + ".shift", outputs, scale=0.1),
                 self.weight(name + ".mean", outputs, scale=0.1)]
        variance = self.rng.uniform(0.5, 1.5, outputs).astype(np.float32)
        self.weights.append(numpy_helper.from_array(variance, name + ".var"))
        return self.node("BatchNormalization", name + ".bn", y, *facts,
                         name + ".var", epsilon=1e-5)

    def relu(self, x):
        return self.node("Relu", x + ".relu", x)


def resnet50(path, side=224, seed=0):
    """ResNet-50 with random weights, about 102 MB, written to `path`."""
    b = Builder(seed)
    x = b.relu(b.conv_bn("stem", "data", 3, 64, 7, 2))
    x = b.node("MaxPool", "pool", x, kernel_shape=[3, 3], strides=[2, 2],
               pads=[1, 1, 1, 1])
    inputs = 64
    for stage, (blocks, width) in enumerate(
            ((3, 64), (4, 128), (6, 256), (3, 512))):
        for block in range(blocks):
            name = "stage%d.block%d" % (stage + 1, block)
            stride = 2 if stage > 0 and block == 0 else 1
            y = b.relu(b.conv_bn(name + ".a", x, inputs, width, 1))
            y = b.relu(b.conv_bn(name + ".b", y, width, width, 3, stride))
            y = b.conv_bn(name + ".c", y, width, 4 * width, 1, gain=0.2)
            if block == 0:
                x = b.conv_bn(name + ".skip", x, inputs, 4 * width, 1, stride)
            x = b.relu(b.node("Add", name + ".add", y, x))
            inputs = 4 * width
    x = b.node("GlobalAveragePool", "average", x)
    x = b.node("Flatten", "flat", x, axis=1)
    fc = [b.weight("fc.weight", 1000, 2048, scale=0.01),
          b.weight("fc.bias", 1000, scale=0.01)]
    x = b.node("Gemm", "fc", x, *fc, transB=1)
    b.node("Softmax", "prob", x, axis=1)
    graph = helper.make_graph(
        b.nodes, "resnet50",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT,
                                       [1, 3, side, side])],
        [helper.make_tensor_value_info("prob", TensorProto.FLOAT,
                                       [1, 1000])],
        b.weights)
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def external_3gb(folder, layers=12, width=8192):
    """A chain of matrix products whose weights, 3.2 GB, lie in a sparse file
    beside the model; gives the model's path."""
    size = width * width * 4
    weights, nodes = [], []
    x = "data"
    for layer in range(layers):
        tensor = TensorProto(name="layer%d.weight" % layer,
                             data_type=TensorProto.FLOAT,
                             dims=[width, width],
                             data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "weights.bin"),
                           ("offset", str(layer * size)),
                           ("length", str(size))):
            tensor.external_data.add(key=key, value=value)
        weights.append(tensor)
        y = "layer%d" % layer
        nodes.append(helper.make_node("MatMul", [x, tensor.name], [y],
                                      name=y))
        x = y
    graph = helper.make_graph(
        nodes, "huge",
        [helper.make_tensor_value_info("data", TensorProto.FLOAT,
                                       [1, width])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, [1, width])],
        weights)
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 17)])
    model.ir_version = 8
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        file.truncate(layers * size)
        # a little of it is not zero
        for layer in range(layers):
            file.seek(layer * size)
            file.write(np.full(width, layer + 1, np.float32).tobytes())
    return path
