#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Targets for kinds of processors: targets.py TARGET. With the target's own
flags and every compiler, what is emitted compiles without a word and computes
small models right, on this machine or under qemu. The source, the build files
and the metadata say for which target and flags they are."""
import json
import os
import platform
import shutil
import sys

import cases
import processors
from helper import DIGITS, STRICT, compile_model, compilers, \
    execute, fail, processor_features, shared, skip, tirc, work_folder

target = sys.argv[1]
# What /proc/cpuinfo calls the instructions that the target may use.
NEEDS = {
    "x86-64-v2": {"sse4_2", "popcnt"},
    "x86-64-v3": {"avx2", "fma"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-vnni": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl",
                    "avx512_vnni"},
    "x86-64-bf16": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl",
                    "avx512_vnni", "avx512_bf16"},
    "x86-64-amx": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl",
                   "avx512_vnni", "amx_tile", "amx_int8", "amx_bf16"},
}
KNOWN = {"x86-64-vnni": ["-march=x86-64-v4", "-mavx512vnni"],
         "x86-64-bf16": ["-march=x86-64-v4", "-mavx512bf16"],
         "x86-64-amx": ["-march=x86-64-v4", "-mamx-bf16"]}
# The last one differs by compiler; others are for ./run models.
MODELS = ["mnist", "tinyvit", "mlperf_tiny/resnet8_int8"]


def ways():
    """(compiler, what runs the program)."""
    other = processors.for_target(target)
    if target == "aarch64":
        if platform.machine() == "aarch64":
            return [(cc, ()) for cc in compilers()]
        found = [(other.cc, other.runner)]
        if shutil.which("clang"):
            found.append(("clang --target=aarch64-linux-gnu", other.runner))
        return found
    if platform.machine() != "x86_64":
        skip("this is no x86-64")
    missing = NEEDS[target] - processor_features()
    if missing and not other:
        skip("this processor has no " + ", ".join(sorted(missing)))
    found = []
    for cc in compilers():
        done = execute([cc, *KNOWN.get(target, ["-march=" + target]), "-E",
                        "-x", "c", os.devnull], status=None)
        if done.returncode == 0:
            found.append((cc, other.runner if missing else ()))
    return found or skip("no compiler knows " + target)


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def check_words(folder):
    """The target's flags, found in all that was written."""
    facts = json.loads(read(folder, "digits.json"))
    head = read(folder, "digits.c").split("*/")[0]
    flags = [word for word in facts["cc"].split()[1:]
             if word.startswith("-") and word not in ("-I.", "-c")]
    if facts["target"] != target or not flags:
        fail("the metadata are of %s" % facts["target"])
    for flag in flags:
        for name in ("digits.mk", "digits.cmake"):
            if flag not in read(folder, name):
                fail("%s does not say %s" % (name, flag))
        if flag not in head:
            fail("the source does not say %s" % flag)
    if "target " + target not in head:
        fail("the source does not say which target it is for")
    return flags


ways = ways()
folder = compile_model(DIGITS, "--target", target, "--weights", "c")
flags = check_words(folder)
for cc, _ in ways:
    for name in ("digits.c", "digits_weights.c"):
        execute([*cc.split(), *flags, *STRICT, "-I" + folder, "-c",
                 os.path.join(folder, name), "-o", os.devnull])

if shared() is None:
    skip("no reference models")
for name in MODELS:
    case = cases.make(name, work_folder())
    # What differs by compiler shows in two of them; one under an emulator.
    both = ["mnist"] if ways[0][1] else ["mnist", MODELS[-1]]
    for cc, runner in ways if name in both else ways[:1]:
        done = tirc("test", case.model, *case.data, *case.options, "--target",
                    target, "--cc", cc, "--cflags",
                    " ".join([*flags, *STRICT[:2]]), "--runner",
                    " ".join(runner))
        print(cc, done.stdout)
    case.close()
