#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pairs.py plain|instruction

--precision bf16 for x86-64-bf16, whose products multiply pairs of bfloat16: what
they read is rounded where it is computed, and sums are of float32. All elements are
whole numbers below 2^24, so that sums are exact in any order, and the results equal
those of sums in float64 of rounded elements. As plain C everywhere; with the
instruction where this machine has it."""
import os
import platform
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper

TARGET = "x86-64-bf16"
RNG = numpy.random.default_rng(8)
FOLDER = helper.work_folder()
if sys.argv[1] == "plain":
    OPTIONS = ["--cflags", "-std=gnu11 -O1 -DTIRC_ANY_PROCESSOR -Wno-psabi"]
elif platform.machine() == "x86_64" and "avx512_bf16" in helper.processor_features():
    OPTIONS = []
else:
    helper.skip("this processor has no products of bfloat16 (avx512_bf16)")


def whole(most, *shape):
    return RNG.integers(-most, most + 1, shape).astype(numpy.float32)


def rounded(x):
    """x rounded to the nearest bfloat16, of two to the even one."""
    bits = x.astype(numpy.float32).view(numpy.uint32)
    bits = bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000
    return bits.view(numpy.float32).astype(numpy.float64)


def info(name, shape, kind=TensorProto.FLOAT):
    return make.make_tensor_value_info(name, kind, shape)


def save(name, nodes, inputs, outputs, constants):
    graph = make.make_graph(nodes, name, inputs, outputs, [
        numpy_helper.from_array(value, key) for key, value in constants.items()])
    made = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
    made.ir_version = 8
    path = os.path.join(FOLDER, name + ".onnx")
    onnx.save(made, path)
    return path


def check(path, calls, arrays, *options):
    """The results are exact, and at least so many kernels call the instruction."""
    data = path[:-len("onnx")] + "npz"
    numpy.savez(data, **{key: value if value.dtype == bool
                         else value.astype(numpy.float32)
                         for key, value in arrays.items()})
    options = ["--precision", "bf16", *options]
    print(helper.tirc("test", path, data, *options, "--target", TARGET, "--rtol", "0",
                      "--atol", "0", *OPTIONS).stdout)
    out = helper.compile_model(path, *options, "--target", TARGET)
    text = helper.contents(out)[os.path.basename(path)[:-len("onnx")] + "c"].decode()
    found = text.count(", dot_16x2_bf16")
    if found < calls:
        helper.fail("%s: %d of %d kernels multiply pairs" % (path, found, calls))
    other = helper.compile_model(path, *options, "--target", "x86-64-vnni")
    if any(b"dot_16x2" in value for value in helper.contents(other).values()):
        helper.fail(path + ": x86-64-vnni multiplies pairs")


def products(rows):
    """Products of a matrix, of as many rows as the model is given: one after the
    other, with a second reader of what is rounded, and lanes that fill no vector."""
    w = {"w1": whole(3, 32, 48), "w2": whole(3, 48, 48), "w3": whole(3, 48, 20),
         "bias": whole(90, 48)}
    path = save("products", [
        make.make_node("MatMul", ["x", "w1"], ["p"]),
        make.make_node("Relu", ["p"], ["a"]),
        make.make_node("Gemm", ["a", "w2", "bias"], ["q"], transB=1),
        make.make_node("Add", ["q", "a"], ["s"]),
        make.make_node("MatMul", ["s", "w3"], ["y"])],
        [info("x", ["rows", 32])], [info("y", ["rows", 20])], w)
    x = whole(9, rows, 32)
    a = rounded(numpy.maximum(x @ w["w1"], 0))
    s = rounded(a @ w["w2"].T.astype(float) + w["bias"] + a)
    check(path, 3, {"x": x, "y": s @ w["w3"]}, "--dim", "rows=1..32")


def sums(x, k, stride, border):
    """A convolution."""
    x = numpy.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
    windows = numpy.lib.stride_tricks.sliding_window_view(
        x, k.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return numpy.einsum("nchwij,ocij->nohw", windows, k.astype(float))


def image():
    """Convolutions with and without borders and strides, two of one image, of both
    results side by side; then a product by rows of pixels."""
    k = {"k0": whole(2, 32, 16, 3, 3), "k1": whole(1, 32, 32, 3, 3),
         "k2": whole(1, 32, 32, 1, 1), "k3": whole(1, 48, 64, 1, 1),
         "w": whole(1, 48, 32)}
    path = save("image", [
        make.make_node("Conv", ["x", "k0"], ["p"], pads=[1] * 4),
        make.make_node("Relu", ["p"], ["a"]),
        make.make_node("Conv", ["a", "k1"], ["b"], pads=[1] * 4, strides=[2, 2]),
        make.make_node("Conv", ["a", "k2"], ["c"], strides=[2, 2]),
        make.make_node("Concat", ["b", "c"], ["d"], axis=1),
        make.make_node("Conv", ["d", "k3"], ["e"]),
        make.make_node("MaxPool", ["e"], ["f"], kernel_shape=[2, 2]),
        make.make_node("Transpose", ["f"], ["g"], perm=[0, 2, 3, 1]),
        make.make_node("Reshape", ["g", "shape"], ["h"]),
        make.make_node("MatMul", ["h", "w"], ["y"])],
        [info("x", [1, 16, 9, 9])], [info("y", [16, 32])],
        {**k, "shape": numpy.array([16, 48])})
    x = whole(3, 1, 16, 9, 9)
    a = rounded(numpy.maximum(sums(x, k["k0"], 1, 1), 0))
    d = rounded(numpy.concatenate([sums(a, k["k1"], 2, 1), sums(a, k["k2"], 2, 0)], 1))
    e = sums(d, k["k3"], 1, 0)
    f = rounded(numpy.max([e[:, :, i:4 + i, j:4 + j] for i in (0, 1) for j in (0, 1)], 0))
    y = f.transpose(0, 2, 3, 1).reshape(16, 48) @ k["w"]
    check(path, 5, {"x": x, "y": y})


def in_bodies(condition):
    """A product in a loop, of its state, and in the branches of an If."""
    row = [1, 32]

    def branch(op, inputs):
        return make.make_graph(
            [make.make_node(op, inputs, ["s"]), make.make_node("MatMul", ["s", "w"], ["t"])],
            op, [], [info("t", row)])

    step = make.make_graph(
        [make.make_node("MatMul", ["s", "w"], ["t"]), make.make_node("Identity", ["c"], ["d"])],
        "step", [info("i", (), TensorProto.INT64), info("c", (), TensorProto.BOOL),
                 info("s", row)], [info("d", (), TensorProto.BOOL), info("t", row)])
    w = whole(1, 32, 32)
    path = save("bodies", [
        make.make_node("Loop", ["two", "", "x"], ["squared"], body=step),
        make.make_node("If", ["c"], ["y"], then_branch=branch("Add", ["squared", "squared"]),
                       else_branch=branch("Neg", ["squared"]))],
        [info("x", row), info("c", (), TensorProto.BOOL)], [info("y", row)],
        {"w": w, "two": numpy.array(2)})
    x = whole(99, *row)
    s = rounded(rounded(x) @ w) @ w
    check(path, 2, {"x": x, "c": numpy.array(condition),
                    "y": rounded(2 * s if condition else -s) @ w})


for ROWS in 1, 6, 29:
    products(ROWS)
image()
for CONDITION in True, False:
    in_bodies(CONDITION)
