#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums, products and absolute values of loaded integers wrap, and what follows from
bounds of integers of unlimited size is not believed of them: each expression of a
table, of every pair of integers at the ends of each type, has in emitted source,
under UBSan, the value that the interpreter gives the program as it is written.

Each expression is computed three times: of elements of arrays, of variables that
are bound to the elements, and of these under a condition on their sign, which the
analysis takes into account."""
import re

from helper import *

folder = work_folder()
UNDEFINED = "-O1 -fsanitize=undefined,float-cast-overflow " \
    "-fno-sanitize-recover=all"

# Of z and w, integers of the type {t}, of which C(…) is a constant.
VALUES = """
T.floormod(T.max(z, C(0)) + C(1), C(63))
T.floordiv(T.max(z, C(0)) + C(1), C(63))
T.truncmod(T.max(z, C(0)) + C(1), C(15))
T.truncdiv(T.max(z, C(0)) + C(1), C(15))
T.floormod(z + C(1), C(63))
T.floordiv(z - C(1), C(4))
T.floordiv(T.max(z, C(-5)) - C(1), C(4))
T.floormod(T.max(z, C(-5)) - C(1), C(4))
T.floormod(z * C(3), C(63))
T.floormod(z * C(6), C(3))
T.floordiv(z * C(4), C(4))
T.floordiv(z * C(4) + C(1), C(4))
T.floordiv(z * w, T.max(w, C(1)))
T.floormod(z * w, T.max(w, C(1)))
T.floormod(z + w, T.max(w, C(1)))
T.floordiv(z - w, C(-1))
T.floordiv(z, C(-1))
T.truncdiv(z, C(-1))
T.truncdiv(T.min(z, C(5)), T.min(w, C(-1)))
T.floormod(T.floordiv(T.min(z, C(5)), T.min(w, C(-1))), C(7))
T.floordiv(z, C(3)) * C(3) + T.floormod(z, C(3))
T.floordiv(z + C(1), C(3)) * C(3) + T.floormod(z + C(1), C(3))
T.floordiv(z + C(2), C(4)) * C(4) + T.floormod(z - C(2), C(4))
z - T.floordiv(z, C(5)) * C(5)
T.floormod(T.floormod(z + w, C(12)), C(4))
T.floordiv(T.floormod(z + w, C(12)), C(4))
T.floormod(T.abs(z), C(7))
T.floordiv(T.abs(z), C(3))
T.truncdiv(T.abs(z) + C(1), C(3))
T.abs(z - w)
T.max(T.abs(z), C(0))
T.min(z + C(1), w + C(1))
T.max(z + C(1), w + C(1))
T.min(z * C(2), w * C(2))
T.max(z * C(2), w * C(2))
T.min(z + C(1), z)
T.max(z - C(1), z)
T.max(z + C(1), C(-9))
T.max(T.max(z, C(0)) + C(1), C(0))
T.min(T.max(z, C(1)) * C(2), C(1))
z + T.max(w - z, C(0))
z + T.min(w - z, C(0))
w - T.max(w - z, C(0))
w - T.min(w - z, C(0))
T.min(z, w) + T.max(z, w)
T.max(T.min(z + w, C(9)), C(-9))
T.Select(z + C(1) > z, z, w)
T.Select(z < z * C(2), z * C(2), z)
T.if_then_else(z > C(0), T.floormod(z + C(1), C(9)), T.floormod(z - C(1), C(9)))
T.if_then_else(z + w > C(0), T.floormod(z + w, C(9)), T.floordiv(z + w, C(9)))
T.shift_right(T.max(z, C(0)) + C(1), C(1))
T.floormod(T.shift_left(T.max(z, C(0)), C(1)), C(5))
T.floordiv(T.bitwise_and(T.max(z, C(0)) + C(1), C(7)), C(2))
T.Cast('{t}', T.floormod(T.Cast('int64', T.max(z, C(0)) + C(1)), T.int64(63)))
T.Cast('{t}', T.floordiv(T.Cast('int64', z) * T.int64(4), T.int64(4)))
T.Cast('{t}', T.floormod(T.Cast('int32', z) + T.int32(1), T.int32(9)))
T.Cast('{t}', T.floormod(T.Cast('int32', T.max(z, C(0))) + T.int32(1), 9))
T.Cast('{t}', T.floormod(T.Cast('int64', T.Cast('uint64', z)) - T.int64(5), T.int64(9)))
T.Cast('{t}', T.floormod(T.Cast('int32', T.Cast('uint32', z)), T.int32(9)))
T.Cast('{t}', T.floormod(T.max(T.Cast('uint64', z), T.uint64(5)) + T.uint64(7), T.uint64(9)))
""".split("\n")[1:-1]
CONDITIONS = """
T.max(z, C(0)) + C(1) > C(0)
T.max(z, C(0)) * C(2) >= C(0)
T.max(T.min(z, C(100)), C(0)) * C(4) >= C(0)
z + C(1) > z
z - C(1) < w
z + C(1) <= w + C(1)
z * C(2) < w * C(2)
z * C(2) <= w * C(2)
z - w < C(0)
z - w == C(0)
z * C(2) == C(3)
z * C(3) == C(1)
T.min(z, C(100)) + C(1) < w
T.abs(z) >= C(0)
T.abs(z) + C(1) > C(0)
C(0) - z > C(0)
T.floordiv(z + C(1), C(4)) < w
T.floormod(z * C(6), C(3)) == C(0)
T.And(z + C(1) > C(5), z > C(3))
T.Or(z + C(1) <= C(5), z > C(3))
T.Cast('int64', z + C(1)) > T.Cast('int64', z)
T.Cast('uint64', z) + T.uint64(1) > T.uint64(0)
T.max(T.Cast('uint64', z), T.uint64(5)) + T.uint64(1) != T.uint64(0)
T.Cast('int64', T.Cast('uint64', z)) >= T.int64(0)
T.Cast('int32', T.Cast('uint32', z)) >= T.int32(0)
""".split("\n")[1:-1]
EXPRESSIONS = VALUES + ["T.Select(%s, C(1), C(0))" % c for c in CONDITIONS]


def ends(bits):
    half = 2 ** (bits - 1)
    return [-half, -half + 1, -half // 2 - 1, -9, -1, 0, 1, 6, half // 2,
            half - 2, half - 1]


def program(bits):
    """Its functions: of elements, of variables, under conditions."""
    t, values = "int%d" % bits, ends(bits)
    n = len(values)
    lines = ["from tvm.script import ir as I, tir as T", "", "", "@I.ir_module",
             "class Wrapped:"]
    for k, e in enumerate(EXPRESSIONS):
        e = re.sub(r"\bC\(", "T.%s(" % t, e.replace("{t}", t))
        lines += [
            "    @T.prim_func",
            "    def f%d(Y: T.Buffer((3, %d, %d), '%s')):" % (k, n, n, t),
            "        A = T.alloc_buffer((%d,), '%s')" % (n, t),
            "        for i, j in T.grid(3, %d):" % n,
            "            for k in range(%d):" % n,
            "                Y[i, j, k] = T.%s(0)" % t,
            *("        A[%d] = T.%s(%d)" % (i, t, v)
              for i, v in enumerate(values)),
            "        for i, j in T.grid(%d, %d):" % (n, n),
            "            Y[0, i, j] = " + re.sub(
                r"\bw\b", "A[j]", re.sub(r"\bz\b", "A[i]", e)),
            "        for i, j in T.grid(%d, %d):" % (n, n),
            "            z: T.%s = A[i]" % t,
            "            w: T.%s = A[j]" % t,
            "            Y[1, i, j] = " + e,
            "            if z > T.%s(3):" % t,
            "                if w >= T.%s(0):" % t,
            "                    Y[2, i, j] = " + e,
            "                else:",
            "                    Y[2, i, j] = " + e,
        ]
    return "\n".join(lines) + "\n"


for bits in (8, 32, 64):
    path = text_file(folder, "wrapped%d.py" % bits, program(bits))
    for cc in compilers():
        # One compiler with vectors, the other one without.
        target = "gnu-c" if (cc == "gcc") == (bits == 32) and \
            has_dialect("gnu-c") else "c99"
        done = tirc("test", path, "--target", target, "--cc", cc, "--cflags",
                    "-w -std=%s %s" % ("gnu11" if target == "gnu-c" else "c99",
                                       UNDEFINED))
        if done.stdout.count("ok    ") != len(EXPRESSIONS):
            fail("int%d, %s, %s:\n%s%s" % (bits, target, cc, done.stdout,
                                          done.stderr))
