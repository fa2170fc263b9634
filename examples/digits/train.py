#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit classifier that ships with tirc and writes, beside itself,

    digits.onnx              the model
    test_data_set_0..2/      inputs with onnxruntime's outputs
    samples.txt              twenty held-out digits with their labels

The data are the 1797 8x8 digits that come with scikit-learn; a fifth is held
out. The network (convolution, Relu, pool, convolution, Relu, fully connected,
Softmax) is trained here with numpy alone, so that the whole of it can be
read; the seed is fixed. It takes about ten seconds."""
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = os.path.dirname(os.path.abspath(__file__))
EPOCHS = 40
BATCH = 32
CHANNELS_1 = 16
CHANNELS_2 = 24


def patches(x):
    """All 3x3 windows of x [n][c][h][w], border zero: [n][h][w][c * 9]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    n, c, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


class Conv:
    """3x3, stride 1, same size."""

    def __init__(self, rng, inputs, outputs):
        scale = np.sqrt(2 / (inputs * 9))
        self.weight = rng.normal(0, scale, (outputs, inputs, 3, 3))
        self.bias = np.zeros(outputs)
        self.parameters = [self.weight, self.bias]

    def forward(self, x):
        self.shape = x.shape
        self.columns = patches(x)
        kernel = self.weight.reshape(len(self.bias), -1)
        return (self.columns @ kernel.T + self.bias).transpose(0, 3, 1, 2)

    def backward(self, dy):
        n, c, h, w = self.shape
        dy = dy.transpose(0, 2, 3, 1)
        flat = dy.reshape(-1, dy.shape[-1])
        dweight = flat.T @ self.columns.reshape(len(flat), -1)
        self.gradients = [dweight.reshape(self.weight.shape), flat.sum(0)]
        kernel = self.weight.reshape(len(self.bias), -1)
        dcolumns = (dy @ kernel).reshape(n, h, w, c, 3, 3)
        dx = np.zeros((n, c, h + 2, w + 2))
        for i in range(3):
            for j in range(3):
                dx[:, :, i:i + h, j:j + w] += \
                    dcolumns[..., i, j].transpose(0, 3, 1, 2)
        return dx[:, :, 1:-1, 1:-1]


class Relu:
    parameters = gradients = ()

    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, dy):
        return dy * self.mask


class MaxPool:
    """2x2, stride 2."""

    parameters = gradients = ()

    def forward(self, x):
        n, c, h, w = x.shape
        tiles = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = tiles.max((3, 5))
        self.mask = tiles == y[:, :, :, None, :, None]
        self.mask = self.mask / self.mask.sum((3, 5), keepdims=True)
        return y

    def backward(self, dy):
        dx = self.mask * dy[:, :, :, None, :, None]
        n, c, h, _, w, _ = dx.shape
        return dx.reshape(n, c, h * 2, w * 2)


class Flatten:
    parameters = gradients = ()

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, dy):
        return dy.reshape(self.shape)


