#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stack.py: what is said of the stack is so. The header gives no number for a
whole run, which compilers decide. The local arrays that it states, and those of
each kernel in the JSON, are in the frames of compilers that optimize nothing,
and no kernel without them declares one."""
import json
import os
import platform
import re

from helper import *

models = [DIGITS] + [
    os.path.join(shared() or "", "models", "mlperf_tiny", name, "model.onnx")
    for name in ["resnet8_int8", "kws_fp32", "ad01_int8"] if shared()]
checked = 0
# The frame does not count what lies below the stack pointer.
WHOLE = ["-mno-red-zone"] if platform.machine() == "x86_64" else []


def frames(out, cc, flags):
    """function: bytes"""
    execute([cc, *flags, "-DTIRC_ANY_PROCESSOR", "-O0", "-fno-inline", *WHOLE, "-fstack-usage", "-I" + out,
             "-c", os.path.join(out, "net.c"), "-o",
             os.path.join(out, "net.o")])
    with open(os.path.join(out, "net.su")) as f:
        rows = [line.split("\t")[:2] for line in f]
    return {place.split(":")[-1]: int(size) for place, size in rows}


for model in models:
    for target in ["c99", "gnu-c", "misra", "x86-64-v3"]:
        out = compile_model(model, "--target", target, "--name", "net", "-q")
        with open(os.path.join(out, "net.h")) as f:
            header = f.read()
        with open(os.path.join(out, "net.json")) as f:
            facts = json.load(f)
        local = {k["function"]: k["local_array_bytes"]
                 for k in facts["kernels"]}
        stated = re.findall(r"\d+", re.search(r"^ \* stack .*", header, re.M)[0])
        most = max(local.values())
        if [int(n) for n in stated] != [most] or "STACK" in header or \
                facts["memory"]["local_array_bytes"] != most:
            fail("%s for %s: the header says %s of the stack, local arrays "
                 "have %d bytes" % (model, target, stated, most))
        with open(os.path.join(out, "net.mk")) as f:
            flags = re.search(r"CFLAGS [:+]?= (.*)", f.read())[1].split()
        for cc in compilers():
            seen = frames(out, cc, flags)
            for name, size in local.items():
                if name in seen and seen[name] < size:
                    fail("%s for %s by %s: the frame of %s has %d bytes, its "
                         "local arrays %d" % (model, target, cc, name,
                                              seen[name], size))
                checked += name in seen
if checked < 40:
    fail("only %d frames were found" % checked)
print("%d frames have the local arrays that are stated" % checked)
