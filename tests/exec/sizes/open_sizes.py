#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model of open sizes on a user's first tries: sizes from the data, or options to
copy; random inputs of three sizes; data beside which lie the expected results; an
array that is too large."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper

FOLDER = helper.work_folder()
RNG = np.random.default_rng(5)
W = RNG.standard_normal((3, 2)).astype(np.float32)


def path(*names):
    return os.path.join(FOLDER, *names)


def save(name, nodes, inputs, constants):
    """inputs: shapes by name; the result is y [any, 2]."""
    graph = make.make_graph(
        nodes, "g",
        [make.make_tensor_value_info(n, TensorProto.FLOAT, shape)
         for n, shape in inputs.items()],
        [make.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        constants)
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
    model.ir_version = 8
    os.makedirs(path(name))
    onnx.save(model, path(name, "model.onnx"))
    return path(name, "model.onnx")


def check(what, *arguments, says, never=(), status=0, build=True):
    more = ["--target", "c99", *helper.STRICT_C] if build else []
    done = helper.tirc(*arguments, *more, status=status)
    out = done.stdout + done.stderr
    print("%s:\n%s" % (what, out))
    for text in says:
        if text not in out:
            sys.exit("%s: does not say: %s" % (what, text))
    for text in never:
        if text in out:
            sys.exit("%s: says: %s" % (what, text))


def data(name, n):
    x = RNG.standard_normal((n, 3)).astype(np.float32)
    np.savez(path(name), x=x, y=x @ W)
    return path(name)


MODEL = save("product", [make.make_node("MatMul", ["x", "w"], ["y"])],
             {"x": ["frames", 3]}, [numpy_helper.from_array(W, "w")])
SMALL, LARGE = data("small.npz", 7), data("large.npz", 501)

check("a size that often varies", "compile", MODEL, "-o", path("out"),
      status=1, build=False,
      says=["for example: --dim frames=1..256  or  --dim frames=256"])

check("one data set", "test", MODEL, SMALL,
      says=["those of the data: --dim frames=7; tirc compile writes the "
            "same source only with these sizes\n", "ok    small.npz  y"])
check("two of them", "test", MODEL, SMALL, LARGE,
      says=["--dim frames=7..501; ", "2 of 2 data sets passed"])
check("a size that is given", "test", MODEL, SMALL, "--dim", "frames=1..9",
      says=["ok    small.npz"], never=["those of the data"])
check("an option", "test", MODEL, "--input", SMALL, "--expect", SMALL,
      says=["--dim frames=7; tirc compile writes the "
            "same source only with these sizes\n", "ok    --expect  y"])
check("results beside the inputs", "run", MODEL, "--input", SMALL,
      says=["--dim frames=7; tirc compile writes the "
            "same source only with these sizes\n", "y  float32 [7, 2]"])
# An array of an archive without dimensions, beside one that has them.
SCALED = save("scaled", [make.make_node("Mul", ["x", "s"], ["y"])],
              {"x": ["frames", 3], "s": []}, [])
np.savez(path("scaled.npz"), x=np.ones((7, 3), np.float32), s=np.float32(2),
         y=np.full((7, 3), 2, np.float32))
check("a scalar", "test", SCALED, path("scaled.npz"),
      says=["--dim frames=7; tirc compile writes the "
            "same source only with these sizes\n", "ok    scaled.npz  y"])
check("too large", "test", MODEL, LARGE, "--dim", "frames=1..500", status=1,
      says=["input 'x': frames = 501, but frames is 1..500; give --dim "
            "frames=1..501"], never=["elements"])
check("too small", "run", MODEL, "--input", SMALL, "--dim", "frames=8..500",
      status=1, says=["frames = 7, but frames is 8..500; give --dim "
                      "frames=7..500"])
os.makedirs(path("product", "test_data_set_0"))
X = np.load(SMALL)["x"]
for kind, array in (("input", X), ("output", X @ W)):
    onnx.save_tensor(numpy_helper.from_array(array), path(
        "product", "test_data_set_0", kind + "_0.pb"))
# Where tirc compile assumes a size of 1, its source is another one.
BATCH = save("batches", [make.make_node("MatMul", ["x", "w"], ["y"])],
             {"x": ["batch", 3]}, [numpy_helper.from_array(W, "w")])
check("a size that compile assumes", "test", BATCH, SMALL, LARGE,
      says=["--dim batch=7..501; tirc compile writes the same source only with "
            "these sizes\n", "2 of 2 data sets passed"])
ONE = data("one.npz", 1)
check("the size that compile assumes", "test", BATCH, ONE,
      says=["--dim batch=1\n", "1 of 1 data set passed"], never=["same source"])
check("a folder beside the model", "test", MODEL,
      says=["--dim frames=7; tirc compile writes the "
            "same source only with these sizes\n", "ok    test_data_set_0  y"])

# Random inputs, where no data lie beside the model.
WINDOW = save("window", [
    make.make_node("Conv", ["x", "k"], ["c"]),
    make.make_node("ReduceMean", ["c"], ["y"], axes=[2, 3], keepdims=0)],
    {"x": [1, 1, "rows", 8]},
    [numpy_helper.from_array(RNG.standard_normal((2, 1, 5, 5)).astype(
        np.float32), "k")])
check("three sizes", "test", WINDOW, "--dim", "rows=6..40",
      says=["three runs, at the largest sizes, the smallest and between",
            "ok    random inputs, rows = 40  y",
            "ok    random inputs, rows = 6  y",
            "ok    random inputs, rows = 23  y", "random inputs passed"])
check("multiples", "test", WINDOW, "--dim", "rows=8..40:8",
      says=["rows = 40  y", "rows = 8  y", "rows = 24  y"])
check("a size that the model does not take", "test", WINDOW, "--dim",
      "rows=1..40",
      says=["rows = 40  y", "note: the model is not run with rows = 1, "
            "because it cannot have these sizes: ", "rows = 20  y", "random inputs passed"])

# Positions that leave a table of 5 rows for sizes that the options allow.
POSITIONS = save("positions", [
    make.make_node("Shape", ["x"], ["shape"]),
    make.make_node("Gather", ["shape", "first"], ["n"]),
    make.make_node("Range", ["zero", "n", "one"], ["at"]),
    make.make_node("Add", ["at", "one"], ["next"]),
    make.make_node("Gather", ["rows", "next"], ["p"]),
    make.make_node("MatMul", ["x", "w"], ["product"]),
    make.make_node("Add", ["product", "p"], ["y"])],
    {"x": ["frames", 3]}, [
        numpy_helper.from_array(W, "w"),
        numpy_helper.from_array(np.ones((5, 2), np.float32), "rows"),
        *(numpy_helper.from_array(np.int64(v), n)
          for n, v in [("first", 0), ("zero", 0), ("one", 1)])])
LEAVES = "indices beyond are taken modulo 5"
check("positions within", "compile", POSITIONS, "-o", path("out"), "--dim",
      "frames=1..4", build=False, says=[], never=[LEAVES])
for sizes, remedy in [("1..6", "--dim frames=1..4 excludes them"),
                      ("6", "give smaller sizes to exclude them")]:
    check("positions beyond", "compile", POSITIONS, "-o", path("out"), "--dim",
          "frames=" + sizes, build=False,
          says=["the largest sizes give indices up to 6, but 'rows' has 5: "
                + LEAVES, remedy])
