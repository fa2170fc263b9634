#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Intrinsics compiled for the instruction itself, where this machine, or an
emulator on it, has it. argv: the test program, a folder, which machine."""
import os
import shutil
import subprocess
import sys

from helper import processor_features, skip

program, folder, which = sys.argv[1:]
here = {  # what the processor calls it, gcc's flag, the instruction
    "vnni": ("avx512_vnni", "-mavx512vnni", "vpdpbusd"),
    "bf16": ("avx512_bf16", "-mavx512bf16", "vdpbf16ps"),
}
if which in here:
    feature, flag, instruction = here[which]
    if feature not in processor_features():
        skip("this processor has no " + feature)
    if not shutil.which("gcc"):
        skip("gcc is not installed")
    compiler = "gcc -std=gnu11 -O2 -march=x86-64-v4 " + flag
    disassemble = ["objdump", "-d"]
else:
    tools, emulator, flags = {
        "sdot": ("aarch64-linux-gnu-", "qemu-aarch64",
                 "-march=armv8.2-a+dotprod"),
        "smlad": ("arm-linux-gnueabihf-", "qemu-arm",
                  "-march=armv7-a+fp -marm"),
    }[which]
    for tool in (tools + "gcc", emulator):
        if not shutil.which(tool):
            skip(tool + " is not installed")
    compiler = tools + "gcc -static -std=gnu11 -O2 " + flags
    instruction = which
    os.environ["TIRC_RUNNER"] = emulator
    disassemble = [tools + "objdump", "-d"]

done = subprocess.run(
    [program, "gnu-c", folder, compiler + " -Wall -Wextra -Werror -DTIRC_ANY_PROCESSOR"],
    check=False)
if done.returncode != 0:
    sys.exit("the instruction gives something else than its description")
if shutil.which(disassemble[0]):
    text = subprocess.run(disassemble + [folder + "/intrinsics"],
                          check=True, capture_output=True, text=True).stdout
    if instruction not in text:
        sys.exit(instruction + " is not in the program")
