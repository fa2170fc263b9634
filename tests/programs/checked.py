#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tirc test and tirc run check the function that is printed, after schedule and
lowering, before anything is compiled: each access on the arrays of the run, and
by a proof where its place depends on floats."""
import functools
import os
import stat

from helper import *

folder = work_folder()
written = functools.partial(text_file, folder)
# A compiler that says that it has compiled the program that calls the functions.
COMPILED = os.path.join(folder, "compiled")
CC = os.path.join(folder, "compiler")
with open(CC, "w", encoding="utf-8") as file:
    file.write("#!/bin/sh\ncase \"$*\" in *_caller.c*) touch %s;; esac\n"
               "exec cc \"$@\"\n" % COMPILED)
os.chmod(CC, os.stat(CC).st_mode | stat.S_IXUSR)


def passes(path, *arguments):
    for verb in "test", "run":
        done = tirc(verb, path, *arguments)
        if "FAIL" in done.stdout or "error: " in done.stderr:
            fail("%s:\n%s%s" % (path, done.stdout, done.stderr))


def refused(path, *parts, arguments=()):
    """Each verb says one error, with the parts, and compiles nothing."""
    for verb in "test", "run":
        done = tirc(verb, path, "--cc", CC, "--cflags", "-O1", *arguments,
                    status=1)
        if done.stderr.count("error: ") != 1:
            fail("no one error:\n" + done.stderr)
        for part in parts:
            if part not in done.stderr:
                fail("%s: %r is not in\n%s" % (path, part, done.stderr))
        if done.stdout or os.path.exists(COMPILED):
            fail("%s: something ran:\n%s" % (path, done.stdout))


def function(name, body, more=""):
    text = """import tvm
from tvm.script import tir as T


@T.prim_func
def f(x: T.Buffer((8,), "float32"), A: T.Buffer((16,), "float32"),
      B: T.Buffer((8,), "float32")%s):
""" % more
    return written(name + ".py", text + "".join(
        "    %s\n" % line for line in body.strip().split("\n")))


def loop(name, body, more=""):
    return function(name, "for i in range(8):\n" + "".join(
        "    %s\n" % line for line in body.split("\n")), more)


# -- accesses of the scheduled function --
# A promise that a layout is injective makes an array of the program larger than
# the caller's; the program itself is right.
COPY = function("copy", """
for i in range(8):
    with T.block("copy"):
        vi = T.axis.remap("S", [i])
        B[vi] = x[vi] + A[vi]
""")
tirc("test", COPY, "--cc", CC, "--cflags", "-O1")
if not os.path.exists(COMPILED):
    fail("the compiler is not called")
os.remove(COMPILED)
refused(COPY, "copy.py:", "f: element 8 of 'B' is outside of its array of 32 bytes",
        "as the function is scheduled and lowered", "its source is not run",
        arguments=("--schedule", written("wide.py", """
sch.transform_layout("copy", ("write", 0), lambda i: (2 * i,),
                     assume_injective_transform=True)
""")))

# -- accesses that depend on floats --
ROUNDED = 'k: T.int32 = T.Cast("int32", x[i] * x[i])\n'
KEPT = ("clamp it, as in T.max(T.min(", "depends on floats")
refused(loop("index", ROUNDED + "B[i] = A[k]"), "index.py:10:9: f: ",
        "index k of dimension 0 of 'A'", *KEPT)
refused(loop("store", ROUNDED + "B[k] = A[i]"), "dimension 0 of 'B'", *KEPT)
refused(loop("one_side", ROUNDED + "if k < 16:\n    B[i] = A[k]"), *KEPT)
refused(loop("chosen", ROUNDED +
             "B[i] = T.if_then_else(k < 16, A[k], T.float32(0))"), *KEPT)
refused(loop("loaded", 'B[i] = A[T.Cast("int32", x[i])]'), *KEPT)
# A condition decides which accesses there are.
refused(loop("condition", "if x[i] > T.float32(1000):\n    B[i] = A[i + 9]"),
        "index i + 9", *KEPT)
refused(loop("of_data", "if x[i] > T.float32(1000):\n    B[I[i]] = A[i]",
             ', I: T.Buffer((8,), "int32")'), *KEPT)
refused(loop("extent", ROUNDED + "for j in range(k):\n    B[i] = A[j]"), *KEPT)
refused(function("until", """
n = T.alloc_buffer((1,), "int32")
n[0] = 0
while x[0] * x[1] > T.Cast("float32", n[0]):
    B[n[0]] = A[0]
    n[0] = n[0] + 1
"""), *KEPT)
# The index comes through an array, by its value or by whether it is stored.
refused(function("through", """
k = T.alloc_buffer((8,), "int32")
for i in range(8):
    k[i] = T.Cast("int32", x[i] * x[i])
for j in range(8):
    B[j] = A[k[j]]
"""), *KEPT)
refused(function("implicit", """
k = T.alloc_buffer((1,), "int32")
k[0] = 3
if x[0] * x[1] > T.float32(1000):
    k[0] = 99
