#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""emitted_style.py: the text of kernels as a reviewer reads it, of small models
for several targets. No line has more than 100 columns, a tab being 8; no block
of braces follows another one; no name is made of a word that says nothing and a
number. Sums of integers whose bound is proven are plain and say the bound: it
is the right one, an input reaches it, and UBSan sees no overflow; sums without
a proof wrap. Winograd's transformations have their matrices in the comment. A
convolution by threads is said to be an implicit GEMM, and its copy of the input
reads it by axes that have names: digits of k and of n."""
import os
import re
import shutil

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import DIGITS, compile_model, execute, fail, has_dialect, tirc, \
    work_folder
from onnx_data import write_data

MOST_COLUMNS = 100
VAGUE = re.compile(r"\b\w+_at\d*\b(?= = )|\b\w+_[qr]\d*\b")
TARGETS = [(t, d) for t, d in (
    ("c99", "c99"), ("gnu-c", "gnu-c"), ("misra", "misra"),
    ("c-openmp", "c-openmp"), ("c99-avx512", "c99"),
    ("opencl-cpu", "opencl"), ("cuda", "cuda")) if has_dialect(d)]
folder = work_folder()
random = np.random.default_rng(0)


def model(name, nodes, inputs, outputs, constants):
    path = os.path.join(folder, name, "model.onnx")
    os.makedirs(os.path.dirname(path))
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [helper.make_tensor_value_info(n, t, s) for n, t, s in outputs],
        [numpy_helper.from_array(a, n) for n, a in constants.items()])
    save(helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)]), path)
    return path


def convolutions():
    """Sizes that no tile divides, a window, and one that Winograd takes."""
    nodes, constants = [], {}
    last, channels = "x", 3
    for i, (n, k) in enumerate([(24, 7), (16, 1), (64, 3), (64, 3)]):
        weights = random.standard_normal((n, channels, k, k)) * 0.1
        constants["w%d" % i] = weights.astype("f4")
        constants["b%d" % i] = np.zeros(n, "f4")
        nodes += [helper.make_node(
            "Conv", [last, "w%d" % i, "b%d" % i], ["c%d" % i],
            pads=[k // 2] * 4, name="conv%d" % i),
            helper.make_node("Relu", ["c%d" % i], ["r%d" % i],
                             name="relu%d" % i)]
        last, channels = "r%d" % i, n
    nodes.append(helper.make_node("MaxPool", [last], ["y"], name="pool",
                                  kernel_shape=[3, 3], strides=[2, 2]))
    return model("convolutions", nodes,
                 [("x", TensorProto.FLOAT, [1, 3, 55, 55])],
                 [("y", TensorProto.FLOAT, [1, 64, 27, 27])], constants)


def texts(out):
    """What was emitted, but for the weights."""
    for name in sorted(os.listdir(out)):
        if name.endswith((".c", ".h", ".cu", ".cl")) and \
                "_weights" not in name:
            with open(os.path.join(out, name), encoding="utf-8") as f:
                yield name, f.read()


def check_text(what, text):
    lines = text.split("\n")
    for i, line in enumerate(lines):
        wide = len(line.expandtabs(8))
        if wide > MOST_COLUMNS and "nvcuda::wmma" not in line and \
                not line.startswith(('"', "\t\"")):
            fail("%s:%d: %d columns:\n%s" % (what, i + 1, wide, line))
        if line.strip() == "{" and lines[i - 1].strip() == "}":
            fail("%s:%d: a block behind a block" % (what, i + 1))
        vague = VAGUE.search(line)
        if vague and not line.lstrip().startswith(("*", "/*")):
            fail("%s:%d: the name %s" % (what, i + 1, vague[0]))


def check_implicit(text):
    """Each staged convolution with a window."""
    found = 0
    for body in re.split(r"\n(?=/\* )", text):
        if not re.match(r"/\* Conv (\d)x\1\b", body) or \
                " staged " not in body:
            continue
        comment, code = body.split("*/", 1)
        if "implicit GEMM" not in comment:
            continue
        found += 1
        words = re.sub(r"\n \* +", " ", comment)
        if not re.search(r"K = (\w+ \* )+\w+ = \d+,", words):
            fail("K is made of no axes:\n" + comment)
        for names in re.findall(r"\bx((?:\[[^][]*\])+)", code):
            if "/" in names or "%" in names:
                fail("an index of x without a name:\n%s" % code)
        for digit in r"kh = \w+ / \d+", r"kw = \w+ % \d+", r"oh = ", \
                r"ow = \w+ % \d+":
            if not re.search(r"const int " + digit, code):
                fail("no %s:\n%s" % (digit, code))
    if found == 0:
        fail("no convolution as an implicit GEMM")


for path in DIGITS, convolutions():
    for target, _ in TARGETS:
        out = compile_model(path, "--target", target)
        seen = ""
        for name, text in texts(out):
            check_text("%s %s" % (target, name), text)
            seen += text
        if "V = B^T d B" in seen and not re.search(
                r"B\^T +(?:4 +0 +-5 +0 +1 +0|1 +0 +-1 +0)$", seen, re.M):
            fail("%s: Winograd without its matrices" % target)
        if target == "cuda":
            check_implicit(seen)
        if target == "gnu-c" and path != DIGITS and \
                "V = B^T d B" not in seen:
            fail("no convolution by Winograd")
        shutil.rmtree(out)


def product(name, depth, weight, target, want):
    """x of `depth` elements, all 255, by weights that are all the same."""
    data = np.full((1, depth), 255, np.uint8)
    weights = np.full((depth, 1), weight, np.int8)
    exact = 255 * depth * weight
    result = (exact + 2**31) % 2**32 - 2**31
    top = os.path.join(folder, name + target)
    path = model(name + target, [helper.make_node(
        "MatMulInteger", ["x", "w"], ["y"], name="product")],
        [("x", TensorProto.UINT8, [1, depth])],
        [("y", TensorProto.INT32, [1, 1])], {"w": weights})
    write_data(top, [("x", data)],
               [("y", np.array([[result]], np.int32))])
    out = compile_model(path, "--target", target, "--weights", "c")
    text = "".join(t for _, t in texts(out))
    bounds = [int(b) for b in re.findall(r"\| <= (\d+) \*/", text)]
    wraps = "wrap_i32" in text
    if wraps != (want is None) or (want is not None and want not in bounds):
        fail("%s, %s: the bounds %s, %s" % (
            name, target, bounds, "wrapping" if wraps else "plain"))
    tirc("test", path, "--target", target, "--cc", "gcc", "--cflags",
         "-O1 -fsanitize=undefined -fno-sanitize-recover=all", "-q")
    shutil.rmtree(out)


# Bytes of any value may be 128 off zero; these weights are read only where that
# is too much.
product("short", 576, -128, "c99", 576 * 255 * 128)
product("longest", 65793, -128, "c99", 65793 * 255 * 128)
product("longest", 65793, -128, "misra", 65793 * 255 * 128)
product("small", 80000, 100, "c99", 80000 * 255 * 100)
product("long", 65794, -128, "c99", None)
