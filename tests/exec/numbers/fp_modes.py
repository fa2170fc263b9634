#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--fp: of strict, the same bits from every compiler, at every level, for every
processor here (64-bit Arm under qemu), with the flags of the build files and
without; a libm function that has no body of ours is refused; the three modes
say in source, build files and metadata what they are and give nearly the same
numbers. Models are compiled in a part of the ways, larger ones in one of eight,
others after each commit; TIRC_TURNS=all takes all."""
import array
import json
import os
import random
import re
import shutil

import turns
from helper import DIGITS, STRICT, compilers, execute, fail, \
    processor_features, shared, tirc, work_folder

FMA = "-mfma -mavx2" if os.uname().machine == "x86_64" and \
    "fma" in processor_features() else ""
ARM = "aarch64-linux-gnu-gcc"


def sources(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith((".c", ".S")))


def write(model, target, mode):
    """The model's files and a harness, with numbers that are no small
    integers as inputs."""
    folder = work_folder()
    tirc("run", model, "--target", target, "--fp", mode, "--keep", folder,
         "--weights", "incbin", "--name", "net", "--cflags", "-O0")
    with open(os.path.join(folder, "net.json"), encoding="utf-8") as file:
        facts = json.load(file)
    numbers = random.Random(1)
    for i, tensor in enumerate(facts["inputs"]):
        n = 1
        for extent in tensor["shape"]:
            n *= extent
        values = array.array("f", [numbers.gauss(0, 1) for _ in range(n)])
        with open(os.path.join(folder, "input_%d.bin" % i), "wb") as file:
            values.tofile(file)
    if facts["fp"] != mode:
        fail("the metadata say " + str(facts["fp"]))
    return folder, facts


def outputs(folder, command, runner=()):
    exe = os.path.join(folder, "a.out")
    execute([*command.split(), "-w", "-DTIRC_ANY_PROCESSOR", "-I" + folder,
             *sources(folder), "-o", exe, "-lm"], cwd=folder)
    execute([*runner, exe, "1"], cwd=folder)
    with open(os.path.join(folder, "output_0.bin"), "rb") as file:
        return file.read()


def commands(standard):
    for cc in compilers():
        yield "%s %s -O0" % (cc, standard), ()
        yield "%s %s -O1 -ffp-contract=off" % (cc, standard), ()
        yield "%s %s -O2 %s" % (cc, standard, FMA), ()
        yield "%s %s -O3 -march=native -ffp-contract=off" % (
            cc, standard), ()
        # As gcc has it outside of ISO mode, were it not for the source.
        yield "%s -std=gnu11 -O3 %s -ffp-contract=fast" % (cc, FMA) \
            if cc == "gcc" else "clang -std=gnu11 -O3 " + FMA, ()
    if shutil.which(ARM) and shutil.which("qemu-aarch64"):
        for level in ("-O0", "-O2", "-O3"):
            yield "%s %s %s -static" % (ARM, standard, level), \
                ("qemu-aarch64",)
    else:
        print("not tried: 64-bit Arm, for want of its gcc and qemu")


def check_strict(model, target, standard, some):
    folder, _ = write(model, target, "strict")
    first = None
    ways = list(commands(standard))
    for command, runner in ways[:1] + ways[1 + turns.this_turn()[0] % some::some]:
        bits = outputs(folder, command, runner)
        first = first or (command, bits)
        if bits != first[1]:
            off = sum(a != b for a, b in zip(array.array("I", bits),
                                             array.array("I", first[1])))
            fail("%s: %d of %d numbers differ between '%s' and '%s'" % (
                model, off, len(bits) // 4, command, first[0]))
    plain = [path for path in sources(folder) if path.endswith("net.c")][0]
    for cc in compilers() if some < 8 else []:
        execute([cc, *standard.split(), *STRICT, "-O2", "-I" + folder, "-c",
                 plain, "-o", os.devnull])
        execute([cc, *standard.split(), "-ffast-math", "-w",
                 "-DTIRC_ANY_PROCESSOR", "-I" + folder,
                 "-c", plain, "-o", os.devnull], status=1)
    with open(plain, encoding="utf-8") as file:
        text = file.read()
    if re.search(r"\b(exp|log|tanh|erf|pow|sin|cos)f? ?\(", text):
        fail("a function of libm is left in the strict source")
    return first[1]


def check_modes(model, target, standard):
    results = {}
    for mode in ("strict", "default", "fast"):
        folder, facts = write(model, target, mode)
        flags = re.search(r"CFLAGS := (.*)", open(
            os.path.join(folder, "net.mk"), encoding="utf-8").read()).group(1)
        if mode == "strict" and "-ffp-contract=off" not in flags:
            fail("the build files of --fp strict contract: " + flags)
        banner = open(os.path.join(folder, "net.c"),
                      encoding="utf-8").read().split("*/")[0]
        for flag in flags.split():
            if flag not in banner or flag not in facts["cc"]:
                fail("the banner or the metadata do not say " + flag)
        bits = outputs(folder, "%s %s" % (compilers()[0], flags))
        results[mode] = array.array("f", bits)
    size = max(abs(x) for x in results["default"])
    for mode in ("strict", "fast"):
        off = max(abs(a - b) for a, b in zip(results[mode],
                                             results["default"]))
        if not off <= 1e-4 * size:
            fail("%s is %g off default" % (mode, off))
    print("%s: largest %g" % (os.path.basename(model), size))


models = [DIGITS]
if shared():
    models.append(os.path.join(shared(), "models", "cct2_128", "model.onnx"))
targets = [("c99", "-std=c99"), ("c99-avx512", "-std=c99")]
if "gnu-c" in tirc("targets", "--names").stdout.split():
    targets.append(("gnu-c", "-std=gnu11 -fopenmp-simd"))
for model in models:
    if not os.path.exists(model):
        print("not tried: " + model)
        continue
    # Compilers take long: of large ones, and of targets that extend the first.
    for index, (target, standard) in enumerate(targets):
        some = (3, 5, 5) if model == DIGITS else (None, None, 8)
        if turns.all_turns():
            some = (1, 1, 1)
        if some[index] is not None:
            check_strict(model, target, standard, some[index])
    if model == DIGITS:
        check_modes(model, *targets[-1])

program = os.path.join(work_folder(), "functions.py")
for name, strict_targets in (("sin", ["c99"]), ("tan", [])):
    with open(program, "w", encoding="utf-8") as file:
        file.write("""
from tvm.script import tir as T

@T.prim_func
def functions(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
    for i in range(8):
        y[i] = T.%s(x[i])
""" % name)
    # misra and cortex-m0 extend c99, whose sine reads bits of floats, and is in
    # float64.
    for target in ("c99", "misra", "cortex-m0"):
        tirc("codegen", program, "--target", target, "--fp", "fast")
        strict = tirc("codegen", program, "--target", target, "--fp",
                      "strict", status=None)
        if (strict.returncode == 0) != (target in strict_targets) or \
                strict.returncode != 0 and "libm" not in strict.stderr:
            fail("%s as strict for %s: %s" % (name, target, strict.stderr))
for wrong in ("exact", ""):
    tirc("compile", DIGITS, "--fp", wrong, "-o", work_folder(), status=1)
