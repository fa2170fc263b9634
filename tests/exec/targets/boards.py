#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Microcontrollers: a small 8-bit model runs on each simulated board that is
installed (half of them by turns) and gives what onnxruntime gives; instructions,
flash, RAM and stack are reported and plausible, and the plan that inspect prints is
that of the program. The goals of --optimize take less code, and sums whose rounding
has no proof no function for doubles. What is not installed is named with its package."""
import json
import os
import shutil
import subprocess

import helper
import turns

try:
    import numpy as np
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

SIZE, CHANNELS, RESULTS = 7, 8, 6
# A target for each board, and MACs at most by which it does an instruction.
BOARDS = ["cortex-m0", "cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55",
          "riscv32"]
MACS = SIZE * SIZE * CHANNELS * 9 * (4 + 1 + RESULTS)
# Those with DSP instructions or MVE, and the products of bytes that they name.
PRODUCTS = "tirc_dot_2x4_smlad(&", "tirc_mul_4_smla(&"
VECTOR_PRODUCT = "tirc_mul_mve_8("
PRODUCT_BOARDS = BOARDS[1:5]
VECTOR_BOARDS = ["cortex-m55"]


def image_model():
    """A first layer: a convolution of an image of three channels, whose padding
    is no 0, with steps of two pixels."""
    rng = np.random.default_rng(2)
    m = Model("image")
    q = m.input("x", rng.integers(-128, 128, (1, 3, SIZE, SIZE + 2), np.int8))
    scale = np.float32(0.05)
    real = m.node("DequantizeLinear", [q, m.constant(scale, "scale"),
                                       m.constant(np.int8(-9), "zero")])
    w = m.dequantized(rng.integers(-127, 128, (RESULTS, 3, 3, 3), np.int8),
                      0.01)
    b = m.dequantized(rng.integers(-500, 500, RESULTS, np.int32),
                      scale * np.float32(0.01))
    y = m.node("Conv", [real, w, b], pads=[1, 1, 1, 1], strides=[2, 2])
    q, _ = m.quantized(y, np.float32(0.2), np.int8(4))
    m.output(q)
    return m


def run_image():
    """Rows of an image are multiplied by dot products."""
    folder = helper.work_folder()
    path = image_model().write()
    helper.tirc("test", path, "--target", "cortex-m4", "--keep", folder)
    with open(os.path.join(folder, "image.c"), encoding="utf-8") as file:
        if PRODUCTS[0] not in file.read():
            helper.fail("the first layer has no call of " + PRODUCTS[0])


def vector_model():
    """Layers of 32 channels, whose sums are as large as bytes allow: 3x3, each
    channel alone, 1x1; a product of a matrix."""
    rng = np.random.default_rng(8)
    m = Model("vector")
    channels = 32
    q = m.input("x", rng.integers(-128, 128, (1, 16, SIZE, SIZE), np.int8))
    scale, zero = np.float32(0.05), np.int8(3)
    for inputs, groups, size, after in ((16, 1, 3, 0.6), (32, 32, 3, 0.9),
                                        (32, 1, 1, 2)):
        real = m.node("DequantizeLinear", [q, m.constant(scale, "scale"),
                                           m.constant(zero, "zero")])
        w = m.dequantized(rng.integers(-128, 128, (
            channels, inputs // groups, size, size), np.int8), 0.01)
        y = m.node("Conv", [real, w], group=groups, pads=[size // 2] * 4)
        scale, zero = np.float32(after), np.int8(-7)
        q, real = m.quantized(y, scale, zero)
    rows = m.node("Flatten", [real])
    w = m.dequantized(rng.integers(-128, 128, (
        channels * SIZE * SIZE, 12), np.int8), 0.01)
    q, _ = m.quantized(m.node("MatMul", [rows, w]), np.float32(8), np.int8(1))
    m.output(q)
    return m


def run_vectors():
    """MVE multiplies 16 bytes at a time."""
    folder = helper.work_folder()
    helper.tirc("test", vector_model().write(), "--target", "cortex-m55",
                "--keep", folder)
    with open(os.path.join(folder, "vector.c"), encoding="utf-8") as file:
        text = file.read()
    for product in ("tirc_dot_mve_4x16(", "tirc_mul_mve_16("):
        if product + "&" not in text:
            helper.fail("no call of %s" % product)


def averaged_model():
    """Two 1x1 convolutions, and the average of all pixels."""
    rng = np.random.default_rng(9)
    m = Model("averaged")
    channels = 16
    q = m.input("x", rng.integers(-128, 128, (1, channels, SIZE, SIZE), np.int8))
    scale, zero = np.float32(0.05), np.int8(3)
    for after in np.float32([0.06, 0.07]):
        real = m.node("DequantizeLinear", [q, m.constant(scale, "scale"),
                                           m.constant(zero, "zero")])
        w = m.dequantized(rng.integers(-128, 128, (channels, channels, 1, 1),
                                       np.int8), 0.01)
        scale = after
        q, real = m.quantized(m.node("Conv", [real, w]), scale, zero)
    q, _ = m.quantized(m.node("GlobalAveragePool", [real]), scale, zero)
    m.output(q)
    return m


def run_averaged():
    """The average reads the layout that the dot products take and give."""
    folder = helper.work_folder()
    helper.tirc("test", averaged_model().write(), "--target", "cortex-m4",
                "--requant", "tflite", "--keep", folder)
    with open(os.path.join(folder, "averaged.c"), encoding="utf-8") as file:
        text = file.read()
    pool = text[text.index("/* SumPool"):]
    if "/* Conv 1x1, 16 -> 16 channels, + bias, Requantize\n" not in text or \
            ", at [c/4][h][w][c%4]\n *   y" not in pool[:pool.index("*/")]:
        helper.fail("the average does not read blocks:\n" + pool)


def residual_model():
    """A sum of the first and the third convolution, read by a convolution with
    steps of two pixels, whose border would be narrow."""
    rng = np.random.default_rng(3)
    size, channels = 24, 8
    m = Model("residual")
    q = m.input("x", rng.integers(-128, 128, (1, channels, size, size),
                                  np.int8))
    scale, zero = np.float32(0.05), np.int8(3)

    def real(q, scale, zero):
        return m.node("DequantizeLinear", [q, m.constant(scale, "scale"),
                                           m.constant(zero, "zero")])

    def conv(x, scale, stride):
        w = m.dequantized(rng.integers(-127, 128, (channels, channels, 3, 3),
                                       np.int8), 0.001)
        b = m.dequantized(rng.integers(-500, 500, channels, np.int32),
                          scale * np.float32(0.001))
        before = 2 - stride
        return m.node("Conv", [x, w, b], pads=[before, before, 1, 1],
                      strides=[stride, stride])

    made = []
    for after in np.float32([0.05, 0.1, 0.15]):
        q, _ = m.quantized(conv(real(q, scale, zero), scale, 1), after, zero)
        scale = after
        made.append(real(q, scale, zero))
    q, _ = m.quantized(m.node("Add", [made[2], made[0]]), scale, zero)
    q, _ = m.quantized(conv(real(q, scale, zero), scale, 2), np.float32(0.05),
                       zero)
    m.output(q)
    return m, channels * size * size


def run_residual():
    """The sum overwrites one of its inputs: two tensors are alive, and copied
    rows."""
    model, tensor = residual_model()
    path = model.write()
    helper.tirc("test", path, "--target", "cortex-m4")
    memory = json.loads(helper.tirc("inspect", path, "--target", "cortex-m4",
                                    "--json").stdout)["memory"]
    if memory["workspace_bytes"] > 2.3 * tensor:
        helper.fail("the sum needs %d bytes of workspace, a tensor %d" % (
            memory["workspace_bytes"], tensor))


def small_model():
    """Convolutions 4 -> 8 channels, of each of the 8, and 8 -> 6, with a Relu
    each, of 8-bit numbers."""
    rng = np.random.default_rng(1)
    m = Model("small")
    q = m.input("x", rng.integers(-128, 128, (1, 4, SIZE, SIZE), np.int8))
    scale, zero = np.float32(0.05), np.int8(3)
    for inputs, outputs, groups, after in (
            (4, CHANNELS, 1, 0.1), (CHANNELS, CHANNELS, CHANNELS, 0.2),
            (CHANNELS, RESULTS, 1, 2)):
        real = m.node("DequantizeLinear", [q, m.constant(scale, "scale"),
                                           m.constant(zero, "zero")])
        w = m.dequantized(rng.integers(-127, 128, (outputs, inputs // groups,
                                                     3, 3), np.int8), 0.01)
        b = m.dequantized(rng.integers(-500, 500, outputs, np.int32),
                          scale * np.float32(0.01))
        y = m.node("Relu", [m.node("Conv", [real, w, b], group=groups,
                                   pads=[1, 1, 1, 1])])
        scale, zero = np.float32(after), np.int8(-128)
        q, _ = m.quantized(y, scale, zero)
    m.output(q)
    return m


def check_report(target, folder, report):
    with open(os.path.join(folder, "small.h"), encoding="utf-8") as file:
        words = file.read().split()
    workspace = int(words[words.index("SMALL_WORKSPACE_BYTES") + 1].strip("()u"))
    io = (4 + RESULTS) * SIZE * SIZE
    if not 0.5 * MACS < report["instructions"] < 40 * MACS:
        helper.fail("%s: %d instructions" % (target, report["instructions"]))
    if report["io_bytes"] != io or report["workspace_bytes"] != workspace or \
            report["ram_bytes"] != io + workspace + report["data_bytes"] + \
            report["bss_bytes"]:
        helper.fail("%s: RAM: %s" % (target, report))
    if report["flash_bytes"] != report["code_bytes"] + \
            report["constant_bytes"] + report["data_bytes"] or \
            not 200 < report["code_bytes"] < 8192 or \
            report["constant_bytes"] < CHANNELS * 4 * 9:
        helper.fail("%s: flash: %s" % (target, report))
    # The model's function, and the largest of the kernels that it calls.
    frames = frame_bytes(folder)
    least = frames.pop("small_run") + max(frames.values())
    if not least <= report["stack_bytes"] < least + 64:
        helper.fail("%s: stack: %s, frames of %d bytes" % (target, report, least))


def frame_bytes(folder):
    """The bytes of stack of each function of the source, which the compiler
    states."""
    with open(os.path.join(folder, "small.json"), encoding="utf-8") as file:
        command = json.load(file)["cc"].split()
    subprocess.run([*command, "-fstack-usage"], cwd=folder, check=True)
    with open(os.path.join(folder, "small.su"), encoding="utf-8") as file:
        rows = [line.split("\t") for line in file]
    return {where.split(":")[-1]: int(count) for where, count, _ in rows}


def check_borders(target, text, workspace):
    """Kernels copy rows with borders; that of each channel alone copies a plane,
    and stores its result over the tensor."""
    if "rows[" not in text or "in place" not in text or \
            workspace >= 2 * CHANNELS * SIZE * SIZE:
        helper.fail("%s: %d bytes of workspace:\n%s" % (target, workspace,
                                                        text))


def run(target, path):
    """On one board also: two programs count the same instructions, but for
    ticks of the clock."""
    folder = helper.work_folder()
    counts = []
    helper.tirc("test", path, "--target", target, "--keep", folder)
    for repeat in ("3", "1") if target == "cortex-m4" else ("1",):
        helper.tirc("run", path, "--target", target, "--repeat", repeat,
                    "--quiet", "--json", os.path.join(folder, "report.json"))
        with open(os.path.join(folder, "report.json"),
                  encoding="utf-8") as file:
            report = json.load(file)
        counts.append(report["instructions"])
    if abs(counts[0] - counts[-1]) > 200:
        helper.fail("%s: %s instructions" % (target, counts))
    check_report(target, folder, report)
    planned = json.loads(helper.tirc("inspect", path, "--target", target,
                                     "--json").stdout)["memory"]
    for name in ("workspace_bytes", "io_bytes", "ram_bytes"):
        more = report["data_bytes"] + report["bss_bytes"] \
            if name == "ram_bytes" else 0
        if report[name] != planned[name] + more:
            helper.fail("%s: %s: %d planned, %d in the program" % (
                target, name, planned[name], report[name]))
    if not 0 <= report["constant_bytes"] - planned["weights_bytes"] < 256:
        helper.fail("%s: constants: %s, planned %s" % (target, report, planned))
    with open(os.path.join(folder, "small.c"), encoding="utf-8") as file:
        text = file.read()
    products = [PRODUCTS[0], VECTOR_PRODUCT] if target in VECTOR_BOARDS else \
        PRODUCTS if target in PRODUCT_BOARDS else []
    for product in [*PRODUCTS, VECTOR_PRODUCT]:
        if (product in text) != (product in products):
            helper.fail("%s: calls of %s" % (target, product))
    # Planes of eight channels, as MVE has them, are too large to copy.
    if target in PRODUCT_BOARDS and target not in VECTOR_BOARDS:
        check_borders(target, text, report["workspace_bytes"])


def profile(path):
    """A row for each kernel; together they take what the run takes."""
    found = os.path.join(helper.work_folder(), "profile.json")
    done = helper.tirc("run", path, "--target", "cortex-m4", "--profile",
                       "--json", found)
    with open(found, encoding="utf-8") as file:
        report = json.load(file)
    kernels = report["kernels"]
    total = sum(k["instructions"] for k in kernels)
    if len(kernels) != 3 or sum(k["macs"] for k in kernels) > MACS or \
            not 0.9 < total / report["instructions"] <= 1 or \
            any("\n%s " % k["name"] not in done.stdout for k in kernels):
        helper.fail("the profile has %s\n%s" % (report, done.stdout))


def goals(target, path):
    """--optimize size and balanced give less code, of which short functions are
    inlined: with the flags of size alone the source takes more instructions, where
    there are such functions."""
    folder = helper.work_folder()
    found = os.path.join(folder, "report.json")
    reports, flags = {}, []
    for name in ("speed", "balanced", "size", "flags"):
        options = [path, "--target", target] + (
            ["--cflags", " ".join(flags)] if name == "flags"
            else ["--optimize", name])
        helper.tirc("test", *options, "--keep", folder)
        helper.tirc("run", *options, "--quiet", "--json", found)
        with open(found, encoding="utf-8") as file:
            reports[name] = json.load(file)
        with open(os.path.join(folder, "small.json"),
                  encoding="utf-8") as file:
            model = json.load(file)
        goal = "speed" if name == "flags" else name
        if model["optimize"] != goal or goal == "size" and (
                "-Os" not in model["cc"].split() or "-O3" in model["cc"]):
            helper.fail("%s: %s: %s" % (target, name, model["cc"]))
        words = model["cc"].replace("-O3", "-Os").split()
        flags = words[1:words.index("-I.")]
    code = {name: reports[name]["code_bytes"] for name in reports}
    taken = {name: reports[name]["instructions"] for name in reports}
    if not code["size"] < code["balanced"] < code["speed"] or \
            not taken["speed"] <= taken["size"] <= taken["flags"] or \
            target == "cortex-m4" and taken["size"] == taken["flags"]:
        helper.fail("%s: code %s, instructions %s" % (target, code, taken))


def unproven(target):
    """Results of 16 bits, and results of 8 whose pass is off, are rounded as
    doubles are, without a function for doubles."""
    rng = np.random.default_rng(7)
    m = Model("wide")
    scale = np.float32(0.05)
    x = rng.integers(-128, 128, (1, 4, SIZE, SIZE), np.int8)
    real = m.node("DequantizeLinear", [m.input("x", x), m.constant(scale),
                                       m.constant(np.int8(3))])
    w = rng.integers(-127, 128, (CHANNELS, 4, 3, 3), np.int8)
    b = rng.integers(-500, 500, CHANNELS, np.int32)
    for after, zero in ((np.float32(0.0003), np.int16(5)),
                        (np.float32(0.3), np.int8(-4))):
        y = m.node("Conv", [real, m.dequantized(w, 0.01), m.dequantized(
            b, scale * np.float32(0.01))])
        m.output(m.quantized(y, after, zero)[0])
    folder = helper.work_folder()
    done = helper.tirc("test", m.write(), "--target", target, "--disable-pass",
                       "requantize", "--keep", folder)
    with open(os.path.join(folder, "wide.json"), encoding="utf-8") as file:
        cc = json.load(file)["cc"].split()
    sources = [name for name in os.listdir(folder)
               if name in ("wide.c", "wide_weights.c")]
    helper.execute(cc[:cc.index("-I.")] + ["-I.", "-c", *sources], cwd=folder)
    said = helper.execute([cc[0].replace("-gcc", "-nm"), "-u", "wide.o"],
                          cwd=folder).stdout.split()
    if any("aeabi_d" in name or "aeabi_i2d" in name or "df" in name or
           name.startswith("nearbyint") for name in said):
        helper.fail("%s: %s" % (target, " ".join(said)))
    with open(os.path.join(folder, "wide.c"), encoding="utf-8") as file:
        if "scaled_i32(" not in file.read():
            helper.fail("%s: no rounding of doubles\n%s" % (
                target, done.stdout))


def refuse(path, said, *options, **more):
    done = helper.tirc("run", path, *options, status=1, **more)
    if said not in done.stderr:
        helper.fail("not '%s' but %s" % (said, done.stderr))


model = small_model()
path = model.write()
refuse(path, "arm-none-eabi-gcc is not installed; on Debian: apt-get install "
       "gcc-arm-none-eabi libnewlib-arm-none-eabi", "--target", "cortex-m4",
       env=dict(os.environ, PATH="/nowhere"))
refuse(path, "c99: the target does not say what --optimize size is", "--target",
       "c99", "--optimize", "size")
refuse(path, "'tiny' is none of speed, balanced and size", "--target", "cortex-m4",
       "--optimize", "tiny")
refuse(path, "--json needs --profile, or a target with a simulator", "--target", "c99",
       "--json", os.path.join(os.path.dirname(path), "report.json"))

missing = []
for target in turns.some("boards", BOARDS, len(BOARDS) // 2):
    arm = target.startswith("cortex")
    lacks = [name for name in (
        "arm-none-eabi-gcc" if arm else "riscv64-unknown-elf-gcc",
        "qemu-system-arm" if arm else "qemu-system-riscv32")
        if not shutil.which(name)]
    if lacks:
        missing += [name for name in lacks if name not in missing]
        continue
    run(target, path)
    if target in ("cortex-m0", "cortex-m4", "riscv32"):
        goals(target, path)
        unproven(target)
    print(target, "passed")
if shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm"):
    profile(path)
    run_image()
    run_residual()
    run_averaged()
    run_vectors()
    # What the simulator computes is compared: other numbers fail.
    name = list(model.outputs)[0]
    model.outputs[name] = np.full((1, RESULTS, SIZE, SIZE), 77)
    wrong = model.write()
    done = helper.tirc("test", wrong, "--target", "cortex-m4", status=1)
    if "board  run by qemu-system-arm\n" not in done.stdout:
        helper.fail("no board in:\n" + done.stdout)
    # A data set that cannot be used is told; no program runs for it.
    for name in os.listdir(os.path.dirname(wrong)):
        output = os.path.join(os.path.dirname(wrong), name, "output_0.pb")
        if os.path.exists(output):
            os.remove(output)
    done = helper.tirc("test", wrong, "--target", "cortex-m4", status=1)
    if "  not compared\n" not in done.stdout or "board" in done.stdout:
        helper.fail("a data set without output: " + done.stdout)
if missing:
    helper.skip("not installed: " + ", ".join(missing))
