#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels with the same body call one function: in each dialect, and as a graph.
No two functions differ in their names alone; each kernel's call is there, and in
the comment of its function; results are right. Where constants in the code are all
that two functions differ in, the later one's comment names the other."""
import json
import os
import re

import helper

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper, parser
    from onnx.reference import ReferenceEvaluator
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

LAYERS = 3
HEAD = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[N, 8, 12, 12] x) => (float[N, 8, 12, 12] y)
{
"""
LAYER = """
  a%(i)d = Conv <pads = [1, 1, 1, 1], strides = [1, 1]> (x%(i)d, w%(i)d, b%(i)d)
  r%(i)d = Relu (a%(i)d)
  c%(i)d = Conv <pads = [1, 1, 1, 1], strides = [1, 1]> (r%(i)d, v%(i)d)
  s%(i)d = Add (c%(i)d, x%(i)d)
  f%(i)d = Reshape <allowzero = 0> (s%(i)d, rows)
  m%(i)d = MatMul (f%(i)d, p%(i)d)
  n%(i)d = Softmax <axis = 2> (m%(i)d)
  x%(j)d = Reshape (n%(i)d, image)
"""


def network(batch):
    """The same layer several times, each with constants of its own."""
    rng = np.random.default_rng(4)
    text = HEAD.replace("N", batch)
    for i in range(LAYERS):
        text += LAYER % {"i": i, "j": i + 1}
    text = re.sub(r"\bx0\b", "x", text)
    model = parser.parse_model(re.sub(r"\bx%d\b" % LAYERS, "y", text) + "}")
    constants = {"rows": np.array([-1, 8, 144], np.int64),
                 "image": np.array([-1, 8, 12, 12], np.int64)}
    for i in range(LAYERS):
        for name, shape in (("w", (8, 8, 3, 3)), ("b", (8,)),
                            ("v", (8, 8, 3, 3)), ("p", (144, 144))):
            constants["%s%d" % (name, i)] = (
                rng.standard_normal(shape) / 8).astype(np.float32)
    model.graph.initializer.extend(
        numpy_helper.from_array(x, name) for name, x in constants.items())
    return model


def functions(text):
    """Of each function: its name, its comment, and its code without the name."""
    found = re.findall(
        r"/\*((?:[^*]|\*(?!/))*)\*/\n((?:static|__kernel|extern)[^;{]*?"
        r"\b(\w+)\([^;{]*\{\n.*?\n\}\n)", text, re.S)
    return [(name, comment, code.replace(name, "F"))
            for comment, code, name in found if "work   " in comment]


def check(path, target, *options):
    out = helper.compile_model(path, "--target", target, "--name", "net",
                               *options)
    source = next(name for name in ("net_kernels.c", "net.cu", "net.cl",
                                    "net_kernels.cl", "net.c")
                  if os.path.exists(os.path.join(out, name)))
    with open(os.path.join(out, source), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(out, "net.json"), encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    found = functions(text)
    where = " ".join([target, *options])
    if len({code for name, comment, code in found}) != len(found):
        helper.fail("%s: two functions have one body" % where)
    calls = {}
    for kernel in kernels:
        calls.setdefault(kernel["function"], []).append(kernel["name"])
    if len(found) != len(calls) or len(kernels) < 4 * LAYERS or \
            len(calls) > len(kernels) / 2:
        helper.fail("%s: %d functions for %d kernels, of which %d differ" % (
            where, len(found), len(kernels), len(calls)))
    for (name, comment, _), callers in zip(found, calls.values()):
        told = re.sub(r"\n \*\s+", " ", comment)
        if len(callers) > 1 and not all(
                re.search(r"\b%s:" % caller, told) for caller in callers):
            helper.fail("%s: not all of %s are in the comment of %s:%s" % (
                where, ", ".join(callers), name, comment))
        if len(callers) > 1 and "w net_" in told and \
                len(set(re.findall(r"\bw (net_\w+)", told))) != len(callers):
            helper.fail("%s: weights of the calls of %s:%s" % (
                where, name, comment))
    if "--form" in options:
        with open(os.path.join(out, "net_graph.json"),
                  encoding="utf-8") as file:
            nodes = json.load(file)["nodes"]
        if {n["kernel"] for n in nodes} != set(calls) or \
                len(nodes) != len(kernels):
            helper.fail("%s: the graph's nodes call other kernels" % where)


ALIKE = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[8, 144] x) => (float[8, 144] y, float[8, 144] z, float[8, 144] s)
{
  y = LeakyRelu <alpha = 0.25> (x)
  z = LeakyRelu <alpha = 0.375> (x)
  s = Softmax <axis = 1> (x)
}
"""


def check_alike(folder, target):
    """Two functions that differ in a slope, and one that is another."""
    path = os.path.join(folder, "alike.onnx")
    onnx.save(parser.parse_model(ALIKE), path)
    out = helper.compile_model(path, "--target", target, "--name", "net")
    source = next(name for name in ("net.cu", "net.cl", "net.c")
                  if os.path.exists(os.path.join(out, name)))
    with open(os.path.join(out, source), encoding="utf-8") as file:
        text = file.read()
    told = [re.findall(r"like +(\w+), with 0\.375f for 0\.25f: apart", comment)
            for _, comment, _ in functions(text)]
    named = [name for names in told for name in names]
    if len(told) != 3 or len(named) != 1 or not re.search(
            r"\b(net_)?%s\(" % named[0], text[:text.index(" like ")]):
        helper.fail("%s: functions that are alike: %s" % (target, told))


def main():
    folder = helper.work_folder()
    path = os.path.join(folder, "net.onnx")
    model = network("2")
    onnx.save(model, path)
    x = np.random.default_rng(5).standard_normal(
        (2, 8, 12, 12)).astype(np.float32)
    write_data(folder, [x], ReferenceEvaluator(model).run(None, {"x": x}))
    symbolic = os.path.join(folder, "symbolic.onnx")
    onnx.save(network("N"), symbolic)
    for target in filter(helper.has_dialect, (
            "c99", "gnu-c", "misra", "c-openmp", "c-threads", "opencl",
            "opencl-cpu", "cuda")):
        check(path, target)
        check_alike(folder, target)
        check(symbolic, target, "--dim", "N=1..3")
    for target in filter(helper.has_dialect, ("c99", "gnu-c", "misra")):
        helper.tirc("test", path, "--target", target)
    for target in filter(helper.has_dialect, ("c99", "gnu-c", "c-threads")):
        check(path, target, "--form", "graph")
    helper.tirc("test", path, "--form", "graph")


main()
