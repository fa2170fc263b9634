#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that round floats to whole numbers give the same numbers whether a
compiler contracts products and sums or not: in every dialect, with all pairs of
bytes as inputs, of which many sums lie in the middle between two steps. Where no
source asks for it, results do differ: the inputs would show a missing guard."""
import os
import re
import shutil
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import (ROOT, compilers, execute, fail, processor_features, tirc,
                    work_folder)

FMA = "-mfma -mavx2" if "fma" in processor_features() else ""
folder = work_folder()
gpu = os.path.join(ROOT, "tests", "gpu")


def write_model(path):
    """Per output a kernel whose last bit matters: a sum of two quantized
    tensors, a product and a sum of floats, functions of dialects, Floor, a
    conversion."""
    nodes, constants, outputs = [], [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(op, inputs, **attributes):
        name = "t%d" % len(nodes)
        nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def give(value, kind):
        nodes[-1].output[0] = "out%d" % len(outputs)
        outputs.append(helper.make_tensor_value_info(
            nodes[-1].output[0], kind, ["n"]))

    def line(k, x, y):
        """k x + y, of a factor that no other has."""
        return node("Add", [node("Mul", [x, constant("k%d" % len(nodes),
                                                     np.float32(k))]), y])

    zero = constant("zero", np.int8(3))
    scale = {n: constant("s" + n, np.float32(v)) for n, v in
             (("a", 0.1), ("b", 0.3), ("y", 0.4), ("z", 0.0079))}
    a = node("DequantizeLinear", ["a", scale["a"], zero])
    b = node("DequantizeLinear", ["b", scale["b"], zero])
    total = node("Add", [a, b])
    give(node("QuantizeLinear", [total, scale["y"], zero]), TensorProto.INT8)
    give(node("QuantizeLinear", [line(0.7, "x", "y"), scale["y"], zero]),
         TensorProto.INT8)
    give(node("Floor", [line(1.1, "x", "y")]), TensorProto.FLOAT)
    give(node("Cast", [line(1.3, "y", "x")], to=TensorProto.INT32),
         TensorProto.INT32)
    for i, op in enumerate(("Sigmoid", "Tanh", "Exp", "Erf")):
        value = node(op, [line(0.05 + 0.01 * i, "x", "x")])
        give(node("QuantizeLinear", [value, scale["z"], zero]),
             TensorProto.INT8)
    # The same without rounding: contraction shows.
    give(line(1.7, "x", "y"), TensorProto.FLOAT)
    graph = helper.make_graph(
        nodes, "rounded",
        [helper.make_tensor_value_info(n, t, [65536]) for n, t in
         (("a", TensorProto.INT8), ("b", TensorProto.INT8),
          ("x", TensorProto.FLOAT), ("y", TensorProto.FLOAT))],
        outputs, constants)
    for o in graph.output:
        o.type.tensor_type.shape.dim[0].dim_value = 65536
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                           ir_version=8), path)
    every = np.arange(-128, 128, dtype=np.int8)
    first, second = np.repeat(every, 256), np.tile(every, 256)
    np.savez(os.path.join(folder, "in.npz"), a=first, b=second,
             x=first.astype(np.float32) * np.float32(0.1),
             y=second.astype(np.float32) * np.float32(0.05))


def run(target, cc, flags):
    out = os.path.join(folder, "out.npz")
    tirc("run", model, "--target", target, "--cc", cc, "--cflags", flags,
         "--input", os.path.join(folder, "in.npz"), "--output", out, "-q")
    with np.load(out) as file:
        return {name: file[name] for name in file.files}


model = os.path.join(folder, "rounded.onnx")
write_model(model)
shown = False
for target in ("c99", "misra", "gnu-c"):
    plain = "-std=gnu11 -fopenmp-simd -ffp-contract=off -O1"
    want = run(target, compilers()[0], plain)
    for cc in compilers():
        for flags in ("-std=gnu11 -O2 " + FMA, "-std=gnu11 -O3 " + FMA):
            # clang's "fast" disregards what sources say of contraction.
            flags += " -fopenmp-simd -ffp-contract=" + (
                "on" if cc == "clang" else "fast")
            got = run(target, cc, flags)
            for name in want:
                off = np.count_nonzero(want[name] != got[name])
                if name == "out8":
                    shown |= off > 0
                elif off:
                    fail("%s by %s %s: %d of %d elements of %s differ" % (
                        target, cc, flags, off, want[name].size, name))
if FMA and "gcc" in compilers() and not shown:
    fail("no compiler contracted anything")
if shutil.which("g++"):
    cc = "%s %s g++ -x c++" % (sys.executable,
                               os.path.join(gpu, "asm_calls.py"))
    flags = "-std=c++14 -w -I%s -I%s " % (gpu, os.path.join(gpu, "toolkit"))
    want = run("cuda", cc, flags + "-O1 -ffp-contract=off")
    got = run("cuda", cc, flags + "-O2 -ffp-contract=fast " + FMA)
    for name in want:
        # Functions are the compiler's own there.
        if name != "out8" and np.any(want[name] != got[name]):
            fail("cuda: %s depends on contraction" % name)
tirc("compile", model, "--target", "opencl", "-o", folder)
with open(os.path.join(folder, "rounded.cl"), encoding="utf-8") as file:
    text = file.read()
for part in re.split(r"(?=#pragma OPENCL FP_CONTRACT)", text):
    if "rint(" in part and "FP_CONTRACT OFF" not in part:
        fail("opencl: a kernel that rounds has no guard")
