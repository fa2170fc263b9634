#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""other_processors.py TARGET: the emulator of the processor that the target is for
refuses an instruction that it lacks, and runs what is emitted for the target."""
import os
import signal
import subprocess
import sys

import processors
from helper import DIGITS, execute, fail, tirc, work_folder

# A program with an instruction that the processor has not.
LACKING = {
    "x86-64-v3": ("-mavx512f", "vpaddd %zmm0, %zmm0, %zmm0"),
    "x86-64-v2": ("-mavx2", "vpaddd %ymm0, %ymm0, %ymm0"),
    "aarch64": ("-march=armv8.2-a+dotprod", "sdot v0.4s, v0.16b, v0.16b"),
}
processor = processors.for_target(sys.argv[1])
flag, instruction = LACKING[processor.target]
source = os.path.join(work_folder(), "main.c")
for text in ("nop", instruction):
    with open(source, "w", encoding="utf-8") as file:
        file.write("int main(void) { __asm__ volatile(\"%s\"); }\n" % text)
    program = source[:-2]
    execute([processor.cc, flag, source, "-o", program])
    status = subprocess.run([*processor.runner, program],
                            stderr=subprocess.DEVNULL).returncode
    if status != (0 if text == "nop" else -signal.SIGILL):
        fail("%s on %s: exit status %d" % (text, processor.name, status))
for data in ("0", "1"):
    path = os.path.join(os.path.dirname(DIGITS), "test_data_set_" + data)
    if os.path.isdir(path):
        print(tirc("test", DIGITS, path, *processor.options()).stdout)
