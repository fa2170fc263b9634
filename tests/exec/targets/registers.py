#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accumulators of convolutions stay in registers with every compiler: in the
innermost loops of emitted kernels nothing is multiplied and added that was
loaded from the stack, and no vector goes there. registers.py TARGET."""
import os
import re
import shutil
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import (compile_model, compilers, execute, fail, need, skip,
                    work_folder)

# Channels in and out, kernel, stride: as in a large network, on a picture of
# 56 x 56 at first.
LAYERS = [(16, 64, 1, 1), (64, 64, 3, 1), (64, 256, 1, 1), (256, 64, 1, 1),
          (64, 128, 3, 2), (128, 128, 3, 1), (128, 48, 3, 2),
          (48, 32, 3, 2)]
# What multiplies, and what a vector and the stack are called.
X86 = r"\(%rsp"
LOOKS = {
    "gnu-c": ("mulps", "%xmm", X86),
    "x86-64-v4": ("vfmadd", "%zmm", X86),
    "x86-64-v3": ("vfmadd", "%ymm", X86),
    "x86-64-v2": ("mulps", "%xmm", X86),
    "aarch64": ("fmla", r"\b[qv]\d", r"\[sp"),
}
JUMP = re.compile(r"\t(?:j|b\.|cbn?z)\w*\s+(?:\w+, )?([0-9a-f]+) ")
LINE = re.compile(r"^\s*([0-9a-f]+):\t(.*)")


def network(layers):
    rng = np.random.default_rng(1)
    nodes, weights, x = [], [], "image"
    for i, (inputs, outputs, kernel, stride) in enumerate(layers):
        w = rng.standard_normal((outputs, inputs, kernel, kernel))
        weights.append(numpy_helper.from_array(w.astype(np.float32),
                                               "w%d" % i))
        nodes.append(helper.make_node(
            "Conv", [x, "w%d" % i], ["c%d" % i], "layer%d" % i,
            pads=[kernel // 2] * 4, strides=[stride] * 2))
        nodes.append(helper.make_node("Relu", ["c%d" % i], ["r%d" % i]))
        x = "r%d" % i
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT,
                                       [1, layers[0][0], 56, 56])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT,
                                       [1, layers[-1][1], None, None])], weights)
    path = os.path.join(work_folder(), "net.onnx")
    save(helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def innermost_loops(text):
    """Lists of instructions between a jump back and where it leads to, without
    another such jump between the two."""
    rows = [LINE.match(line) for line in text.splitlines()]
    rows = [(row.group(1), "\t" + row.group(2)) for row in rows if row]
    place = {address: i for i, (address, _) in enumerate(rows)}
    found = []
    last = -1
    for i, (_, instruction) in enumerate(rows):
        jump = JUMP.search(instruction + " ")
        start = place.get(jump.group(1)) if jump else None
        if start is not None and start <= i:
            if start > last:
                found.append([row[1] for row in rows[start:i + 1]])
            last = i
    return found


def tools():
    """Compilers, each with what disassembles for it."""
    if target != "aarch64":
        return [([cc], "objdump") for cc in compilers()]
    found = []
    if shutil.which("aarch64-linux-gnu-gcc"):
        found.append((["aarch64-linux-gnu-gcc"], "aarch64-linux-gnu-objdump"))
        if shutil.which("clang"):
            found.append((["clang", "--target=aarch64-linux-gnu"],
                          "aarch64-linux-gnu-objdump"))
    return found or skip("aarch64-linux-gnu-gcc is not installed")


target = sys.argv[1]
product, vector, stack = LOOKS[target]
layers = LAYERS
if target in ("gnu-c", "x86-64-v2", "x86-64-v3"):
    # Of the last two gcc keeps some on the stack: where one column is a tile
    # it writes out all sixteen steps and loads early what comes late, and a
    # tile of fourteen leaves no register for the limit of a Relu.
    layers = LAYERS[:-2]
need("objdump")
folder = compile_model(network(layers), "--target", target, "--weights",
                       "file", "--conv", "direct")
with open(os.path.join(folder, "net.mk"), encoding="utf-8") as file:
    flags = re.search(r"CFLAGS := (.*)", file.read()).group(1).split()
checked = 0
for cc, objdump in tools():
    out = os.path.join(folder, "net.o")
    done = execute([*cc, *flags, "-I", folder, "-c",
                    os.path.join(folder, "net.c"), "-o", out], status=None)
    if done.returncode != 0:
        print("%s does not know %s" % (cc[0], target))
        continue
    text = execute([objdump, "-d", "--no-show-raw-insn", out]).stdout
    for kernel in re.split(r"\n(?=[0-9a-f]+ <)", text):
        name = re.match(r"[0-9a-f]+ <(layer\d+)", kernel)
        if name is None:
            continue
        loops = [loop for loop in innermost_loops(kernel)
                 if sum(product in line for line in loop) >= 8]
        if not loops:
            fail("%s: %s has no loop of products" % (cc, name.group(1)))
        for loop in loops:
            spilled = [line for line in loop if re.search(vector, line) and
                       re.search(stack, line)]
            if spilled:
                fail("%s: %s has vectors on the stack:\n%s" % (
                    cc, name.group(1), "\n".join(spilled)))
        checked += len(loops)
print("%d loops" % checked)
if checked == 0:
    skip("no compiler for " + target)
