#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batches whose images are computed one after the other against onnxruntime; and
that a batch gives what its images give alone.

    images.py NAME

NAME is a function here. Each model says whether there is a loop, with --optimize
memory and with a cache of some bytes."""
import os
import sys

import helper
from helper import fail, tirc

try:
    import numpy as np
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

IMAGES = 6
rng = np.random.default_rng(3)


def floats(*shape):
    return rng.integers(-8, 9, shape).astype(np.float32) / 8


def has_loop(path, *options):
    folder = helper.compile_model(path, "--name", "m", *options)
    with open(os.path.join(folder, "m.c"), encoding="utf-8") as file:
        text = file.read()
    told = "/* %d images, one after the other" % IMAGES in text
    if told != ("for (int32_t image =" in text):
        fail("%s: a loop without its comment" % path)
    return told


def expect(m, options, want):
    if has_loop(m.write_model(), *options) != want:
        fail("%s with %s: %s loop" % (
            m.name, " ".join(options), "no" if want else "a"))


def check(m, apart, cached=(), targets=("gnu-c", "c99", "misra")):
    """apart: is there a loop for memory? cached: bytes of the cache, and whether
    there is a loop then."""
    expect(m, ["--target", "c99", "--optimize", "memory"], apart)
    m.check(list(targets), "--optimize", "memory")
    for size, want in cached:
        target = "gnu-c -l1_bytes=%d" % size
        expect(m, ["--target", target], want)
        m.check([target], "--cflags",
                "-std=gnu11 -O0 -fopenmp-simd -march=native")
    # Threads share the images of each kernel.
    expect(m, ["--target", "c-openmp"], False)
    expect(m, ["--target", "c-threads", "--optimize", "memory"], False)
    # A list of calls has no loop.
    helper.compile_model(m.write_model(), "--form", "graph")


def conv(m, x, inputs, outputs, size=3, **attributes):
    return m.node("Conv", [x, m.constant(floats(outputs, inputs, size, size)),
                           m.constant(floats(outputs))],
                  pads=[size // 2] * 4, **attributes)


def classifier(images=IMAGES, name="classifier"):
    """Residual blocks, BatchNormalization, Concat, pools, Flatten, Gemm and
    Softmax."""
    global rng
    rng = np.random.default_rng(11)
    data = floats(IMAGES, 3, 10, 10)[:images]
    m = Model(name)
    x = conv(m, m.input("x", data), 3, 8)
    x = m.node("BatchNormalization", [x] + [m.constant(np.abs(floats(8)) + 1)
                                            for _ in range(4)])
    x = m.node("Relu", [x])
    y = conv(m, m.node("Relu", [conv(m, x, 8, 8)]), 8, 8)
    x = m.node("Add", [x, y])
    a, b = conv(m, x, 8, 4, 1), conv(m, x, 8, 12)
    x = m.node("Concat", [a, b], axis=1)
    x = m.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = m.node("Softmax", [x], axis=1)
    x = m.node("GlobalAveragePool", [x])
    x = m.node("Flatten", [x], axis=1)
    x = m.node("Gemm", [x, m.constant(floats(16, 10)), m.constant(floats(10))])
    m.output(m.node("Softmax", [x], axis=-1))
    return m


def whole():
    """Concat reads and writes the most of an image, 16 channels of 10 x 10
    floats each."""
    most = 2 * 16 * 100 * 4
    check(classifier(), True, [(1, True), (6 * most - 1, True),
                               (6 * most, False)])


def alone():
    """A batch gives what its images give as batches of one."""
    def results(model, data, *options):
        folder = helper.work_folder()
        given = os.path.join(folder, "x.npy")
        np.save(given, data)
        result = os.path.join(folder, "y.npy")
        tirc("run", model.write_model(), "--input", given, "--output", result,
             "-q", "--cflags", "-std=c99 -O0", *options)
        return np.load(result)

    batch, one = classifier(), classifier(1, "one")
    data = batch.inputs["x"]
    for options in (["--target", "c99", "--optimize", "memory"],
                    ["--target", "c99 -l1_bytes=1"]):
        every = results(batch, data, *options)
        for i in 0, IMAGES // 2, IMAGES - 1:
            if not np.array_equal(every[i:i + 1], results(
                    one, data[i:i + 1], *options)):
                fail("image %d differs: %s" % (i, options))


def outputs():
    """Outputs in the middle, some of them views, which the loop reads, too."""
    m = Model("outputs")
    x = m.input("x", floats(IMAGES, 4, 5, 5))
    y = m.output(m.node("Relu", [conv(m, x, 4, 8)]))
    z = m.output(m.node("Concat", [y, x], axis=1))
    m.output(m.node("Reshape", [y, m.constant(np.array([IMAGES, -1]))]))
    z = m.node("Flatten", [conv(m, z, 12, 4)], axis=1)
    m.output(z)
    m.output(m.node("Mul", [z, m.constant(np.float32(2))]))
    check(m, True, [(1, True)])


def inputs():
    """Several inputs by image, and one that all images share."""
    m = Model("inputs")
    x = m.input("x", floats(IMAGES, 4, 5, 5))
    y = m.input("y", floats(IMAGES, 4, 1, 1))
    w = m.input("w", floats(4, 4, 3, 3))
    shared = m.node("Mul", [w, w])
    z = m.node("Conv", [m.node("Mul", [x, y]), shared], pads=[1] * 4)
    m.output(m.node("Add", [m.node("Relu", [z]), x]))
    check(m, True, [(1, True)])


def rows():
    """Windows of a transformer: an image has several rows."""
    m = Model("rows")
    x = m.input("x", floats(IMAGES, 8, 16))
    x = m.node("MatMul", [x, m.constant(floats(16, 16))])
    x = m.node("Reshape", [x, m.constant(np.array([2 * IMAGES, 4, 16]))])
    s = m.node("MatMul", [x, m.node("Transpose", [x], perm=[0, 2, 1])])
    x = m.node("MatMul", [m.node("Softmax", [s], axis=-1), x])
    x = m.node("Reshape", [x, m.constant(np.array([IMAGES, 8, 16]))])
    m.output(m.node("LayerNormalization", [
        x, m.constant(floats(16)), m.constant(floats(16))]))
    check(m, True)


def mixed():
    """What needs several images ends the loop, or leaves none."""
    def model(name, *nodes):
        m = Model(name)
        x = conv(m, m.input("x", floats(IMAGES, 4, 6, 6)), 4, 4)
        x = m.node("Relu", [conv(m, x, 4, 4)])
        return m, x

    m, x = model("sum")
    s = m.node("ReduceSum", [x, m.constant(np.array([0]))], keepdims=1)
    m.output(m.node("Add", [conv(m, m.node("Sub", [x, s]), 4, 4), x]))
    check(m, True, [(1, True)])
    m, x = model("views")
    y = m.node("Reshape", [x, m.constant(np.array([1, -1, 6, 6]))])
    m.output(m.node("MaxPool", [y], kernel_shape=[2, 2]))
    z = m.node("Transpose", [x], perm=[1, 0, 2, 3])
    m.output(m.node("Softmax", [m.node("Flatten", [z], axis=1)], axis=1))
    check(m, True, [(1, True)])
    m, x = model("images")
    x = m.node("CumSum", [x, m.constant(np.array(0))])
    order = m.constant(np.array([3, 1, 0, 2, 5, 4]))
    x = m.node("Gather", [x, order], axis=0)
    m.output(m.node("Add", [x, m.constant(floats(IMAGES, 4, 6, 6))]))
    check(m, True, [(1, True)])
    m = Model("softmax")
    x = m.input("x", floats(IMAGES, 4))
    m.output(m.node("Softmax", [x], axis=0))
    check(m, False, [(1, False)])
    m = Model("first")
    x = m.node("ReduceMean", [m.input("x", floats(IMAGES, 4, 6, 6)),
                              m.constant(np.array([0]))], keepdims=1)
    m.output(m.node("Relu", [conv(m, x, 4, 4)]))
    check(m, False, [(1, False)])


def weights():
    """Products whose weights are read once per image keep the batch in the
    kernel, unless memory is what counts."""
    m = Model("weights")
    x = m.input("x", floats(IMAGES, 64))
    for _ in range(3):
        x = m.node("Relu", [m.node("MatMul", [x, m.constant(
            floats(64, 64))])])
    m.output(x)
    check(m, True, [(1, False)])


def quantized():
    m = Model("quantized")
    zero = np.uint8(120)
    x = m.input("x", floats(IMAGES, 4, 8, 8))
    x = m.quantized(x, 0.02, zero)[1]
    for _ in range(2):
        w = m.dequantized(rng.integers(-100, 100, (4, 4, 3, 3)).astype("i1"),
                          0.01)
        y = m.node("Relu", [m.node("Conv", [x, w], pads=[1] * 4)])
        x = m.quantized(m.node("Add", [x, y]), 0.03, zero)[1]
    x = m.quantized(m.node("GlobalAveragePool", [x]), 0.02, zero)[1]
    m.output(m.node("Flatten", [x]))
    check(m, True, [(1, True)])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
