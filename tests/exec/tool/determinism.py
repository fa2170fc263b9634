#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two runs give the same bytes, wherever they write and wherever the model
lies; a second run leaves unchanged files alone; no file has a path in it."""
import os
import shutil

from helper import DIGITS, contents, fail, tirc, work_folder


def check(target):
    a, b = work_folder(), os.path.join(work_folder(), "deeper", "still")
    tirc("compile", DIGITS, "-o", a, "--target", target)
    copy = os.path.join(work_folder(), "digits.onnx")
    shutil.copy(DIGITS, copy)
    tirc("compile", copy, "-o", b, "--target", target)
    first, second = contents(a), contents(b)
    if first.keys() != second.keys():
        fail("different files: %s, %s" % (sorted(first), sorted(second)))
    for name, data in first.items():
        if data != second[name]:
            fail(name + " differs between two runs")
        for path in (a, b, os.path.dirname(DIGITS)):
            if path.encode() in data:
                fail(name + " has a path of this machine in it")
    before = {name: os.stat(os.path.join(a, name)).st_mtime_ns for name in first}
    tirc("compile", DIGITS, "-o", a, "--target", target)
    for name, then in before.items():
        if os.stat(os.path.join(a, name)).st_mtime_ns != then:
            fail(name + " was rewritten though nothing changed")


for target in ("c99", "misra"):
    check(target)
