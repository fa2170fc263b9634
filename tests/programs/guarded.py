#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The source of a program evaluates conditions before the loads that they guard, as
the program does: with sanitizers, it reads no element that the program does not."""
import os

from helper import *

need("gcc")
folder = work_folder()
HEAD = """
from tvm.script import tir as T


@T.prim_func
def f(%s):
"""
ARRAYS = ('A: T.Buffer((5,), "float32"), J: T.Buffer((20,), "int32"), '
          'B: T.Buffer((20,), "float32")')

# Indices come from an array and may be out of range: the conditions alone exclude
# that.
PROGRAMS = {
    # An update by max: the condition that guards is outside of the other.
    "maximum": (ARRAYS, """
    for i in T.serial(20):
        B[0] = T.max(B[0], T.if_then_else(
            0 <= J[i] and J[i] < 5,
            T.if_then_else(A[J[i]] > T.float32(0), T.float32(2),
                           T.min_value("float32")), T.min_value("float32")))
"""),
    # A sum: the condition that guards cannot be taken out of the sum.
    "sum": (ARRAYS, """
    for i in T.serial(20):
        B[0] = B[0] + T.if_then_else(
            J[i] < 0 or 5 <= J[i], T.float32(0),
            T.if_then_else(A[J[i]] > T.float32(0), A[J[i]], T.float32(0)))
"""),
    # A later condition implies the one that guards.
    "order": (ARRAYS, """
    for i in T.serial(20):
        if 0 <= J[i] // 2 and J[i] // 2 < 5:
            if A[J[i] // 2] > T.float32(0.1):
                if 0 <= J[i] and J[i] < 5:
                    B[i] = A[J[i]]
"""),
    # A loop that runs no iteration guards, too.
    "no_iteration": ('k: T.int32, a: T.handle, B: T.Buffer((20,), "float32")', """
    A = T.match_buffer(a, (k, 5), "float32")
    for j in T.serial(k - 1, annotations={"read_before": 1}):
        for i in range(6):
            B[i] = B[i] + T.if_then_else(1 <= i, A[1, i - 1], T.float32(0))
"""),
}

for name, (parameters, body) in PROGRAMS.items():
    path = os.path.join(folder, name + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD % parameters + body.lstrip("\n"))
    done = tirc("test", path, "--target", "c99", "--cc", "gcc", "--cflags",
                "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all")
    if " passed" not in done.stdout or done.stderr:
        fail("%s:\n%s%s" % (name, done.stdout, done.stderr))
