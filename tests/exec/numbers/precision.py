#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--precision: weights of products are stored in bfloat16 or float16 and sums are of
float32, so that the results are those of weights rounded to that type."""
import os
import re
import sys

import numpy
import onnx
from onnx import helper as make
from onnx import numpy_helper

import helper

TARGET = sys.argv[1]
RNG = numpy.random.default_rng(5)


def weights(*shape):
    return RNG.standard_normal(shape).astype(numpy.float32)


def rounded(w, kind):
    """w rounded to the nearest number of the type, of two to the even one."""
    if kind == "f16":
        return w.astype(numpy.float16).astype(numpy.float64)
    bits = w.view(numpy.uint32)
    bits = bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000
    return bits.view(numpy.float32).astype(numpy.float64)


TABLE, CONV, DEPTHWISE = weights(50, 16), weights(32, 16, 1, 1), weights(32, 1, 3, 3)
PRODUCT, TRANSPOSED, BIAS = weights(32, 40), weights(24, 40), weights(24)
LARGE = weights(24, 32)
LARGE[3, 5] = 1e5  # beyond float16, which must not make it infinite
INITIALIZERS = {"table": TABLE, "conv": CONV, "depthwise": DEPTHWISE,
                "product": PRODUCT, "transposed": TRANSPOSED, "bias": BIAS,
                "large": LARGE}
INDEX = RNG.integers(0, 50, (1, 5, 7)).astype(numpy.int64)


def model():
    nodes = [
        make.make_node("Gather", ["table", "index"], ["rows"]),
        make.make_node("Transpose", ["rows"], ["image"], perm=[0, 3, 1, 2]),
        make.make_node("Conv", ["image", "conv"], ["wide"]),
        make.make_node("Conv", ["wide", "depthwise"], ["deep"], group=32,
                       pads=[1, 1, 1, 1]),
        make.make_node("Transpose", ["deep"], ["back"], perm=[0, 2, 3, 1]),
        make.make_node("Reshape", ["back", "shape"], ["flat"]),
        make.make_node("MatMul", ["flat", "product"], ["more"]),
        make.make_node("Gemm", ["more", "transposed", "bias"], ["few"], transB=1),
        make.make_node("MatMul", ["few", "large"], ["y"]),
    ]
    graph = make.make_graph(
        nodes, "narrow",
        [make.make_tensor_value_info("index", onnx.TensorProto.INT64, INDEX.shape)],
        [make.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [35, 32])],
        [*(numpy_helper.from_array(w, name) for name, w in INITIALIZERS.items()),
         numpy_helper.from_array(numpy.array([35, 32]), "shape")])
    made = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def expected(kind):
    """In float64, of weights rounded to `kind`."""
    image = rounded(TABLE, kind)[INDEX]
    wide = numpy.pad(image @ rounded(CONV, kind)[:, :, 0, 0].T,
                     ((0, 0), (1, 1), (1, 1), (0, 0)))
    depthwise = rounded(DEPTHWISE, kind)
    deep = sum(wide[:, i:i + 5, j:j + 7] * depthwise[:, 0, i, j]
               for i in range(3) for j in range(3))
    more = deep.reshape(35, 32) @ rounded(PRODUCT, kind)
    few = more @ rounded(TRANSPOSED, kind).T + BIAS
    return few @ (LARGE if kind == "f16" else rounded(LARGE, kind))


FOLDER = helper.work_folder()
MODEL = os.path.join(FOLDER, "narrow.onnx")
onnx.save(model(), MODEL)
for KIND in "bf16", "f16":
    DATA = os.path.join(FOLDER, KIND + ".npz")
    numpy.savez(DATA, index=INDEX, y=expected(KIND).astype(numpy.float32))
    # the tolerance of float32: sums are not of the narrow type
    helper.tirc("test", MODEL, DATA, "--precision", KIND, "--target", TARGET,
                "--rtol", "1e-4", "--atol", "1e-1" if KIND == "f16" else "1e-3")
    OUT = os.path.join(FOLDER, KIND)
    helper.tirc("compile", MODEL, "-o", OUT, "--precision", KIND, "--target", TARGET,
                "--weights", "c")
    with open(os.path.join(OUT, "narrow_weights.c"), encoding="utf-8") as file:
        NARROW = re.findall(r"^const uint16_t (\w+)", file.read(), re.M)
    # large fits bfloat16 alone
    assert len(NARROW) == (6 if KIND == "bf16" else 5), NARROW


def small_channels(op, axis, **attributes):
    """A product whose weights have, at one place of the axis, numbers that float16
    stores with few digits. Returns the number of arrays of narrow weights."""
    w = weights(32, 32)
    w[(3, slice(None)) if axis == 0 else (slice(None), 3)] *= 1e-7
    graph = make.make_graph(
        [make.make_node(op, ["x", "w"], ["y"], **attributes)], "small",
        [make.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (2, 32))],
        [make.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (2, 32))],
        [numpy_helper.from_array(w, "w")])
    path = os.path.join(FOLDER, "small.onnx")
    made = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
    made.ir_version = 8
    onnx.save(made, path)
    out = os.path.join(helper.work_folder(), "small")
    helper.tirc("compile", path, "-o", out, "--precision", "f16", "--target", TARGET)
    with open(os.path.join(out, "small_weights.c"), encoding="utf-8") as file:
        return len(re.findall(r"^const uint16_t", file.read(), re.M))


# The small numbers are an output's column, or a part of all outputs.
for OP, AXIS, ATTRIBUTES, COUNT in (
        ("MatMul", 1, {}, 0), ("MatMul", 0, {}, 1), ("Gemm", 1, {}, 0),
        ("Gemm", 0, {"transB": 1}, 0), ("Gemm", 1, {"transB": 1}, 1)):
    assert small_channels(OP, AXIS, **ATTRIBUTES) == COUNT, (OP, AXIS, ATTRIBUTES)


def in_bodies():
    """The square of a matrix times x as the iterations of a Loop, then one product more,
    with x + x or with -x, in the branches of an If."""
    of = onnx.TensorProto

    def info(name, kind=of.FLOAT, shape=(1, 32)):
        return make.make_tensor_value_info(name, kind, shape)

    def branch(op, inputs):
        return make.make_graph(
            [make.make_node(op, inputs, ["s"]), make.make_node("MatMul", ["s", "w"], ["t"])],
            op, [], [info("t")])

    state = [info("i", of.INT64, ()), info("c", of.BOOL, ())]
    step = make.make_graph(
        [make.make_node("MatMul", ["s", "w"], ["t"]), make.make_node("Identity", ["c"], ["d"])],
        "step", [*state, info("s")], [info("d", of.BOOL, ()), info("t")])
    graph = make.make_graph(
        [make.make_node("Loop", ["two", "", "x"], ["squared"], body=step),
         make.make_node("If", ["c"], ["y"], then_branch=branch("Add", ["squared", "squared"]),
                        else_branch=branch("Neg", ["squared"]))],
        "bodies", [info("x"), info("c", of.BOOL, ())], [info("y")],
        [numpy_helper.from_array(SQUARE, "w"),
         numpy_helper.from_array(numpy.array(2), "two")])
    made = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
    made.ir_version = 8
    return made


# Branches and loops convert weights in their products, too: no kernel stores them.
SQUARE = weights(32, 32)
MODEL = os.path.join(FOLDER, "bodies.onnx")
onnx.save(in_bodies(), MODEL)
X = weights(1, 32)
for CONDITION in True, False:
    DATA = os.path.join(FOLDER, "bodies.npz")
    Y = X @ numpy.linalg.matrix_power(rounded(SQUARE, "bf16"), 3) * (2 if CONDITION else -1)
    numpy.savez(DATA, x=X, c=numpy.array(CONDITION), y=Y.astype(numpy.float32))
    helper.tirc("test", MODEL, DATA, "--precision", "bf16", "--target", TARGET,
                "--rtol", "1e-4", "--atol", "1e-2")
OUT = os.path.join(FOLDER, "bodies")
helper.tirc("compile", MODEL, "-o", OUT, "--precision", "bf16", "--target", TARGET)
with open(os.path.join(OUT, "bodies.h"), encoding="utf-8") as file:
    BYTES = int(re.search(r"BODIES_WORKSPACE_BYTES \(?(\d+)", file.read()).group(1))
assert BYTES < 32 * 32 * 2, BYTES