B[0] = A[k[0]]
"""), *KEPT)
# A product that wraps passes the condition: 65536 * 65536 is 0.
refused(loop("wraps", """k: T.int32 = T.Cast("int32", x[i] * x[i])
m: T.int32 = k * 65536 + T.bitwise_and(k, 0)
if m >= 0 and m < 1048576:
    B[i] = A[k]"""), *KEPT)

# What is proven runs.
for name, body in (
        ("clamped", "B[i] = A[T.max(T.min(k, 15), 0)]"),
        ("beside", "B[i] = A[T.max(T.min(k + 1, 15), 0)]"),
        ("named", "j: T.int32 = T.max(T.min(k + 1, 15), 0)\nB[i] = A[j]"),
        ("remainder", "B[i] = A[T.floormod(k, 16)]"),
        ("inside", "if k >= 0 and k < 16:\n    B[i] = A[k]"),
        ("next", "if k + 1 >= 0 and k + 1 < 16:\n    B[i] = A[k + 1]"),
        ("from_end", "if k >= -16 and k < 16:\n"
                     "    j: T.int32 = T.Select(k < 0, k + 16, k)\n"
                     "    B[i] = A[j]"),
        ("choice", "B[i] = T.if_then_else(0 <= k and k < 16, A[k], "
                   "T.float32(0))"),
        ("bounded", "for j in range(T.min(k, 16)):\n    B[i] = A[j]"),
        ("values", "if x[i] > T.float32(0):\n    B[i] = A[i + 8]")):
    passes(loop(name, ROUNDED + body))
passes(function("kept", """
k = T.alloc_buffer((8,), "int32")
for i in range(8):
    k[i] = T.max(T.min(T.Cast("int32", x[i] * x[i]), 15), 0)
for j in range(8):
    B[j] = A[k[j]]
"""))
passes(written("sizes.py", """
import tvm
from tvm import te

n = te.var("n")
X = te.placeholder((n,), name="X")
P = te.placeholder((5,), name="P")
k = te.compute((5,), lambda i: tvm.tir.max(
    tvm.tir.min((P[i] * 3.0).astype("int32"), n - 1), 0), name="k")
Y = te.compute((5,), lambda i: X[k[i]] + tvm.tir.if_then_else(
    tvm.tir.all(k[i] + 1 >= 0, k[i] + 1 < n), X[k[i] + 1], 0.0), name="Y")
s = te.create_schedule(Y.op)
tvm.build(s, [X, P, Y], target="c", name="sizes")
"""))
# -- scalars of calls --
# Declared bounds are those of the called function, not facts about the call.
CALLED = """from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def last(n: T.int32, x: T.Buffer((8,), "float32"),
             B: T.Buffer((8,), "float32")):
        T.func_attr({"tir_var_lower_bound": {"n": 1},
                     "tir_var_upper_bound": {"n": 8}})
        B[%s] = x[0]

    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.evaluate(T.call_func("void", "last", %s, x.data, B.data))
"""
ROUNDED_PLACE = "T.min(T.max(T.Cast(\"int32\", x[0]), 0), n - 1)"
passes(written("in_bounds.py", CALLED % (ROUNDED_PLACE, "8")))
refused(written("beyond.py", CALLED % (ROUNDED_PLACE, "9")),
        "last: its 'n' is 9, outside of the bounds that it declares")
refused(written("rounded_size.py", CALLED % (
    "n - 1", "T.min(T.Cast(\"int32\", x[0] * T.float32(0)) + 8, 8)")),
        "index n - 1 of dimension 0 of 'B'", *KEPT)

# A sum of sizes that leaves its type is not defined in C, stored or compared, too.
refused(written("overflows.py", """from tvm.script import ir as I, tir as T


@I.ir_module
class Module:
    @T.prim_func
    def next(n: T.int64, R: T.Buffer((8,), "int64")):
        R[0] = n + T.int64(1)

    @T.prim_func
    def f(R: T.Buffer((8,), "int64")):
        T.evaluate(T.call_func("void", "next", T.int64(9223372036854775807),
                               R.data))
"""), "next: a result of indices and sizes, 9223372036854775807 + 1, leaves int64")

# Data that are integers are the same in each run.
passes(loop("gather", "B[i] = A[I[i]]", ', I: T.Buffer((8,), "int32")'))

# -- integers that iterations of a parallel or vectorized loop share --
for kind in "parallel", "vectorized":
    refused(function("shared_" + kind, """
for j in range(9):
    k[j] = 99
k[0] = 0
for i in T.%s(8):
    k[i + 1] = i
    B[i] = A[k[i]]
""" % kind, ', k: T.Buffer((9,), "int32")'), "element 1 of 'k' is written in an "
            "iteration of a parallel or vectorized loop, and accessed in another")
# So is memory that would be a thread's own on a device, and a write of the value
# that the element has.
refused(function("local", """
L = T.alloc_buffer((9,), "int32", scope="local")
for j in range(9):
    L[j] = 0