class Linear:
    def __init__(self, rng, inputs, outputs):
        self.weight = rng.normal(0, np.sqrt(1 / inputs), (outputs, inputs))
        self.bias = np.zeros(outputs)
        self.parameters = [self.weight, self.bias]

    def forward(self, x):
        self.x = x
        return x @ self.weight.T + self.bias

    def backward(self, dy):
        self.gradients = [dy.T @ self.x, dy.sum(0)]
        return dy @ self.weight


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def forward(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x


def train(layers, x, labels, rng):
    """Adam on the cross entropy, digits shifted by up to a pixel, the step
    falling to zero along a half cosine."""
    steps = EPOCHS * (len(x) // BATCH)
    moments = [[(np.zeros_like(p), np.zeros_like(p)) for p in l.parameters]
               for l in layers]
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(x))
        loss = 0.0
        for at in range(0, len(x) - BATCH + 1, BATCH):
            rows = order[at:at + BATCH]
            images = x[rows]
            dh, dw = rng.integers(-1, 2, 2)
            if rng.random() < 0.5:
                images = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
                images = images[:, :, 1 + dh:9 + dh, 1 + dw:9 + dw]
            prob = softmax(forward(layers, images))
            hits = prob[np.arange(BATCH), labels[rows]]
            loss -= np.log(hits + 1e-12).sum()
            gradient = prob
            gradient[np.arange(BATCH), labels[rows]] -= 1
            gradient /= BATCH
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            step += 1
            rate = 0.003 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for layer, pairs in zip(layers, moments):
                for p, g, (m, v) in zip(layer.parameters, layer.gradients,
                                        pairs):
                    g = g + 1e-4 * p
                    m += 0.1 * (g - m)
                    v += 0.001 * (g * g - v)
                    p -= rate * (m / (1 - 0.9 ** step)) / (
                        np.sqrt(v / (1 - 0.999 ** step)) + 1e-8)
        if epoch % 10 == 9:
            print("epoch %2d  loss %.4f" % (epoch + 1, loss / len(x)))


def write_model(path, conv1, conv2, fc):
    def tensor(name, value):
        return numpy_helper.from_array(value.astype(np.float32), name)

    def conv(name, source):
        return helper.make_node(
            "Conv", [source, name + ".weight", name + ".bias"], [name],
            name=name, kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    def relu(name, source):
        return helper.make_node("Relu", [source], [name], name=name)

    nodes = [
        conv("conv1", "image"),
        relu("relu1", "conv1"),
        helper.make_node("MaxPool", ["relu1"], ["pool1"], name="pool1",
                         kernel_shape=[2, 2], strides=[2, 2]),
        conv("conv2", "pool1"),
        relu("relu2", "conv2"),
        helper.make_node("Flatten", ["relu2"], ["flat"], name="flat", axis=1),
        helper.make_node("Gemm", ["flat", "fc.weight", "fc.bias"], ["fc"],
                         name="fc", transB=1),
        helper.make_node("Softmax", ["fc"], ["prob"], name="prob", axis=1),
    ]
    weights = []
    for name, layer in (("conv1", conv1), ("conv2", conv2), ("fc", fc)):
        weights.append(tensor(name + ".weight", layer.weight))
        weights.append(tensor(name + ".bias", layer.bias))
    graph = helper.make_graph(
        nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT,
                                       [1, 1, 8, 8])],
        [helper.make_tensor_value_info("prob", TensorProto.FLOAT, [1, 10])],
        weights)
    model = helper.make_model(graph, producer_name="examples/digits/train.py",
                              opset_imports=[helper.make_opsetid("", 21)])
    model.ir_version = 10
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def write_test_data(session, images):
    for index, image in enumerate(images):
        folder = os.path.join(HERE, "test_data_set_%d" % index)
        os.makedirs(folder, exist_ok=True)
        prob, = session.run(None, {"image": image})
        for name, tensor, value in (("input_0", "image", image),
                                    ("output_0", "prob", prob)):
            with open(os.path.join(folder, name + ".pb"), "wb") as file:
                file.write(numpy_helper.from_array(value, tensor)
                           .SerializeToString())


def write_samples(path, images, labels):
    with open(path, "w", encoding="ascii") as file:
        file.write("# Held-out digits: a label, then 8x8 pixels of 0..16.\n")
        for image, label in zip(images, labels):
            file.write("label %d\n" % label)
            for row in image.reshape(8, 8):
                file.write(" ".join("%2d" % round(p * 16) for p in row) + "\n")


def main():
    rng = np.random.default_rng(20)
    digits = load_digits()
    images = digits.images.reshape(-1, 1, 8, 8) / 16
    x, held_x, labels, held_labels = train_test_split(
        images, digits.target, test_size=0.2, random_state=0,
        stratify=digits.target)

    conv1 = Conv(rng, 1, CHANNELS_1)
    conv2 = Conv(rng, CHANNELS_1, CHANNELS_2)
    fc = Linear(rng, CHANNELS_2 * 4 * 4, 10)
    layers = [conv1, Relu(), MaxPool(), conv2, Relu(), Flatten(), fc]
    train(layers, x, labels, rng)

    path = os.path.join(HERE, "digits.onnx")
    write_model(path, conv1, conv2, fc)
    session = onnxruntime.InferenceSession(path)
    held = held_x.astype(np.float32)
    guess = [session.run(None, {"image": image[None]})[0].argmax()
             for image in held]
    right = int(np.sum(guess == held_labels))
    print("held out: %d of %d right (%.1f %%), %d bytes of model"
          % (right, len(held), 100 * right / len(held),
             os.path.getsize(path)))
    write_test_data(session, held[20:23, None])
    write_samples(os.path.join(HERE, "samples.txt"), held[:20],
                  held_labels[:20])


main()
