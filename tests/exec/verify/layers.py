#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc test --layers` names the first node whose result is wrong: in a dialect
with a mistake in one function, in a kernel of several nodes that was edited, and
beside arrays of a file of which one is wrong."""
import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper

FOLDER = helper.work_folder()
RNG = np.random.default_rng(3)
X = RNG.standard_normal((4, 16)).astype(np.float32)
W = [RNG.standard_normal(s).astype(np.float32)
     for s in ((16, 24), (24,), (24, 8))]


def path(*names):
    return os.path.join(FOLDER, *names)


def put(name, text):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)
    return path(name)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# The file has the nodes in this order: Relu is the last of one kernel.
NODES = [("MatMul", "first", ["x", "w0"], "a", lambda x: x @ W[0]),
         ("Add", "", ["a", "w1"], "b", lambda a: a + W[1]),
         ("Tanh", "", ["b"], "c", np.tanh),
         ("Relu", "", ["c"], "d", lambda c: np.maximum(c, 0)),
         ("MatMul", "second", ["d", "w2"], "e", lambda d: d @ W[2]),
         ("Softmax", "", ["e"], "y", softmax)]
VALUES = {"x": X}
for op, _, inputs, result, compute in NODES:
    VALUES[result] = np.float32(compute(
        VALUES[inputs[0]].astype(np.float64)))


def save_model(name, rows=4, data=True):
    graph = make.make_graph(
        [make.make_node(op, inputs, [result], name=node)
         for op, node, inputs, result, _ in NODES], "g",
        [make.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 16])],
        [make.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 8])],
        [numpy_helper.from_array(w, "w%d" % i) for i, w in enumerate(W)])
    model = make.make_model(graph,
                            opset_imports=[make.make_opsetid("", 17)])
    model.ir_version = 8
    os.makedirs(path(name, "test_data_set_0" if data else ""))
    onnx.save(model, path(name, "model.onnx"))
    if data:
        onnx.save_tensor(numpy_helper.from_array(X),
                         path(name, "test_data_set_0", "input_0.pb"))
    return path(name, "model.onnx")


def layers(what, *arguments, status, says, target="c99", model=None):
    out = helper.tirc("test", model or MODEL, "--target", target, *arguments,
                      status=status)
    out = out.stdout + out.stderr
    print("%s:\n%s" % (what, out))
    for text in says:
        if text not in out:
            sys.exit("%s: does not say: %s" % (what, text))


def refused(*command):
    """The verb ends with one error, before the interpreter reads an input that is
    too short."""
    out = helper.tirc(*command, status=2 if command[0] == "bisect" else 1)
    said = "error: input 'x' is float32 [4,16]; the file has float32 [1,1]"
    if out.stderr.count("error: ") != 1 or said not in out.stderr:
        sys.exit("%s: %s%s" % (" ".join(command), out.stdout, out.stderr))


def archive(name, **changes):
    values = {k: v for k, v in {**VALUES, **changes}.items() if v is not None}
    np.savez(path(name), **values)
    return "--layers=" + path(name)


MODEL = save_model("fixed")
CC = helper.STRICT_C
layers("nothing is wrong", "--layers", *CC, status=0,
       says=["no result of the 6 nodes deviates from the interpreter"])
layers("symbolic sizes", "--layers", "--dim", "n=1..8", *CC, status=0,
       says=["no result of the 6 nodes deviates from the interpreter"],
       model=save_model("symbolic", "n"))
layers("a file", archive("right.npz"), *CC, status=0,
       says=["no result of the 6 nodes deviates from", "right.npz"])
wrong = VALUES["d"].copy()
wrong[2, 5] += 1e-3
layers("a wrong array", archive("wrong.npz", d=wrong), *CC, status=1,
       says=["FAIL  test_data_set_0  node 4 of 6, Relu  d  ",
             "1 of 96 beyond, worst at [2,5]: "])
layers("two wrong arrays", archive("two.npz", y=VALUES["y"] + 1, b=wrong),
       *CC, status=1, says=["node 2 of 6, Add  b  ", "1 later node:"])
layers("some arrays", archive("some.npz", a=None, b=None, c=None, d=wrong),
       *CC, status=1, says=["node 4 of 6, Relu  d  "])
layers("no array", archive("none.npz", **{
    k: None for k in VALUES if k != "x"}), *CC, status=1,
       says=["no array has the name of a node's result",
             "the first one of the model is 'a'"])
np.savez(path("inputs.npz"), x=X)
layers("inputs of a file", path("inputs.npz"), "--layers", *CC, status=0,
       says=["ok    inputs.npz  "])
np.savez(path("others.npz"), x=-X)
layers("results for other inputs", path("others.npz"),
       "--layers=" + path("right.npz"), *CC, status=1,
       says=["FAIL  others.npz  node 1 of 6, ", "so do all other results: has ",
             "right.npz the results for these inputs?"])
np.save(path("x.npy"), X)
layers("inputs of an option", "--layers=" + path("right.npz"), "--input",
       "x=" + path("x.npy"), *CC, status=0, model=save_model("bare", data=False),
       says=["ok    --input  ", "right.npz"])

# A function of a dialect is wrong for some arguments.
put("tirc/faulty/dialect.json", json.dumps({
    "extends": "c99", "description": "a wrong tanh",
    "expressions": {"tanh": {
        "f32": {"call": "faulty_tanh", "needs": ["faulty.h"]},
        "float": {"call": "tanh{{math}}", "needs": ["math.h"]}}}}))
put("tirc/faulty.json", json.dumps({
    "description": "a wrong tanh", "dialect": "faulty",
    "stack_limit_bytes": 16384, "align_bytes": 16, "cc": "cc",
    "cflags": "-std=c99 -O1 -I" + path("include")}))
put("include/faulty.h", """#include <math.h>
static inline float faulty_tanh(float x)
{
	return x > 2.0f ? tanhf(x) * 1.01f : tanhf(x);
}
""")
layers("a wrong function", "--layers", "--dialect-path", path("tirc"), status=1,
       target="faulty", says=["node 3 of 6, Tanh  c  ", "beyond, worst at [",
                              "later nodes: see this one first"])
layers("quiet", "--layers", "--dialect-path", path("tirc"), "-q",
       status=1, target="faulty", says=["node 3 of 6, Tanh  c  "])

# A kernel of several nodes was edited.
kernels = helper.tirc("lower", "--from-onnx", MODEL, "--target", "c99").stdout
kernel = next(line.split()[0] for line in kernels.splitlines()
              if "Relu" in line or "relu" in line)
script = helper.tirc("lower", "--from-onnx", MODEL, "--target", "c99",
                     "--kernel", kernel, "--unscheduled").stdout
edited = script.replace("tanh(", "sigmoid(", 1)
if edited == script:
    sys.exit("no tanh in\n" + script)
layers("an edited kernel", "--layers", *CC, "--schedule-for", "%s=%s" % (
    kernel, put("edited/kernel.py", edited)), status=1,
       says=["node 4 of 6, Relu, in kernel " + kernel, "  d  ",
             "each node by itself is right"])
SHORT = os.path.dirname(save_model("short"))
onnx.save_tensor(numpy_helper.from_array(X[:1, :1]),
                 os.path.join(SHORT, "test_data_set_0", "input_0.pb"))
onnx.save_tensor(numpy_helper.from_array(VALUES["y"]),
                 os.path.join(SHORT, "test_data_set_0", "output_0.pb"))
for verb in "test", "bisect":
    refused(verb, os.path.join(SHORT, "model.onnx"), "--target", "c99", *CC,
            *["--layers"][verb != "test":])
