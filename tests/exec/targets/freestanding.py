#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""8-bit models without an operating system: the objects of a small one, by the
compiler of each microcontroller (half of them by turns) at -Os, -O2 and -O3 with
-ffreestanding, want no function from outside but memcpy and memset: none of libm,
and none of the compiler's library for floats, divisions and long products. Its
averages are exact on targets whose arithmetic in floats is slow."""
import json
import os
import shutil

import helper
import turns

try:
    import numpy as np
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

# Each with the levels for --requant onnx, and for tflite.
TARGETS = {
    "c99": (["-Os", "-O3"], ["-O2"]), "misra": (["-Os", "-O3"], ["-O2"]),
    "cortex-m0": (["-Os", "-O3"], ["-O2"]), "cortex-m0plus": (["-Os"], []),
    "cortex-m3": (["-O2"], ["-Os"]), "cortex-m4": (["-Os", "-O3"], ["-O2"]),
    "cortex-m7": (["-O2"], []), "cortex-m33": (["-Os"], []),
    "cortex-m55": (["-O3"], []), "cortex-m85": (["-O2"], []),
    "riscv32": (["-Os", "-O3"], ["-O2"])}
# The compiler for sources that are for any machine.
ANY = "arm-none-eabi-gcc -std=c99 -mthumb -mcpu=cortex-m3"
ALLOWED = {"memcpy", "memset"}


def small_net():
    """Convolution, depthwise convolution, Add, averages, MaxPool, Concat and
    ConvTranspose, of random bytes; the second part of the concatenation has another
    scale."""
    rng = np.random.default_rng(5)
    m = Model("net")
    zero = np.int8(-128)
    x = m.node("DequantizeLinear", [
        m.input("x", rng.integers(-128, 128, (1, 4, 10, 10), np.int8)),
        m.constant(np.float32(0.05)), m.constant(np.int8(3))])

    def conv(x, step, outputs, inputs, groups, scale):
        y = m.node("Conv", [
            x, m.dequantized(rng.integers(-127, 128, (
                outputs, inputs // groups, 3, 3), np.int8), 0.01),
            m.dequantized(rng.integers(-500, 500, outputs, np.int32),
                          np.float32(step) * np.float32(0.01))],
            group=groups, pads=[1, 1, 1, 1])
        return m.quantized(m.node("Relu", [y]), scale, zero)[1]

    a = conv(x, 0.05, 8, 4, 1, 0.07)
    b = conv(a, 0.07, 8, 8, 8, 0.05)
    c = m.quantized(m.node("Add", [a, b]), 0.09, zero)[1]
    d = m.quantized(m.node("AveragePool", [c], kernel_shape=[3, 3],
                           strides=[2, 2]), 0.09, zero)[1]
    e = m.quantized(m.node("MaxPool", [c], kernel_shape=[3, 3],
                           strides=[2, 2]), 0.09, zero)[1]
    f = m.quantized(m.node("Concat", [d, e], axis=1), 0.09, zero)[1]
    w = m.dequantized(rng.integers(-127, 128, (16, 4, 3, 3), np.int8), 0.01)
    q, _ = m.quantized(m.node("ConvTranspose", [f, w], strides=[2, 2]), 0.2,
                       zero)
    m.output(q)
    return m


def undefined(folder, cc, level):
    """The functions that the objects of the folder want from outside."""
    words = cc.split()
    words = [word for word in words if word not in ("-O2", "-O3", "-Os")]
    helper.execute(words + [level, "-ffreestanding"], cwd=folder)
    nm = words[0].replace("-gcc", "-nm") if words[0].endswith("-gcc") else "nm"
    objects = [name for name in os.listdir(folder) if name.endswith(".o")]
    lines = helper.execute([nm, *objects], cwd=folder).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines if len(line.split()) > 1]
    has = {name for kind, name in symbols if kind not in "Uw"}
    return {name for kind, name in symbols if kind == "U"} - has


def check(path, target, mode, levels):
    folder = helper.compile_model(path, "--name", "net", "--target", target,
                                  "--requant", mode, "-q")
    with open(os.path.join(folder, "net.json"), encoding="utf-8") as file:
        cc = json.load(file)["cc"]
    sources = cc[cc.index(" -I. "):]
    command = ANY if target in ("c99", "misra") else cc[:cc.index(" -I. ")]
    if not shutil.which(command.split()[0]):
        return command.split()[0]
    for level in levels:
        rest = undefined(folder, command + sources, level) - ALLOWED
        if rest:
            helper.fail("%s, %s, %s: undefined %s" % (
                target, mode, level, " ".join(sorted(rest))))
    return None


def exact_averages():
    """Averages of 125 and 9 bytes are the bytes next to the exact numbers: for
    random bytes, and for sums beside the middle of two numbers."""
    rng = np.random.default_rng(6)
    m = Model("average")
    given = [m.constant(np.float32(0.0802361)), m.constant(np.int8(-100))]
    for shape in ([5, 25], [3, 3]):
        count = shape[0] * shape[1]
        x = rng.integers(-128, 128, (64, 16, *shape), np.int8)
        for i in range(32):
            base = int(rng.integers(-100, 100)) * count + count // 2 + i % 2
            rows = x[i].reshape(16, count)
            rows[:] = base // count
            rows[:, :base % count] += 1
        real = m.node("DequantizeLinear",
                      [m.input("x%d" % count, x)] + given)
        q = m.node("QuantizeLinear",
                   [m.node("GlobalAveragePool", [real])] + given)
        total = x.astype(int).sum((2, 3), keepdims=True)
        m.output(q, (2 * total + count) // (2 * count))
    path = m.write()
    for target, mode in (("c99", "onnx"), ("c99", "tflite"),
                         ("misra", "onnx")):
        if helper.has_dialect(target):
            helper.tirc("test", path, "--target", target, "--requant", mode,
                        "--atol", "0", "--rtol", "0", "-q")


model = small_net()
path = model.write()
lacking = set()
for target in turns.some("freestanding", list(TARGETS), len(TARGETS) // 2):
    for mode, levels in zip(("onnx", "tflite"), TARGETS[target]):
        if levels:
            lacking.add(check(path, target, mode, levels))
exact_averages()
lacking.discard(None)
if lacking:
    helper.skip("not installed: " + ", ".join(sorted(lacking)))
