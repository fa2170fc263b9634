#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accumulators of convolutions stay in registers with every compiler: in the
innermost loops of emitted kernels nothing is multiplied and added that was
loaded from the stack, and no vector goes there."""
import os
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import (compile_model, compilers, execute, fail, need, skip,
                    work_folder)

# Channels in and out, kernel, stride: as in a large network, on a picture of
# 56 x 56 at first.
LAYERS = [(16, 64, 1, 1), (64, 64, 3, 1), (64, 256, 1, 1), (256, 64, 1, 1),
          (64, 128, 3, 2), (128, 128, 3, 1), (128, 48, 3, 2),
          (48, 32, 3, 2)]
FLAGS = ["-std=gnu11", "-O3", "-fopenmp-simd", "-march=skylake-avx512",
         "-mprefer-vector-width=512"]
JUMP = re.compile(r"\tj\w+\s+([0-9a-f]+) ")
LINE = re.compile(r"^\s*([0-9a-f]+):\t(.*)")


def network():
    rng = np.random.default_rng(1)
    nodes, weights, x = [], [], "image"
    for i, (inputs, outputs, kernel, stride) in enumerate(LAYERS):
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
                                       [1, LAYERS[0][0], 56, 56])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT,
                                       [1, LAYERS[-1][1], 7, 7])], weights)
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


need("objdump")
folder = compile_model(network(), "--target", "gnu-c", "--weights", "file")
checked = 0
for cc in compilers():
    out = os.path.join(folder, "net.o")
    done = execute([cc] + FLAGS + ["-I", folder, "-c",
                   os.path.join(folder, "net.c"), "-o", out], status=None)
    if done.returncode != 0:
        continue  # it knows no such machine
    text = execute(["objdump", "-d", "--no-show-raw-insn", out]).stdout
    for kernel in re.split(r"\n(?=[0-9a-f]+ <)", text):
        name = re.match(r"[0-9a-f]+ <(layer\d+)", kernel)
        if name is None:
            continue
        loops = [loop for loop in innermost_loops(kernel)
                 if sum("vfmadd" in line for line in loop) >= 12]
        if not loops:
            fail("%s: %s has no loop of multiply-adds" % (cc, name.group(1)))
        for loop in loops:
            spilled = [line for line in loop
                       if "%zmm" in line and "(%rsp" in line]
            if spilled:
                fail("%s: %s has vectors on the stack:\n%s" % (
                    cc, name.group(1), "\n".join(spilled)))
        checked += len(loops)
print("%d loops" % checked)
if checked == 0:
    skip("no compiler for AVX-512")
