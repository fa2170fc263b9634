#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opsets.py [PATTERN]: operators as older and newer operator sets have them,
upgraded on import and computed from their definitions, against onnxruntime
(or numpy, where a case brings its own answer)."""
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper as make, numpy_helper

from helper import fail, skip, work_folder

try:
    import onnxruntime
except ImportError:
    skip("onnxruntime is not installed")

PROGRAM = os.environ["EVALUATE_MODEL"]
random = np.random.default_rng(7)
failures, unknown, done = [], [], 0


def f(*shape):
    return random.standard_normal(shape).astype(np.float32)


def i(*values):
    return np.array(values, np.int64)


def build(op, opset, inputs, attrs, outputs):
    names = ["i%d" % k if x is not None else "" for k, x in enumerate(inputs)]
    node = make.make_node(op, names, ["o%d" % k for k in range(outputs)],
                          name="n", **attrs)
    graph = make.make_graph(
        [node], "g", [],
        [make.make_empty_tensor_value_info(o) for o in node.output],
        [numpy_helper.from_array(x, n) for x, n in zip(inputs, names) if n])
    return make.make_model(graph, ir_version=8,
                           opset_imports=[make.make_opsetid("", opset)])


def reference(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Type and shape of outputs are asked for nowhere: let it infer them.
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options,
        providers=["CPUExecutionProvider"])
    return session.run(None, {})


def check(op, opsets, inputs, attrs=None, outputs=1, want=None):
    global done
    attrs = attrs or {}
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    for opset in opsets:
        name = "%s-%d %s" % (op, opset, attrs)
        if pattern not in name:
            continue
        model = build(op, opset, inputs, attrs, outputs)
        expected = want
        if expected is None:
            try:
                expected = reference(model)
            except Exception as problem:
                print("no reference: %s: %s" % (
                    name, str(problem).splitlines()[0][:150]))
                continue
        folder = work_folder()
        path = os.path.join(folder, "m.onnx")
        onnx.save(model, path)
        run = subprocess.run([PROGRAM, path, folder], capture_output=True,
                             text=True)
        if run.returncode == 77 or "is not supported" in run.stderr:
            unknown.append(name)
            continue
        if run.returncode != 0:
            failures.append("%s: %s" % (name, run.stderr.strip()[-300:]))
            continue
        done += 1
        for k, value in enumerate(expected):
            tensor = onnx.TensorProto()
            with open(os.path.join(folder, "output_%d.pb" % k), "rb") as file:
                tensor.ParseFromString(file.read())
            got = numpy_helper.to_array(tensor)
            if got.shape != value.shape or not np.allclose(
                    got, value, 1e-4, 1e-5, equal_nan=True):
                failures.append("%s: output %d is\n%s\nnot\n%s" % (
                    name, k, got, value))


AXES = range(7, 13)
x3 = f(2, 1, 3)
check("Squeeze", AXES, [x3], {"axes": [1]})
check("Squeeze", [7, 11], [x3])
check("Squeeze", [13, 21, 23], [x3, i(1)])
check("Unsqueeze", AXES, [x3], {"axes": [0, 2]})
check("Unsqueeze", [11, 12], [x3], {"axes": [-1]})
check("Unsqueeze", [13, 21, 23], [x3, i(0, -1)])

x4 = np.abs(f(2, 3, 4, 2)) + 0.1
for op in ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
           "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
           "ReduceSumSquare"]:
    old = [7, 11, 12] if op == "ReduceSum" else [7, 11, 13, 17]
    check(op, old, [x4], {"axes": [1, 3]})
    check(op, old, [x4], {"axes": [2], "keepdims": 0})
    check(op, old, [x4])
    check(op, [o for o in old if o >= 11], [x4], {"axes": [-1]})
    check(op, [18, 20, 21], [x4, i(1, -1)], {"keepdims": 0})
    check(op, [18, 21], [x4], {"noop_with_empty_axes": 1})

x = f(6, 4)
check("Split", [7, 11, 12], [x], {"axis": 0, "split": [1, 2, 3]}, 3)
check("Split", [7, 11, 12, 13, 17], [x], {"axis": 1}, 2)
check("Split", [13, 18, 21], [x, i(1, 5)], {}, 2)
check("Split", [18, 21], [f(7, 2)], {"num_outputs": 3}, 3)

x = f(5, 6, 7)
check("Slice", [7, 9], [x], {"starts": [1, -3], "ends": [3, 1000],
                              "axes": [0, 2]})
check("Slice", [7, 9], [x], {"starts": [1, 2], "ends": [-1, 4]})
check("Slice", [10, 11, 13, 21], [x, i(4, 0), i(0, -1), i(0, 1), i(-2, 2)])

x = f(1, 2, 4, 5)
for mode in ["constant", "reflect", "edge"]:
    check("Pad", [7, 10], [x], {"mode": mode,
                                "pads": [0, 0, 1, 2, 0, 0, 2, 1]})
    check("Pad", [11, 13, 18, 19, 21, 24],
          [x, i(0, 0, 1, 2, 0, 0, 2, 1)], {"mode": mode})
check("Pad", [7, 10], [x], {"value": 1.5, "pads": [0, 1, 0, 0, 0, 0, 2, 0]})
check("Pad", [7, 10], [x], {"pads": [0, 0, -1, 1, 0, 0, 0, -2]})
check("Pad", [11, 21], [x, i(0, 0, 1, 1, 0, 0, 0, 1), np.float32(2)])

x = f(3, 4) * 3
check("Clip", [7, 10], [x], {"min": -1.0, "max": 0.5})
check("Clip", [7, 10], [x], {"max": 0.5})
check("Clip", [7], [x])
check("Clip", [11, 12, 13, 21], [x, np.float32(-1), np.float32(1)])
check("Clip", [11, 13], [x, None, np.float32(1)])

check("Dropout", [7, 10], [x], {"ratio": 0.3})
check("Dropout", [12, 13, 22], [x, np.float32(0.3)])

x = f(3, 7)
check("TopK", [7], [x], {"k": 3}, 2)
check("TopK", [10, 11, 21, 24], [x, i(3)], {}, 2)
check("TopK", [11], [x, i(2)], {"axis": 0, "largest": 0}, 2)

x = f(1, 2, 3, 4)
for mode in ["nearest", "linear"]:
    check("Upsample", [7], [x], {"mode": mode,
                                 "scales": [1.0, 1.0, 2.0, 3.0]})
    check("Upsample", [9], [x, np.array([1, 1, 2, 1.5], np.float32)],
          {"mode": mode})
    for scales in [1, 1, 2, 3], [1, 1, 0.5, 0.5], [1, 1, 1, 0.75]:
        check("Resize", [10], [x, np.array(scales, np.float32)],
              {"mode": mode})
    check("Resize", [11, 13, 18, 19],
          [x, np.array([], np.float32), np.array([1, 1, 2, 1.5], np.float32)],
          {"mode": mode, "coordinate_transformation_mode": "half_pixel"})

for op in ["Softmax", "LogSoftmax", "Hardmax"]:
    for shape in (2, 3, 4, 5), (2, 3, 1, 1), (2, 7), (5,):
        x = f(*shape)
        for axis in range(len(shape)):
            check(op, [7, 11, 12, 13, 21], [x], {"axis": axis})
            check(op, [11, 13], [x], {"axis": -1 - axis})
        if len(shape) > 1:
            check(op, [7, 9, 12, 13], [x])

x = f(2, 3, 4, 4)
norm = [x, f(3), f(3), f(3), np.abs(f(3)) + 0.5]
check("BatchNormalization", [7], norm, {"spatial": 1, "epsilon": 1e-3})
check("BatchNormalization", [7, 9, 14, 15, 21], norm)
scale, bias = f(2), f(2)
x = f(2, 4, 3)
g = x.reshape(2, 2, 6)
g = (g - g.mean(-1, keepdims=True)) / np.sqrt(
    g.var(-1, keepdims=True) + 1e-5)
g = g * scale.reshape(1, 2, 1) + bias.reshape(1, 2, 1)
check("GroupNormalization", [18, 20], [x, scale, bias], {"num_groups": 2},
      want=[g.reshape(2, 4, 3)])

x = f(1, 2, 7, 7)
for pool in ["AveragePool", "MaxPool"]:
    check(pool, [7, 8, 10, 11, 12, 19, 22], [x], {"kernel_shape": [3, 3],
          "strides": [2, 2], "pads": [1, 1, 1, 1]})
    check(pool, [7, 11, 22], [x], {"kernel_shape": [2, 3],
                                   "auto_pad": "SAME_UPPER"})
    check(pool, [10, 11, 19, 22], [x], {"kernel_shape": [2, 2],
                                        "strides": [2, 2], "ceil_mode": 1})
check("AveragePool", [7, 11, 19, 22], [x], {
    "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1})

x = f(2, 3, 4)
check("Flatten", [7, 9, 11, 13, 21, 25], [x], {"axis": 2})
check("Flatten", [11, 21], [x], {"axis": -1})
check("Concat", [7, 11, 13], [x, f(2, 1, 4)], {"axis": 1})
check("Concat", [11, 13], [x, f(2, 3, 1)], {"axis": -1})
check("ArgMax", [7, 11, 12, 13], [x], {"axis": 1, "keepdims": 0})
check("Gemm", [7, 9, 11, 13], [f(2, 3), f(4, 3), f(4)],
      {"transB": 1, "alpha": 0.5, "beta": 2.0})
check("Gemm", [11, 13], [f(2, 3), f(3, 4)])
for op in ["Sum", "Max", "Min", "Mean"]:
    check(op, [8, 12, 13], [x, f(4), f(3, 1)])
    check(op, [7], [x, f(2, 3, 4)])
check("PRelu", [7, 9, 16], [x, f(4)])
check("Cast", [7, 9, 13, 19, 21, 23], [x * 5], {"to": TensorProto.INT32})
check("Reshape", [7, 13, 14, 19, 21, 23, 25], [x, i(0, -1, 2)])
check("Shape", [7, 13, 15, 19, 21, 23], [x])
check("Shape", [15, 21], [x], {"start": 1, "end": -1})
check("Transpose", [7, 13, 21, 24], [x], {"perm": [2, 0, 1]})
check("Expand", [8, 13], [f(3, 1), i(2, 1, 4)])
check("Gather", [7, 11, 13], [x, i(2, 0)], {"axis": 1})
check("DepthToSpace", [7, 11, 13], [f(1, 8, 2, 3)], {"blocksize": 2})
check("DepthToSpace", [11, 13], [f(1, 8, 2, 3)], {"blocksize": 2,
                                                  "mode": "CRD"})
check("SpaceToDepth", [7, 13], [f(1, 2, 4, 6)], {"blocksize": 2})
check("Where", [9, 16], [np.array([[True], [False]]), f(2, 3), f(3)])
check("Equal", [7, 11, 13, 19], [i(1, 2, 3), i(3, 2, 1)])
check("Greater", [7, 9, 13], [f(3), f(3)])
check("LRN", [7, 13], [f(1, 6, 3, 3)], {"size": 3})
check("Tile", [7, 13], [f(2, 3), i(2, 2)])
check("Gelu", [20, 21], [x])
check("Scatter", [9], [f(3, 3), np.array([[1, 0, 2]]), f(1, 3)])
check("ScatterElements", [11, 13, 16, 18],
      [f(3, 3), np.array([[1, 0, 2]]), f(1, 3)])
check("Constant", [7, 9, 11, 13, 19, 21, 23], [],
      {"value": numpy_helper.from_array(f(2, 3))})
check("Constant", [12, 13, 21], [], {"value_ints": [1, 2, 3]})
check("Constant", [12, 13, 21], [], {"value_float": 0.25})
check("Constant", [12, 13, 21], [], {"value_floats": [0.5, 1.5]})
check("Constant", [12, 13, 21], [], {"value_int": 7})

print("%d agree" % (done - len(failures)))
if unknown:
    print("operators not there yet: " + ", ".join(
        sorted({u.split("-")[0] for u in unknown})))
if failures:
    fail("%d of %d\n%s" % (len(failures), done, "\n".join(failures)))
