#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The operation saturate of c99-arm is one instruction where arm_acle.h has it, and
plain C with compilers whose arm_acle.h lacks it (GCC before version 10)."""
import os
import shutil

from helper import execute, fail, has_dialect, skip, tirc, work_folder

CC = "arm-none-eabi-gcc"
if not has_dialect("c99-arm"):
    skip("there is no dialect c99-arm")
if not shutil.which(CC):
    skip("there is no " + CC)

pack = os.path.join(work_folder(), "pack")
old = os.path.join(work_folder(), "old")
tirc("dialect", "selftest", "c99-arm", "-o", pack)
os.mkdir(old)
with open(os.path.join(old, "arm_acle.h"), "w", encoding="utf-8"):
    pass


def compiled(*flags):
    """The assembly of the cells on 32-bit integers; a warning fails the test."""
    return execute([CC, "-std=c99", "-mthumb", "-mcpu=cortex-m3", "-O2", "-Wall",
                    "-Werror", *flags, "-S", "-o", "-",
                    os.path.join(pack, "selftest_i32.c")]).stdout


text = compiled()
for word in ("ssat", "usat"):
    if "\t%s\t" % word not in text:
        fail("no instruction " + word)
compiled("-I", old)
