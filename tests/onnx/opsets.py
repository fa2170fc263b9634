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
    import exact
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
    # Type and shape of outputs are asked for nowhere: let it infer them.
    return exact.run(model)


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
ends = np.array([-np.inf, -3, 0.25, 3.4e38, np.inf], np.float32)
for bounds in ({"min": -1.0}, {"max": 0.5}, {}):
    check("Clip", [7, 10], [ends], bounds)
check("Clip", [11, 12, 13, 21], [x, np.float32(-1), np.float32(1)])
check("Clip", [11, 13], [x, None, np.float32(1)])

check("Dropout", [7, 10], [x], {"ratio": 0.3})
check("Dropout", [12, 13, 22], [x, np.float32(0.3)])

x = f(3, 7)
check("TopK", [7], [x], {"k": 3}, 2)
check("TopK", [10, 11, 21, 24], [x, i(3)], {}, 2)
check("TopK", [11], [x, i(2)], {"axis": 0, "largest": 0}, 2)
x = np.round(f(2, 40, 3) * 2)  # with equal elements
for k in 0, 1, 2, 7, 39, 40:
    for largest in 0, 1:
        check("TopK", [11, 24], [x, i(k)], {"axis": 1, "largest": largest}, 2)
x[0, 3:30:4] = np.nan
x[1, :3] = np.inf
x[1, 20:23] = -np.inf
for kind in np.float32, np.float64, np.float16:
    for k in 5, 12, 40:
        places = np.broadcast_to(np.arange(40)[:, None], x.shape)
        order = np.lexsort((places, -x, ~np.isnan(x)), 1)
        check("TopK", [11, 24], [x.astype(kind), i(k)], {"axis": 1}, 2,
              want=[np.take_along_axis(x, order, 1)[:, :k].astype(kind),
                    order[:, :k]])
        order = np.argsort(x, 1, kind="stable")
        check("TopK", [11, 24], [x.astype(kind), i(k)],
              {"axis": 1, "largest": 0}, 2,
              want=[np.take_along_axis(x, order, 1)[:, :k].astype(kind),
                    order[:, :k]])
for kind in np.int8, np.uint8, np.int16, np.int64, np.uint64:
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    y = np.array([low, low, 5, high, 5, high, low], kind)
    order = np.lexsort((range(7), y))
    check("TopK", [11, 24], [y, i(6)], {"largest": 0}, 2,
          want=[y[order[:6]], order[:6]])
    order = np.lexsort((range(7), ~y))
    check("TopK", [11, 24], [y, i(6)], {}, 2, want=[y[order[:6]], order[:6]])

x = np.round(f(3, 200) * 20)  # enough for rows to be sorted
x[1, 3:180:7] = np.nan
for k in 65, 80, 100, 200:
    for largest in 0, 1:
        rank = np.unique(x, return_inverse=True)[1].reshape(x.shape)
        order = np.argsort(-rank if largest else rank, 1, kind="stable")[:, :k]
        check("TopK", [11, 24], [x, i(k)], {"largest": largest}, 2,
              want=[np.take_along_axis(x, order, 1), order])

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

# Before version 7.
def same(op, opsets, inputs, attrs=None, outputs=1, want=None):
    """As check, where the attribute consumed_inputs of version 1 says that the
    output may take the place of the first input."""
    check(op, [o for o in opsets if o > 5], inputs, attrs, outputs, want)
    check(op, [o for o in opsets if o < 6], inputs,
          {**(attrs or {}), "consumed_inputs": [0]}, outputs, want)


a, b = np.abs(f(2, 3, 4)) + 1, np.abs(f(3)) + 1
column = b[:, None]
for op, compute in [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply),
                    ("Div", np.divide)]:
    same(op, [1, 6], [a, b], {"broadcast": 1, "axis": 1},
         want=[compute(a, column)])
    same(op, [1, 6], [a, b], {"broadcast": 1, "axis": -2},
         want=[compute(a, column)])
    row = f(4)
    same(op, [1, 6], [a, row], {"broadcast": 1}, want=[compute(a, row)])
    same(op, [1, 6], [a, a[0, :, :]], {"broadcast": 1},
         want=[compute(a, a[0])])
    same(op, [1, 6], [a, np.float32(2)], {"broadcast": 1, "axis": 0},
         want=[compute(a, np.float32(2))])
    same(op, [1, 6], [a, a * 2], want=[compute(a, a * 2)])
check("Pow", [1, 6], [a, b], {"broadcast": 1, "axis": 1},
      want=[np.power(a, column)])
for op, compute in [("And", np.logical_and), ("Or", np.logical_or),
                    ("Xor", np.logical_xor)]:
    check(op, [1, 6], [a > 2, b > 2], {"broadcast": 1, "axis": 1},
          want=[compute(a > 2, column > 2)])
for op, compute in [("Greater", np.greater), ("Less", np.less)]:
    check(op, [1, 6], [a, b], {"broadcast": 1, "axis": 1},
          want=[compute(a, column)])
whole = random.integers(0, 2, (2, 3, 4)).astype(np.int32)
check("Equal", [1, 6], [whole, whole[0, :, 0]], {"broadcast": 1, "axis": 1},
      want=[whole == whole[0, :, :1]])
x = f(2, 3, 4, 2)
for slope in b, b[:1]:
    same("PRelu", [1, 6], [x, slope],
         want=[np.where(x < 0, x * slope.reshape(-1, 1, 1), x)])
same("PRelu", [1, 6], [f(5) * 0 - 1, b[:1]],
     want=[np.full(5, -b[0], np.float32)])
