#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What targets with rules of their own make of the digit classifier, of a
quantized network and of one in bfloat16: tirc alone, no compiler, so that those
rules also run where tirc is watched by sanitizers. Includes stand once, at the
top, no step of a quantized result is too long a line, and the rules have been
taken."""
import os
import random
import re

import proto
from helper import DIGITS, compile_model, contents, fail, has_dialect, \
    work_folder

TARGETS = ["c99", "gnu-c", "c-openmp", "c-threads", "x86-64-v4",
           "x86-64-amx", "misra",
           *filter(has_dialect, ("cuda", "opencl", "opencl-cpu"))]
UINT8, INT8, INT32, BFLOAT16 = 2, 3, 6, 16
CHANNELS, SIZE = 64, 56
# What the file must have, by model and target.
WANTED = [("bytes", "x86-64-amx", "tirc_amx_dot_u8s8("),
          ("bf16", "x86-64-amx", "tirc_amx_dot_bf16("),
          ("bytes", "x86-64-v4", "tirc_dot_16x4_vnni("),
          ("bytes", "cuda", "__syncthreads();"),
          ("bytes", "opencl", "barrier(CLK_LOCAL_MEM_FENCE)"),
          ("bytes", "c-openmp", "#pragma omp parallel for"),
          ("bytes", "c99", "const int32_t scaled = ")]


def signed(count):
    return bytes(random.randrange(256) for _ in range(count))


def byte_network():
    """Three convolutions, each between QuantizeLinear and DequantizeLinear."""
    nodes, constants = [], []

    def constant(name, dims, data, kind=proto.FLOAT):
        constants.append(proto.tensor(name, dims, data, kind))
        return name

    zero = constant("zero", [], b"\0", UINT8)
    plain = constant("plain", [], b"\0", INT8)
    scale = constant("scale", [], proto.floats(0.05))
    x = "x"
    for i, kernel in enumerate((3, 1, 3)):
        q, d, w, c = ("%s%d" % (stem, i) for stem in "qdwc")
        weights = constant(w + "_q", [CHANNELS, CHANNELS, kernel, kernel],
                           signed(CHANNELS * CHANNELS * kernel * kernel), INT8)
        bias = constant(w + "_b", [CHANNELS],
                        b"\1\0\0\0" * CHANNELS, INT32)
        step = constant(w + "_s", [], proto.floats(0.05 * 0.05))
        unit = constant(w + "_n", [], b"\0" * 4, INT32)
        nodes += [
            proto.node("QuantizeLinear", [x, scale, zero], [q], q),
            proto.node("DequantizeLinear", [q, scale, zero], [d], d),
            proto.node("DequantizeLinear", [weights, scale, plain], [w], w),
            proto.node("DequantizeLinear", [bias, step, unit], [w + "_d"],
                       w + "_d"),
            proto.node("Conv", [d, w, w + "_d"], [c], c,
                       kernel_shape=[kernel, kernel],
                       pads=[kernel // 2] * 4)]
        x = c
    nodes += [proto.node("QuantizeLinear", [x, scale, zero], ["y_q"], "y_q"),
              proto.node("DequantizeLinear", ["y_q", scale, zero], ["y"],
                         "y_d")]
    shape = [1, CHANNELS, SIZE, SIZE]
    return proto.simple(nodes, constants, shape, shape, version=13)


def bfloat16_network():
    """A convolution and a product by a matrix, of bfloat16."""
    shape = [1, CHANNELS, SIZE, SIZE]
    weights = [
        proto.tensor("w", [CHANNELS, CHANNELS, 3, 3],
                     b"\x80\x3e" * (CHANNELS * CHANNELS * 9), BFLOAT16),
        proto.tensor("v", [CHANNELS, CHANNELS, 1, 1],
                     b"\x80\x3d" * (CHANNELS * CHANNELS), BFLOAT16)]
    nodes = [proto.node("Cast", ["x"], ["b"], "cast", to=BFLOAT16),
             proto.node("Conv", ["b", "w"], ["c"], "first",
                        kernel_shape=[3, 3], pads=[1] * 4),
             proto.node("Conv", ["c", "v"], ["d"], "second",
                        kernel_shape=[1, 1]),
             proto.node("Cast", ["d"], ["y"], "back", to=proto.FLOAT)]
    return proto.simple(nodes, weights, shape, shape, version=22)


def width(line):
    """As the layout counts it, and what it may be."""
    text = line.lstrip("\t ")
    indent = len(line[:len(line) - len(text)].expandtabs(8))
    return indent + len(text), max(80, indent + 60)


def check(name, target, folder):
    """The text of all of the model's files."""
    every = ""
    for path, data in sorted(contents(folder).items()):
        if not path.endswith((".c", ".cu", ".cl")) or "_program" in path:
            continue
        text = data.decode() if isinstance(data, bytes) else data
        every += text
        at = "%s for %s, %s" % (name, target, path)
        lines = text.split("\n")
        includes = [i for i, line in enumerate(lines)
                    if line.startswith("#include")]
        if len({lines[i] for i in includes}) < len(includes):
            fail(at + ": a header is included twice")
        first = next((i for i, line in enumerate(lines)
                      if re.match(r"[a-z{]|/\* [A-Z]", line)), len(lines))
        if includes and includes[-1] > first:
            fail(at + ": includes in the middle")
        # Elsewhere an index alone may be longer than a line.
        for line in lines:
            now, most = width(line)
            if now > most and re.search("add_wrap|scaled|clipped", line):
                fail("%s: %d columns: %s" % (at, now, line))
    return every


random.seed(4)
models = {"digits": DIGITS}
for kind, made in (("bytes", byte_network()), ("bf16", bfloat16_network())):
    models[kind] = os.path.join(work_folder(), kind + ".onnx")
    with open(models[kind], "wb") as file:
        file.write(made)
for model, where in models.items():
    for one in TARGETS:
        if model == "bf16" and one not in ("c99", "gnu-c", "x86-64-amx"):
            continue
        source = check(model, one, compile_model(where, "--name", "m",
                                                 "--target", one))
        for kind, target, words in WANTED:
            if (kind, target) == (model, one) and words not in source:
                fail("%s for %s: no %s" % (model, one, words))

# Regions of the backends that ship; tests/exec/byoc_*.py run them.
REGIONS = [("digits", "dnnl", "tirc_dnnl_convolution"),
           ("bytes", "dnnl", "tirc_dnnl_then_requantize"),
           ("bf16", "dnnl", "dnnl_bf16"),
           ("digits", "cblas", "cblas_s")]
for model, backend, words in REGIONS:
    source = check(model, "gnu-c and " + backend, compile_model(
        models[model], "--name", "m", "--target", "gnu-c", "--byoc", backend))
    if words not in source:
        fail("%s by %s: no %s" % (model, backend, words))
