#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Convolutions by tiles: random chains of them, all paddings, odd sizes, and
what is fused behind, against sums in double; the error that docs/explanation/performance.md
states; where they are not taken.

    winograd.py [SEED [MODELS]]
"""
import os
import re
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper
from onnx_data import write_data

helper.results_alone()

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
n_models = int(sys.argv[2]) if len(sys.argv) > 2 else 4
random = numpy.random.default_rng(seed)


def convolve(x, w, b, pads):
    """In double. pads: top, left, bottom, right."""
    kernel = w.shape[2]
    x = numpy.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    height, width = (size - kernel + 1 for size in x.shape[2:])
    y = numpy.zeros((x.shape[0], w.shape[0], height, width))
    for i in range(kernel):
        for j in range(kernel):
            y += numpy.einsum("ncij,oc->noij",
                              x[:, :, i:i + height, j:j + width], w[:, :, i, j])
    return y if b is None else y + b[:, None, None]


class Network:
    """A chain of convolutions, and what it gives in double."""

    def __init__(self, shape):
        self.nodes, self.constants, self.count = [], [], 0
        self.image = random.standard_normal(shape).astype(numpy.float32)
        self.name, self.value = "x", self.image.astype(numpy.float64)

    def constant(self, array):
        name = "k%d" % len(self.constants)
        array = array.astype(numpy.float32)
        self.constants.append(numpy_helper.from_array(array, name))
        return name, array.astype(numpy.float64)

    def add(self, kind, inputs, value, **attributes):
        self.count += 1
        name = "t%d" % self.count
        self.nodes.append(make.make_node(kind, inputs, [name], **attributes))
        self.name, self.value = name, value

    def conv(self, channels, kernel, pads, bias=True, **attributes):
        given = self.value.shape[1]
        w, w_value = self.constant(
            random.standard_normal((channels, given, kernel, kernel)) /
            numpy.sqrt(given * kernel * kernel))
        b, b_value = self.constant(random.standard_normal(channels)) \
            if bias else (None, None)
        if "auto_pad" not in attributes:
            attributes["pads"] = pads
        self.add("Conv", [self.name, w] + ([b] if b else []),
                 convolve(self.value, w_value, b_value, pads), **attributes)

    def behind(self, kind):
        """Element-wise nodes that the convolution takes along."""
        y = self.value
        if kind == "Relu":
            self.add("Relu", [self.name], numpy.maximum(y, 0))
        elif kind == "Sigmoid":
            self.add("Sigmoid", [self.name], 1 / (1 + numpy.exp(-y)))
        elif kind == "HardSwish":
            self.add("HardSwish", [self.name],
                     y * numpy.clip(y / 6 + 0.5, 0, 1))

    def write(self):
        folder = helper.work_folder()
        graph = make.make_graph(
            self.nodes, "g",
            [make.make_tensor_value_info("x", TensorProto.FLOAT,
                                         self.image.shape)],
            [make.make_tensor_value_info(self.name, TensorProto.FLOAT,
                                         self.value.shape)], self.constants)
        path = os.path.join(folder, "model.onnx")
        onnx.save(make.make_model(
            graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8),
            path)
        write_data(folder, [self.image], [self.value.astype(numpy.float32)])
        return path


def random_network():
    """The first tensor and the last have no blocks, those between have."""
    n = Network((int(random.integers(1, 3)),
                 int(random.choice([8, 16, 24, 32])),
                 *(int(size) for size in random.integers(1, 19, 2))))
    for _ in range(4):
        channels = int(random.choice([8, 16, 32, 40]))
        if random.random() < 0.2:
            n.conv(channels, 3, [1, 1, 1, 1],
                   auto_pad=str(random.choice(["SAME_UPPER", "SAME_LOWER"])))
        else:
            pads = [int(p) for p in random.integers(0, 3, 4)]
            for d in range(2):
                pads[d] += max(0, 3 - n.value.shape[2 + d] - pads[d] -
                               pads[2 + d])
            n.conv(channels, 3, pads, bias=bool(random.random() < 0.7))
        n.behind(str(random.choice(["Relu", "Sigmoid", "HardSwish", ""])))
        if random.random() < 0.4:
            skip, value = n.name, n.value
            n.conv(channels, 3, [1, 1, 1, 1])
            n.add("Add", [n.name, skip], n.value + value)
            n.behind("Relu")
    return n


def source(path, *words):
    """The text that tirc makes of a model."""
    out = helper.compile_model(path, "--name", "net", *words)
    with open(os.path.join(out, "net.c"), encoding="utf-8") as file:
        return file.read()


def error(path, network, *words):
    """The largest, by the largest result."""
    out = os.path.join(helper.work_folder(), "y.npz")
    helper.tirc("run", path, "-q", "--target", "gnu-c", "--input",
                os.path.join(os.path.dirname(path), "test_data_set_0",
                             "input_0.pb"), "--output", out, *words)
    with numpy.load(out) as file:
        y = file[network.name]
    return abs(y - network.value).max() / abs(network.value).max()


cc = helper.compilers()[0]
made = ""
for i in range(n_models):
    path = random_network().write()
    text = source(path, "--target", "gnu-c", "--conv", "winograd")
    if "Winograd" not in text:
        helper.fail("no convolution by tiles in %s" % path)
    made += text
    helper.tirc("test", path, "--target", "gnu-c", "--conv", "winograd",
                "--cc", cc, "--cflags", "-O0")
if not re.search(r"F\(2x2,3x3\)", made) or not re.search(r"F\(4x4,", made):
    helper.fail("tiles of one size only")

# Bright pixels beside dark ones: results of dark pixels have the errors of the bright
# ones in their tile, which `tirc test` measures, and no larger ones.
network = Network((1, 16, 24, 24))
network.image[:, :, :, 5::12] *= 1e4
network.value = network.image.astype(numpy.float64)
network.conv(16, 3, [1] * 4)
path = network.write()
words = ["--target", "gnu-c", "--cc", cc, "--cflags", "-O0"]
helper.tirc("test", path, *words, "--conv", "winograd")
network.value[:, :, :, 2] += 0.1
helper.tirc("test", network.write(), *words, "--conv", "winograd", status=1)

# What large layers get, and how exact it is.
network = Network((1, 64, 56, 56))
network.conv(64, 1, [0] * 4)
network.behind("Relu")
network.conv(64, 3, [1] * 4)
path = network.write()
text = source(path, "--target", "gnu-c")
if "Winograd F(4x4,3x3)" not in text:
    helper.fail("a convolution of 56 x 56 x 64 is computed directly")
for verb, words in (("inspect", []),
                    ("compile", ["-o", helper.work_folder()])):
    told = helper.tirc(verb, path, "--target", "gnu-c", *words).stdout
    if "1 convolution by tiles: weights 590 kB instead of 147 kB" not in told:
        helper.fail("%s does not tell the cost:\n%s" % (verb, told))
direct = error(path, network, "--conv", "direct")
tiled = error(path, network)
print("errors: direct %.1e, by tiles %.1e" % (direct, tiled))
if direct > 2e-6 or tiled > 2e-5:
    helper.fail("errors of %g and %g" % (direct, tiled))
if error(path, network, "--form", "graph") != tiled:
    helper.fail("--form graph gives other results")
helper.tirc("run", path, "-q", "--target", "gnu-c", "--profile")
helper.tirc("test", path, "--target", "c-openmp", "--conv", "winograd",
            "--cc", cc, "--cflags",
            "-O0 -fopenmp")

# Where nobody asked for more memory, or for other bits; where there are no
# blocks; where it is refused.
for words in (["--target", "gnu-c", "--conv", "direct"],
              ["--target", "gnu-c", "--optimize", "memory"],
              ["--target", "gnu-c", "--fp", "strict", "--conv", "winograd"],
              ["--target", "c99-scalar", "--conv", "winograd"]):
    if "Winograd" in source(path, *words):
        helper.fail("by tiles with %s" % " ".join(words))
if source(path, "--target", "gnu-c", "--fp", "strict") != \
        source(path, "--target", "gnu-c", "--fp", "strict", "--conv",
               "direct"):
    helper.fail("strict source depends on --conv")
helper.tirc("compile", path, "-o", helper.work_folder(), "--conv", "fast",
            status=1)