same("BatchNormalization", [1, 6], norm, {"is_test": 1, "epsilon": 1e-3},
     want=[(norm[0] - norm[3].reshape(-1, 1, 1)) /
           np.sqrt(norm[4].reshape(-1, 1, 1) + np.float32(1e-3)) *
           norm[1].reshape(-1, 1, 1) + norm[2].reshape(-1, 1, 1)])
same("Dropout", [1, 6], [x], {"is_test": 1, "ratio": 0.4}, want=[x])
check("Cast", [1, 5], [x * 5], {"to": "INT32"}, want=[(x * 5).astype(np.int32)])
check("Cast", [1], [whole], {"to": "FLOAT16"}, want=[whole.astype(np.float16)])
check("Cast", [6], [x * 5], {"to": TensorProto.INT32},
      want=[(x * 5).astype(np.int32)])
same("Clip", [1, 6], [x], {"min": -0.5, "max": 0.25},
     want=[np.clip(x, -0.5, 0.25)])
check("Concat", [1, 3], [x, x[:, :1]], want=[np.concatenate([x, x[:, :1]], 1)])
check("Concat", [4, 6], [x, x], {"axis": 2}, want=[np.concatenate([x, x], 2)])
left, right, more = f(2, 3), f(3, 4), f(4)
check("Gemm", [1, 6], [left, right, more], {"broadcast": 1, "alpha": 0.5},
      want=[left @ right * 0.5 + more])
check("Gemm", [1, 6], [left, right, f(2, 1)[:, :1] * 0 + more],
      want=[left @ right + more])
for op in ["GlobalLpPool", "LpPool"]:
    more = {"kernel_shape": [4, 2]} if op == "LpPool" else {}
    check(op, [1], [x], {"p": 2.0, **more},
          want=[np.sqrt((x * x).sum((2, 3), keepdims=True))])
    check(op, [2], [x], {"p": 2, **more},
          want=[np.sqrt((x * x).sum((2, 3), keepdims=True))])
wide = np.pad(x, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=1.5)
for opset, name in (1, "paddings"), (2, "pads"):
    check("Pad", [opset], [x], {name: [0, 0, 1, 0, 0, 0, 0, 2], "value": 1.5},
          want=[wide])
same("Reshape", [1, 4], [x], {"shape": [0, -1, 2]}, want=[x.reshape(2, 12, 2)])
check("Reshape", [5, 6], [x, i(0, -1, 2)], want=[x.reshape(2, 12, 2)])
old, new = (1.6732, 1.0507), (1.6732632, 1.050701)
for opset, (alpha, gamma) in (1, old), (6, new):
    same("Selu", [opset], [x * 3],
         want=[gamma * np.where(x > 0, x * 3, alpha * np.expm1(x * 3))])
for op, compute in [("Elu", lambda x: np.where(x < 0, np.expm1(x), x)),
                    ("HardSigmoid", lambda x: np.clip(x * 0.2 + 0.5, 0, 1)),
                    ("LeakyRelu", lambda x: np.where(x < 0, x * 0.01, x)),
                    ("Relu", lambda x: np.maximum(x, 0))]:
    same(op, [1, 6], [x], want=[compute(x).astype(np.float32)])
check("Split", [1], [x, i(1, 2)], {"axis": 1}, 2, want=[x[:, :1], x[:, 1:]])
# Version 1 has sizes and axes of the type of x.
check("Split", [1], [x, np.array([1, 2], np.float32)], {"axis": 1}, 2,
      want=[x[:, :1], x[:, 1:]])
check("Tile", [1], [x, np.float32(3).reshape(()), np.float32(1).reshape(())],
      want=[np.tile(x, [3 if d == 1 else 1 for d in range(x.ndim)])])
for op, axis, shape in (("Softmax", 1, (2, 3, 0)), ("LogSoftmax", 0, (0, 3, 4)),
                        ("Hardmax", 1, (2, 0, 4))):
    check(op, [1, 11], [np.zeros(shape, np.float32)], {"axis": axis},
          want=[np.zeros(shape, np.float32)])
check("Split", [1, 2], [x], {"axis": 1, "split": [1, 2]}, 2,
      want=[x[:, :1], x[:, 1:]])
check("Tile", [1], [x, i(3).reshape(()), i(1).reshape(())],
      want=[np.tile(x, (1, 3, 1, 1))])
check("Tile", [6], [x, i(1, 3, 1, 2)], want=[np.tile(x, (1, 3, 1, 2))])
check("TopK", [1, 6], [x], {"k": 2, "axis": 2}, 2,
      want=[-np.sort(-x, 2)[:, :, :2],
            np.argsort(-x, 2, kind="stable")[:, :, :2]])
check("Upsample", [1], [x], {"height_scale": 2.0, "width_scale": 3.0},
      want=[x.repeat(2, 2).repeat(3, 3)])
for op, compute in [("Max", np.maximum), ("Min", np.minimum), ("Sum", np.add)]:
    same(op, [1, 6], [x, x[::-1].copy()], want=[compute(x, x[::-1])])
for op in ["Softmax", "LogSoftmax", "ReduceMean", "ArgMax", "Flatten",
           "Transpose", "Shape", "MatMul"]:
    inputs = [f(3, 4), f(4, 3)] if op == "MatMul" else [f(3, 4)]
    check(op, [1, 6], inputs)

print("%d agree" % (done - len(failures)))
if unknown:
    print("operators not there yet: " + ", ".join(
        sorted({u.split("-")[0] for u in unknown})))
if failures:
    fail("%d of %d\n%s" % (len(failures), done, "\n".join(failures)))
