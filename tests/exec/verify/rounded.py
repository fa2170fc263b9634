#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The differences that `tirc test --precision` accepts: those that follow from what
it rounds, weights and on x86-64-bf16 also what they multiply, whatever the inputs
are. The expected results are those of unrounded weights, in float64."""
import os

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper

RNG = numpy.random.default_rng(3)
FOLDER = helper.work_folder()
TARGETS = {"c99": helper.STRICT_C,
           "x86-64-bf16": ["--cflags", "-std=gnu11 -O1 -DTIRC_ANY_PROCESSOR -Wno-psabi"]}


def floats(*shape):
    return RNG.standard_normal(shape).astype(numpy.float32)


def save(name, nodes, x, y, constants):
    def info(key, value):
        return make.make_tensor_value_info(key, TensorProto.FLOAT, value.shape)

    graph = make.make_graph(
        nodes, name, [info("x", x)], [info("y", y)],
        [numpy_helper.from_array(value, key) for key, value in constants.items()])
    made = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
    made.ir_version = 8
    path = os.path.join(FOLDER, name + ".onnx")
    onnx.save(made, path)
    return path


def check(path, x, y, status, *options, precisions=("bf16", "f16"), targets=TARGETS):
    data = os.path.join(FOLDER, "data.npz")
    numpy.savez(data, x=x, y=y.astype(numpy.float32))
    for target in targets:
        for precision in precisions:
            print(os.path.basename(path), target, precision)
            done = helper.tirc("test", path, data, "--target", target, "--precision",
                               precision, *TARGETS[target], *options, status=status)
            print(done.stdout)


def scale(x, w):
    """The size of the sums of products x @ w, if their terms do not cancel."""
    return numpy.sqrt((x.astype(float) ** 2) @ (w.astype(float) ** 2))


def zeros():
    """Inputs of zeros, which a part of themselves does not change: y is a sum of the
    biases by rounded weights."""
    w = {"w1": floats(32, 64), "bias": floats(64), "w2": floats(64, 256)}
    x = numpy.zeros([1, 32], numpy.float32)
    y = w["bias"].astype(float)[None] @ w["w2"]
    path = save("zeros", [make.make_node("MatMul", ["x", "w1"], ["p"]),
                          make.make_node("Add", ["p", "bias"], ["q"]),
                          make.make_node("MatMul", ["q", "w2"], ["y"])], x, y, w)
    check(path, x, y, 0)
    y[0, 5] += scale(w["bias"], w["w2"])[5]
    check(path, x, y, 1)


def mean():
    """A mean of products by the same weights. What independent changes of the input
    do to it is small; what the rounding of a weight does is not."""
    w = {"w": floats(64, 512)}
    x = RNG.random([2048, 64], numpy.float32)
    y = x.mean(0, numpy.float64) @ w["w"]
    path = save("mean", [make.make_node("MatMul", ["x", "w"], ["p"]),
                         make.make_node("ReduceMean", ["p"], ["y"], axes=[0],
                                        keepdims=0)], x, y, w)
    check(path, x, y, 0)
    y[7] += scale(x.mean(0), w["w"])[7]
    check(path, x, y, 1)


def exact_terms():
    """x0 - x1 cancels, but neither is rounded: their size excuses nothing."""
    w = {"w": floats(32, 32), "ends": numpy.array([32, 64]),
         "more": numpy.array([64, 96]), "axes": numpy.array([1]),
         "zero": numpy.array([0])}
    x = numpy.concatenate([floats(4, 32), 1000 + floats(4, 32), 1000 + floats(4, 32)],
                          1).astype(numpy.float32)
    y = x[:, :32].astype(float) @ w["w"] + (x[:, 32:64].astype(float) - x[:, 64:])
    path = save("exact_terms", [
        make.make_node("Slice", ["x", "zero", "first", "axes"], ["a"]),
        make.make_node("Slice", ["x", "first", "second", "axes"], ["b"]),
        make.make_node("Slice", ["x", "second", "third", "axes"], ["c"]),
        make.make_node("MatMul", ["a", "w"], ["p"]),
        make.make_node("Sub", ["b", "c"], ["d"]),
        make.make_node("Add", ["p", "d"], ["y"])], x, y,
        {"w": w["w"], "axes": w["axes"], "zero": w["zero"],
         "first": numpy.array([32]), "second": numpy.array([64]),
         "third": numpy.array([96])})
    check(path, x, y, 0)
    y[2, 3] += 2 * scale(x[:, :32], w["w"])[2, 3]
    check(path, x, y, 1)


def in_a_loop():
    """Rounded weights in the body of a loop: x @ w @ w @ w."""
    row = [1, 64]

    def info(key, shape, kind=TensorProto.FLOAT):
        return make.make_tensor_value_info(key, kind, shape)

    step = make.make_graph(
        [make.make_node("MatMul", ["s", "w"], ["t"]),
         make.make_node("Identity", ["c"], ["d"])], "step",
        [info("i", (), TensorProto.INT64), info("c", (), TensorProto.BOOL),
         info("s", row)], [info("d", (), TensorProto.BOOL), info("t", row)])
    w = floats(64, 64) / 8
    x = floats(*row)
    y = numpy.linalg.matrix_power(w.astype(float), 3)
    size = numpy.linalg.norm(x @ y) / 8
    y = x @ y
    path = save("in_a_loop", [make.make_node("Loop", ["three", "", "x"], ["y"],
                                             body=step)], x, y,
                {"w": w, "three": numpy.array(3)})
    check(path, x, y, 0)
    y[0, 9] += size
    check(path, x, y, 1)


zeros()
mean()
exact_terms()
in_a_loop()