for i in T.parallel(8):
    L[i + 1] = i
    B[i] = A[L[i]]
"""), "element 1 of 'L' is written in an iteration")
refused(function("same_value", """
for i in T.parallel(8):
    k[0] = 3
    B[i] = A[k[0]]
""", ', k: T.Buffer((9,), "int32")'), "element 0 of 'k' is written in an iteration")
# A parallel loop within a vectorized one is a serial loop of each lane.
passes(function("nested", """
for i in T.vectorized(8):
    for j in T.parallel(16):
        k[i, j] = j
""", ', k: T.Buffer((8, 16), "int32")'))
refused(function("nested_lanes", """
for i in T.vectorized(8):
    for j in T.parallel(16):
        k[j] = i
        B[i] = A[k[j]]
""", ', k: T.Buffer((16,), "int32")'), "vectorized loop, and accessed in another")
passes(function("own", """
for i in T.parallel(4):
    w = T.alloc_buffer((8,), "int32")
    for j in T.vectorized(8):
        w[j] = j
    for j in T.vectorized(8):
        k[i, j] = w[7 - j]
        C[i, j] = A[k[i, j] + i]
""", ', k: T.Buffer((4, 8), "int32"), C: T.Buffer((4, 8), "float32")'))

# -- arrays that are given to external functions --
GIVEN = """import tvm
from tvm import te
from tvm.script import tir as T

x = te.placeholder((4,), name="x")
y = te.compute((4,), lambda i: x[i] * 2.0, name="y")
twice = te.decl_tensor_intrin(y.op, lambda ins, outs: tvm.tir.call_extern(
    "int32", "twice_4", ins[0].access_ptr("r"), outs[0].access_ptr("w")),
    name="twice")
A = te.placeholder((4,), name="A")
B = te.compute((4,), lambda i: A[i] * 2.0, name="B")
s = te.create_schedule(B.op)
s[B].tensorize(B.op.axis[0], twice)
tvm.build(s, [A, B], target="c", name="declares")


@T.prim_func
def f(A: T.Buffer((%d,), "float32"), B: T.Buffer((7,), "float32")):
    for i in range(2):
        T.evaluate(T.call_extern("int32", "twice_4", T.address_of(A[i * 3]),
                                 T.address_of(B[i * 3])))


tvm.build(f, target="c", name="f")
"""
passes(written("large.py", GIVEN % 7))
# Elements that two arguments share, one of which is written.
refused(written("overlap.py", GIVEN.replace("(B[i * 3])", "(A[i * 3 + 1])") % 8),
        "its caller gives 'y' and 'x' memory that overlaps, and it writes 'y'")

# -- what an external function is given, and what it gives --
DECLARED = GIVEN[:GIVEN.index("@T.prim_func")].replace(
    'tvm.build(s, [A, B], target="c", name="declares")',
    "tvm.lower(s, [A, B])") + """@T.prim_func
def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    %s


tvm.build(f, target="c", name="f")
"""
CALL = 'T.evaluate(T.call_extern("int32", "twice_4", %s))'
passes(written("whole.py", DECLARED % CALL % "A.data, B.data"))
for name, arguments, says in (
        ("number", 'T.Cast("int64", 123456789), B.data',
         "argument 1 of 'twice_4' is not an array"),
        ("element", "A.data, A[0]", "argument 2 of 'twice_4' is not an array"),
        ("offset", "T.ptr_byte_offset(\"handle\", A.data, 8), B.data",
         "argument 1 of 'twice_4' is not an array"),
        ("more", "A.data, B.data, A.data, B.data",
         "'twice_4' takes 2 arguments, not 4"),
        ("too_small", "T.address_of(A[5]), B.data",
         "gives 'x' an array of 12 bytes, and its shape has 16")):
    for verb in "test", "run":
        done = tirc(verb, written(name + ".py", DECLARED % CALL % arguments),
                    "--cc", CC, "--cflags", "-O1", status=1)
        if says not in done.stdout + done.stderr or "signal" in done.stderr:
            fail("%s:\n%s%s" % (name, done.stdout, done.stderr))
        if "f  " in done.stdout.replace("FAIL  f  not compared", ""):
            fail("f ran:\n" + done.stdout)
        if os.path.exists(COMPILED):
            os.remove(COMPILED)  # without a call of f
refused(written("result.py", DECLARED % """x: T.int32 = T.call_extern(
        "int32", "twice_4", A.data, B.data)
    B[T.max(T.min(x, 7), 0)] = A[0]"""), "the result of 'defined_twice_4' is used, and its source has none")

# -- functions on integers that are not defined for all of them --
for name, value in (
        ("exponent", "T.scale_fixed(I[0], I[1], I[2] - 70)"),
        ("bits", 'T.Cast("int32", T.nibble("uint4", U[0], I[2] + 100))')):
    refused(function(name, "I[3] = " + value,
                     ', I: T.Buffer((8,), "int32"), U: T.Buffer((8,), "uint32")'),
            "is not defined for these arguments")
