#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The differences that `tirc test` accepts. Of integers: one step where reals
were quantized, be the result moved or dequantized afterwards, and nothing else. Of floats: an error relative
to each element, and a small part of the terms that it is the sum of; a large
element excuses nothing beside it."""
import os

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper


def run_test(model, *options, status):
    """The comparison is what is tested: no target but the quickest."""
    helper.tirc("test", model, "--target", "c99", *helper.STRICT_C,
                *options, status=status)


X = numpy.array([[-3.0, 0.26, 5.0], [7.5, -0.74, 100.0]], numpy.float32)
STEPS = numpy.rint(X / numpy.float32(0.5)).clip(-128, 127).astype(numpy.int8)


def value_info(name, x):
    return make.make_tensor_value_info(
        name, make.np_dtype_to_tensor_dtype(x.dtype), x.shape)


def write(nodes, inputs, result, more=(), others=()):
    """The folder of a model that gives y as `result`, and `others`, pairs of a name
    and an array, as outputs behind y."""
    folder = helper.work_folder()
    constants = [numpy_helper.from_array(numpy.float32(0.5), "scale"),
                 numpy_helper.from_array(numpy.int8(0), "zero"), *more]
    graph = make.make_graph(
        nodes, "g",
        [value_info(*pair) for pair in inputs],
        [value_info(*pair) for pair in [("y", result), *others]],
        constants)
    model = make.make_model(graph,
                            opset_imports=[make.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, os.path.join(folder, "model.onnx"))
    os.mkdir(os.path.join(folder, "test_data_set_0"))
    for i, (_, x) in enumerate(inputs):
        onnx.save_tensor(numpy_helper.from_array(x), os.path.join(
            folder, "test_data_set_0", "input_%d.pb" % i))
    return folder


def check(what, nodes, inputs, result, steps, step=1):
    """`steps` of size `step` by which y may differ, and no more."""
    folder = write(nodes, inputs, result)
    for off in range(3):
        y = result.copy()
        y.flat[0] += off * step
        onnx.save_tensor(numpy_helper.from_array(y), os.path.join(
            folder, "test_data_set_0", "output_0.pb"))
        model = os.path.join(folder, "model.onnx")
        run_test(model, status=0 if off <= steps else 1)
        run_test(model, "--atol", "0",
                    status=0 if off == 0 else 1)


QUANTIZE = ["x", "scale", "zero"]
check("quantized", [make.make_node("QuantizeLinear", QUANTIZE, ["y"])],
      [("x", X)], STEPS, 1)
check("quantized and moved",
      [make.make_node("QuantizeLinear", QUANTIZE, ["q"]),
       make.make_node("Transpose", ["q"], ["t"], perm=[1, 0]),
       make.make_node("Flatten", ["t"], ["y"], axis=0)],
      [("x", X)], STEPS.T.reshape(1, 6).copy(), 1)
check("dequantized",
      [make.make_node("QuantizeLinear", QUANTIZE, ["q"]),
       make.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"])],
      [("x", X)], STEPS.astype(numpy.float32) * numpy.float32(0.5), 1, 0.5)
check("moved", [make.make_node("Transpose", ["x"], ["y"], perm=[1, 0])],
      [("x", STEPS)], STEPS.T.copy(), 0)
check("computed", [make.make_node("Add", ["x", "x"], ["y"])],
      [("x", STEPS // 2)], STEPS // 2 * 2, 0)
check("quantized and computed",
      [make.make_node("QuantizeLinear", QUANTIZE, ["q"]),
       make.make_node("Neg", ["q"], ["y"])],
      [("x", X)], -STEPS, 0)


def refuses(what, kind, result, expected, *options, status=1):
    """A model that gives `result` by a node that only moves it, and data that
    expect something else."""
    result, expected = (numpy.array(v, kind) for v in (result, expected))
    folder = write([make.make_node("Identity", ["x"], ["y"])],
                   [("x", result)], result)
    onnx.save_tensor(numpy_helper.from_array(expected), os.path.join(
        folder, "test_data_set_0", "output_0.pb"))
    print(what, kind)
    run_test(os.path.join(folder, "model.onnx"), *options,
                status=status)

def accepts(what, kind, result, expected, *options):
    refuses(what, kind, result, expected, *options, status=0)


for KIND in "float32", "float64", "float16":
    refuses("beside a large one", KIND, [0.1, 30000], [2.9, 30000])
    refuses("beside large ones", KIND, [2.8] + [30000] * 9,
            [2.9] + [30000] * 9)
    refuses("probabilities", KIND, [2e-4, 3e-4, 1e-4], [3e-4, 2e-4, 1e-4])
    refuses("infinity", KIND, [1, numpy.inf], [1, 6e4])
    refuses("infinity", KIND, [1, 6e4], [1, numpy.inf])
    refuses("NaN", KIND, [1, numpy.nan], [1, 1])
    accepts("the same", KIND, [1, numpy.nan, numpy.inf, -numpy.inf],
            [1, numpy.nan, numpy.inf, -numpy.inf])
    refuses("given", KIND, [1, 1.02], [1, 1], "--rtol", "1e-2", "--atol",
            "1e-3")
    accepts("given", KIND, [1, 1.02], [1, 1], "--rtol", "1e-2", "--atol",
            "2e-2")
accepts("relative", "float32", [1.00005, 1e-9], [1, 0])
refuses("relative", "float32", [1.0005, 1e-9], [1, 0])


def cancelled(kind, off, *options, status):
    """Two sums, of which one cancels; the expected one is `off` from it."""
    x = numpy.array([[1000, -999, 0.5], [1, 2, 3]], kind)
    y = x.sum(1)
    folder = write([make.make_node("ReduceSum", ["x", "axes"], ["y"],
                                   keepdims=0)], [("x", x)], y,
                   [numpy_helper.from_array(numpy.array([1]), "axes")])
    onnx.save_tensor(numpy_helper.from_array(
        (y + numpy.array([off, 0])).astype(kind)), os.path.join(
            folder, "test_data_set_0", "output_0.pb"))
    print("cancelled", kind, off)
    run_test(os.path.join(folder, "model.onnx"), *options,
                status=status)

cancelled("float32", 2e-3, status=0)
cancelled("float32", 0.2, status=1)
cancelled("float16", 0.5, status=0)
cancelled("float16", 20, status=1)
cancelled("float32", 2e-3, "--atol", "1e-7", status=1)
# The two round to the same double.
refuses("large integers", "int64", [2 ** 62 + 1], [2 ** 62])
refuses("large integers", "uint64", [2 ** 63 + 1], [2 ** 63])


def two_outputs():
    """y cancels and is near; z, a float of an integer, is wrong: more runs, of a
    program with factors, are for z alone."""
    x = numpy.array([[1000, -999, 0.5], [1, 2, 3]], numpy.float32)
    k = numpy.array([3, 4])
    y, z = x.sum(1), k.astype(numpy.float32) * numpy.float32(0.5)
    folder = write(
        [make.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0),
         make.make_node("Cast", ["k"], ["f"], to=TensorProto.FLOAT),
         make.make_node("Mul", ["f", "scale"], ["z"])],
        [("x", x), ("k", k)], y,
        [numpy_helper.from_array(numpy.array([1]), "axes")], [("z", z)])
    y[0] += numpy.float32(2e-3)
    z[1] += 1
    for i, want in enumerate([y, z]):
        onnx.save_tensor(numpy_helper.from_array(want), os.path.join(
            folder, "test_data_set_0", "output_%d.pb" % i))
    done = helper.tirc("test", os.path.join(folder, "model.onnx"), "--target", "c99",
                       *helper.STRICT_C, status=1)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok"), done.stdout
    assert lines[1].startswith("FAIL"), done.stdout


two_outputs()
