#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stack.py: the stack that a header states is at least what two compilers take
with the target's flags: the entry function and the kernel with the largest
frame. Models of ../shared are looked at where they are."""
import os
import re
import sys

from helper import *

SHARED = os.path.join(ROOT, "..", "shared", "models", "mlperf_tiny")
models = [DIGITS] + [
    os.path.join(SHARED, name, "model.onnx")
    for name in ["resnet8_int8", "kws_fp32", "ad01_int8"]
    if os.path.exists(os.path.join(SHARED, name, "model.onnx"))]
checked = 0
for model in models:
    for target in ["c99", "gnu-c", "misra", "c99-avx512"]:
        out = compile_model(model, "--target", target, "--name", "net", "-q")
        with open(os.path.join(out, "net.h")) as f:
            header = f.read()
        stated = int(re.search(r"stack about (\d+) bytes", header)[1])
        if not re.search(r"#define NET_STACK_BYTES %du" % stated, header):
            fail("NET_STACK_BYTES of %s is not %d" % (target, stated))
        with open(os.path.join(out, "net.mk")) as f:
            flags = re.search(r"CFLAGS [:+]?= (.*)", f.read())[1].split()
        for cc in compilers():
            if "-march=native" in flags and not os.path.exists("/proc/cpuinfo"):
                continue
            execute([cc, *flags, "-fstack-usage", "-I" + out, "-c",
                     os.path.join(out, "net.c"), "-o",
                     os.path.join(out, "net.o")])
            frames = {}
            with open(os.path.join(out, "net.su")) as f:
                for line in f:
                    place, size = line.split("\t")[:2]
                    frames[place.split(":")[-1]] = int(size)
            entry = frames.pop("net_run")
            seen = entry + max([frames[name] for name in frames
                                if not name.startswith("net_init") and
                                name != "net_fini"] or [0])
            if seen > stated:
                fail("%s for %s by %s: %d bytes of stack, stated are %d" %
                     (model, target, cc, seen, stated))
            checked += 1
print("%d frames are within their bounds" % checked)
