#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of one byte as tables, against onnxruntime: each function for all
numbers of both types of bytes, with zero points at both ends of their range, in
the form with QuantizeLinear and as operators of com.microsoft. The emitted code
computes none of the functions.

    byte_tables.py TARGET
"""
import glob
import os
import re
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper
from onnx_data import write_data

try:
    import exact
except ImportError:
    helper.skip("onnxruntime is not installed")

FUNCTIONS = ["Tanh", "Sigmoid", "Exp", "Softplus", "Mish", "Erf", "Elu", "Selu",
             "Sin"]
TYPES = {"uint8": (TensorProto.UINT8, 0, 255),
         "int8": (TensorProto.INT8, -128, 127)}
nodes, constants, outputs = [], [], []


def constant(name, array):
    constants.append(numpy_helper.from_array(numpy.asarray(array), name))
    return name


def node(kind, inputs, output, **attributes):
    nodes.append(make.make_node(kind, inputs, [output], **attributes))
    return output


def parameters(name, scale, zero, kind):
    return [constant(name + "_scale", numpy.float32(scale)),
            constant(name + "_zero", numpy.array(zero, kind))]


def result(name, kind):
    outputs.append(make.make_tensor_value_info(name, TYPES[kind][0], [2, 128]))


def chain(function, kind, zero, out, out_zero):
    """y = function(x) between bytes; at times x * function(x), as SiLU is."""
    name = "%s_%s_%d" % (function, kind, zero + 128)
    x = parameters(name + "_x", 0.0371, zero, kind)
    y = parameters(name + "_y", 0.0123, out_zero, out)
    a = node("DequantizeLinear", [kind] + x, name + "_a")
    b = node(function, [a], name + "_b")
    if out_zero == 0:
        q = node("QuantizeLinear", [b] + y, name + "_q")
        b = node("Mul", [a, node("DequantizeLinear", [q] + y, name + "_r")],
                 name + "_c")
    node("QuantizeLinear", [b] + y, name)
    result(name, out)


def linear(kind, zero):
    """com.microsoft's forms."""
    for function, more in [("Sigmoid", {}), ("LeakyRelu", {"alpha": 0.1})]:
        name = "QLinear%s_%s" % (function, kind)
        node("QLinear" + function,
             [kind] + parameters(name + "_x", 0.05, zero, kind)
             + parameters(name + "_y", 0.007, 1, kind), name,
             domain="com.microsoft", **more)
        result(name, kind)


for function in FUNCTIONS:
    for kind, (_, low, high) in TYPES.items():
        chain(function, kind, low, "uint8", 255 if kind == "int8" else 0)
        chain(function, kind, high, "int8", -128)
for kind, (_, low, high) in TYPES.items():
    linear(kind, (low + high) // 2)
graph = make.make_graph(
    nodes, "tables", [make.make_tensor_value_info(kind, number, [2, 128])
                      for kind, (number, _, _) in TYPES.items()],
    outputs, constants)
model = make.make_model(graph, opset_imports=[
    make.make_opsetid("", 18), make.make_opsetid("com.microsoft", 1)])
model.ir_version = 8
folder = helper.work_folder()
path = os.path.join(folder, "model.onnx")
onnx.save(model, path)
given = {kind: numpy.arange(low, high + 1).astype(kind).reshape(2, 128)
         for kind, (_, low, high) in TYPES.items()}
results = exact.run(path, given)
write_data(folder, list(given.values()), results)
target = ["--target", sys.argv[1], "--cc", "gcc", "--cflags", "-O0"]
if sys.argv[1] not in ("c99", "misra"):
    target[-1] += " -march=native"
print(helper.tirc("test", path, *target).stdout)
out = helper.compile_model(path, "--name", "m", "--target", sys.argv[1])
text = ""
for name in glob.glob(os.path.join(out, "*.[ch]")):
    with open(name, encoding="utf-8") as file:
        text += re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
for call in "tanh", "expf(", "exp_f32", "erf", "sinf(", "sin_f32":
    if call in text:
        helper.fail("%s is computed by the code" % call)
# A table of one number throughout is that number. LeakyRelu is as fast by vectors.
tables = len(set(re.findall(r"extern.*_table\[256U?\];", text)))
wanted = sum(len(numpy.unique(y)) > 1 for y in results) - \
    (2 if sys.argv[1] == "gnu-c" else 0)
if tables != wanted:
    helper.fail("there are %d tables instead of %d" % (tables, wanted))
