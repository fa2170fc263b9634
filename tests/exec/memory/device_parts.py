#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of the workspace that an OpenCL host passes to its kernels. OpenCL
leaves it open what a kernel does that writes one part of a buffer while
another argument is a part that overlaps it, so in each launch a part that is
written is apart from all other parts. Each part has the extent of its tensor, and
begins where every device allows a part to begin."""
import json
import os
import re

from helper import DIGITS, compile_model, fail, shared, work_folder
from proto import *

MODELS = os.path.join(shared() or "", "models", "mlperf_tiny")
# CL_DEVICE_MEM_BASE_ADDR_ALIGN, in bytes: the largest of known GPUs, and that of
# processors.
ALIGN_BYTES = {"opencl": 512, "opencl-cpu": 128}


def written(name, body):
    path = os.path.join(work_folder(), name + ".onnx")
    with open(path, "wb") as f:
        f.write(body)
    return path


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


def table(source):
    """name: (offset, bytes) of the parts of the workspace."""
    [rows] = re.findall(r"buffers_at\[BUFFERS\] = \{(.*?)\n\};", source, re.S)
    return {name: (int(at), int(size)) for at, size, name in re.findall(
        r"\{ (\d+)u, (\d+)u \},? /\* (\w+) \*/", rows)}


def constness(kernels):
    """kernel: for each parameter, is it only read?"""
    found = {}
    for name, text in re.findall(
            r"^__kernel [^\n]*void\s+(\w+)\((.*?)\)\n\{", kernels,
            re.S | re.M):
        parts, depth = [""], 0
        for c in text:
            depth += (c in "([") - (c in ")]")
            if c == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += c
        found[name] = [re.search(r"\bconst\b", part) is not None or
                       "__global" not in part for part in parts]
    return found


def launches(source):
    """(kernel, the text of each argument's value), in order."""
    for kernel, rest in re.findall(r"\tlaunch\(\s*m,\s*KERNEL_(\w+),(.*?)\);\n",
                                   source, re.S):
        rest = rest[rest.index("(const struct argument[])"):]
        yield kernel, [" ".join(value.split()) for value in re.findall(
            r"\{\s*sizeof\([^)]*\),\s*(&.*?)\s\}(?=,|\s*\})", rest, re.S)]


def check(model, target, *options):
    """The parts by name."""
    folder = compile_model(model, "--target", target, *options)
    [name] = [f[:-3] for f in os.listdir(folder) if f.endswith(".cl")]
    source, facts = read(folder, name + ".c"), json.loads(
        read(folder, name + ".json"))
    parts = table(source)
    only_read = constness(read(folder, name + ".cl"))
    where = "%s for %s, %s: " % (name, target, options)
    for tensor in facts["workspace"]:
        want = (tensor["offset"], max(tensor["bytes"], 1))
        if parts.get(tensor["name"], want) != want:
            fail(where + "%s takes %s, its part is %s" % (
                tensor["name"], want, parts[tensor["name"]]))
    sizes = {t["name"] for t in facts["workspace"]}
    if not set(parts) <= sizes:
        fail(where + "parts of no tensor: %s" % (set(parts) - sizes))
    for part, (at, size) in parts.items():
        if at % ALIGN_BYTES[target] != 0 or size < 1 or \
                at + size > facts["memory"]["workspace_bytes"]:
            fail(where + "%s cannot be {%d, %d}" % (part, at, size))
    n = 0
    for kernel, values in launches(source):
        reads = only_read[name + "_" + kernel]
        if len(reads) != len(values):
            fail(where + "%s has %d parameters and gets %s" % (
                kernel, len(reads), values))
        used = [(re.fullmatch(r"&m->buffers\[BUFFER_(\w+)\]", value), const)
                for value, const in zip(values, reads)]
        used = [(found[1], const) for found, const in used if found]
        n += len(used)
        for i, (one, one_const) in enumerate(used):
            for other, other_const in used[:i]:
                a, b = parts[one], parts[other]
                if one != other and a[0] < b[0] + b[1] and \
                        b[0] < a[0] + a[1] and not (one_const and
                                                    other_const):
                    fail(where + "%s is given %s %s and %s %s" % (
                        kernel, one, a, other, b))
    if n < 2:
        fail(where + "no launch with parts of the workspace was found")
    return parts



def weights(name, *dims):
    n = 1
    for d in dims:
        n *= d
    return tensor(name, list(dims), floats(*((i % 13 - 6) / 32
                                             for i in range(n))))


def net(name, batch):
    """Tensors that get smaller, a sum in place of one of its terms, parts of a
    Concat, a view, a softmax of several kernels."""
    nodes = [
        node("Conv", ["x", "w1"], ["a"], pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["b", "w2"], ["c"], pads=[1, 1, 1, 1]),
        node("Add", ["b", "c"], ["d"]),
        node("Sigmoid", ["d"], ["e"]),
        node("Conv", ["e", "w2"], ["f"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Conv", ["e", "w3"], ["g"], strides=[2, 2]),
        node("Concat", ["f", "g"], ["h"], axis=1),
        node("MaxPool", ["h"], ["i"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Softmax", ["i"], ["j"], axis=3),
        node("Mul", ["i", "j"], ["k"]),
        node("GlobalAveragePool", ["k"], ["l"]),
        node("Flatten", ["l"], ["m"]),
        node("Gemm", ["m", "w4"], ["n"]),
        node("Softmax", ["n"], ["y"])]
    return written(name, model(graph(
        nodes, [value_info("x", [batch, 3, 22, 22])],
        [value_info("y", [batch, 10])],
        [weights("w1", 16, 3, 3, 3), weights("w2", 16, 16, 3, 3),
         weights("w3", 8, 16, 1, 1), weights("w4", 24, 10)])))


for target in ("opencl", "opencl-cpu"):
    check(DIGITS, target)
    fixed = check(net("fixed", 1), target)
    if 40 not in [size for _, size in fixed.values()]:
        fail("no part has the 40 bytes of 10 floats: %s" % fixed)
    symbolic = check(net("symbolic", "n"), target, "--dim", "n=1..5")
    if 200 not in [size for _, size in symbolic.values()]:
        fail("no part has the 200 bytes of 5 x 10 floats: %s" % symbolic)
    check(net("empty", "n"), target, "--dim", "n=0..3")
    for model_name in sorted(os.listdir(MODELS)) if shared() else []:
        check(os.path.join(MODELS, model_name, "model.onnx"), target)
