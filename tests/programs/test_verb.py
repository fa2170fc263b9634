#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tirc test PROGRAM.py: the results of each function's source are compared with
those of the interpreter, at several sizes and for several targets; a wrong source
fails; a function that cannot be tested is refused with the reason."""
import functools
import os
import platform
import shutil
import stat

from helper import *

HERE = os.path.join(ROOT, "tests", "programs")
PLAIN = os.path.join("schedules", "plain.py")
SPLIT = os.path.join("schedules", "split.py")
folder = work_folder()
written = functools.partial(text_file, folder)


def shows(done, *parts):
    for part in parts:
        if part not in done.stdout + done.stderr:
            fail("%r is not in\n%s%s" % (part, done.stdout, done.stderr))


def passes(runs, *arguments):
    """All runs pass, the target is named, and nothing else is said."""
    done = tirc("test", *arguments, cwd=HERE)
    *lines, target, last = done.stdout.splitlines()
    if done.stderr or last != "%d of %d run%s passed" % (
            runs, runs, "" if runs == 1 else "s") or \
            not target.startswith("target   ") or \
            not all(line.startswith("ok    ") for line in lines):
        fail("%s:\n%s%s" % (arguments, done.stdout, done.stderr))
    return done


def refused(*arguments, parts, status=1, verb="test"):
    done = tirc(verb, *arguments, status=status, cwd=HERE)
    shows(done, *parts)
    return done


# Open sizes, scratch memory, functions that call each other, instructions that
# the program declares, several results, schedules from files, dialects.
shows(passes(5, "matmul_bias.py"), "ok    matmul_bias(m=1,h=1,n=1)  R ",
      "ok    matmul_bias(m=33,h=7,n=5)  R ")
shows(passes(3, "calls.py"), "ok    double_  B ")
passes(4, "tensorize_dense.py")
passes(20, "starts.py")
passes(15, "scan_stages.py")
shows(passes(5, PLAIN, "--schedule", SPLIT), "ok    halved(n=33)  Y ")
shows(passes(1, PLAIN, "--schedule", os.path.join("schedules", "fuse.json"),
             "--dim", "n=7"), "ok    halved(n=7)  Y ")
for target in ("gnu-c", "misra"):
    if has_dialect(target):
        shows(passes(5, "matmul_bias.py", "--target", target),
              "target   %s\n" % target)

# The target that is tested is named, and what the program calls it.
for given, target in (('target="llvm"', 'c99 (the program\'s "llvm")'),
                      ("target=None", "c99 (the default)")):
    shows(passes(1, written("named.py", """
import tvm
from tvm import te

A = te.placeholder((4,), name="A")
B = te.compute((4,), lambda i: A[i] * 2.0, name="B")
s = te.create_schedule(B.op)
tvm.build(s, [A, B], %s, name="twice")
""" % given)), "target   %s\n" % target)
for target, programs in (("cortex-m4", ["arm-none-eabi-gcc", "qemu-system-arm"]),
                         ("riscv32", ["riscv64-unknown-elf-gcc",
                                      "qemu-system-riscv32"])):
    if all(shutil.which(program) for program in programs):
        passes(2, "instruction.py", "--target", target)
if tirc("test", PLAIN, "--quiet", cwd=HERE).stdout:
    fail("--quiet prints")

# An instruction that has the name of a function of the C library: its definition
# does not take the function's place in the program that runs.
with open(os.path.join(HERE, "instruction.py"), encoding="utf-8") as file:
    instruction = file.read()
if instruction.count('"mac_all"') != 1:
    fail("instruction.py calls no function mac_all")
for name in "fread", "write", "memcpy":
    passes(2, written("named_%s.py" % name, instruction.replace(
        '"mac_all"', '"%s"' % name)))

# Indices and divisors are numbers for which the function is defined. A float64
# that is computed from sums of float32 has the tolerance of float32.
passes(5, written("gather.py", """
import tvm
from tvm import te

n, m = te.var("n"), te.var("m")
A = te.placeholder((n,), name="A")
I = te.placeholder((m,), name="I", dtype="int32")
D = te.placeholder((m,), name="D", dtype="int32")
B = te.compute((m,), lambda i: A[I[i]] / te.sqrt(A[I[i]]), name="B")
C = te.compute((m,), lambda i: I[i] // D[i], name="C")
E = te.compute((m,), lambda i: te.exp(A[I[i]]).astype("float64"), name="E")
s = te.create_schedule([B.op, C.op, E.op])
tvm.build(s, [A, I, D, B, C, E], target="c", name="gather")
"""))

# Scalars that are no sizes, arrays with strides, vectors as elements.
passes(5, written("parameters.py", """
from tvm.script import tir as T


@T.prim_func
def scaled(a: T.handle, b: T.handle, n: T.int64, by: T.float32, on: T.bool):
    A = T.match_buffer(a, (n, 3), "float32", strides=(n * 4, 4))
    B = T.match_buffer(b, (n, 3), "float32")
    for i, j in T.grid(n, 3):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Select(on, A[vi, vj] * by, T.float32(0))
"""))

# No element, though the other sizes alone are more than any array has.
passes(1, written("none.py", """
from tvm.script import tir as T


@T.prim_func
def f(a: T.handle, b: T.handle, n: T.int64):
    A = T.match_buffer(a, (n * 1099511627776, n * 1099511627776, n - 1),
                       "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in T.serial(n):
        with T.block("B"):
            vi = T.axis.remap("S", [i])
            B[vi] = B[vi] + T.float32(1)
"""), "--dim", "n=1")

# Asserts that are not checked, since they need what tirc does not have, are counted.
done = tirc("test", written("unchecked.py", """
import torch
import numpy as np
import tvm
from tvm import te

x = torch.zeros(3)
A = te.placeholder((4,), name="A")
B = te.compute((4,), lambda i: A[i] * 2.0, name="B")
tvm.build(te.create_schedule(B.op), [A, B], target="c", name="twice")
assert x.shape == 3
np.testing.assert_allclose(x.numpy(), 0)
"""))
shows(done, "unchecked.py:7:1: torch: from here on, 3 statements did not run, so that "
      "2 asserts of the program are not checked",
      "1 of 1 run passed; 2 asserts of the program not checked\n")

# --keep keeps the files that codegen writes, and the program that calls the
# functions. Another seed gives other arrays.
kept = os.path.join(folder, "kept")
passes(1, PLAIN, "--dim", "n=3", "--keep", kept)
out = os.path.join(folder, "out")
tirc("codegen", PLAIN, "-o", out, cwd=HERE)
for name, text in contents(out).items():
    if contents(kept)[name] != text:
        fail("%s differs from what codegen writes" % name)
before = contents(kept)["array_0.bin"]
passes(1, PLAIN, "--dim", "n=3", "--keep", kept, "--force", "--seed", "5")
if contents(kept)["array_0.bin"] == before:
    fail("--seed 5 changes nothing")

# A compiler that breaks the source.
wrong = written("wrong_cc", """#!/bin/sh
sed -i 's/0\\.5f/0.25f/; s/n; ++i0/n - 1; ++i0/' plain.c
exec cc "$@"
""")
os.chmod(wrong, os.stat(wrong).st_mode | stat.S_IXUSR)
done = tirc("test", PLAIN, "--cc", wrong, "--cflags", "-O1", status=1, cwd=HERE)
shows(done, "FAIL  halved(n=8)  Y  max abs ", " beyond, worst at [",
      ", expected ", "0 of 5 runs passed")

# That the processor lacks instructions of the target is said before the interpreter
# runs anything, which would take minutes here; with a runner, that one knows.
if platform.machine() == "x86_64" and has_dialect("gnu-c") and shutil.which("gcc"):
    LONG = written("long.py", """
import tvm
from tvm import te

k = te.reduce_axis((0, 100000), name="k")
A = te.placeholder((100000,), name="A")
B = te.compute((10000,), lambda i: te.sum(A[k], axis=k), name="B")
tvm.build(te.create_schedule(B.op), [A, B], target="llvm", name="long")
""")
    old = compiler_of_old_processor(os.path.join(folder, "old_cc"))
    for verb in ("test", "run"):
        refused(LONG, "--target", "x86-64-v3", "--cc", old, verb=verb,
                parts=["instructions that this processor lacks (AVX2); give "
                       "--target native"])
    passes(5, PLAIN, "--target", "x86-64-v2", "--cc", old,
           "--runner", "env")

# A run that the interpreter could not end is refused at once, with its size.
refused(written("longer.py", """
import tvm
from tvm import te

k = te.reduce_axis((0, 1000000), name="k")
A = te.placeholder((1000000,), name="A")
B = te.compute((1000000,), lambda i: te.sum(A[k], axis=k), name="B")
tvm.build(te.create_schedule(B.op), [A, B], target="c", name="longer")
"""), parts=["note: longer: before its source runs, the interpreter runs about",
             "smaller sizes in the program take less",
             "longer: its run in the interpreter takes about 2e+12 statements, more "
             "than 3000000000; make its sizes smaller"])

# Functions and options with which nothing can be tested.
refused("reducers.py", parts=[
    "reducers.py:39:7: main: it cannot be tested: it calls 'twice', which the "
    "program only declares", "15 of 15 runs passed; 1 function not tested"])
refused("inside.py", parts=[
    "index 4 of dimension 0 of 'A' is outside of 0..3",
    "note: f(n=33) is not defined", "--dim NAME=VALUE",
    "FAIL  f(n=33)  not compared", "2 of 5 runs passed"])
passes(1, "inside.py", "--dim", "n=8")
refused("wmma_matmul.py", parts=["loops are bound to threads of a GPU"])
refused(PLAIN, "--target", "gnu-c", "--cc", "no-such-compiler",
        parts=["no-such-compiler"])
refused(PLAIN, "--dim", "m=3",
        parts=["--dim m=3", "no function has a scalar parameter 'm'; they have n"])
# A --dim is compared with the parameters of all functions, and with their types.
TWO = written("two.py", """
import tvm
from tvm.script import tir as T


@tvm.script.ir_module
class Two:
    @T.prim_func
    def filled(a: T.handle, n: T.int32, by: T.uint8):
        A = T.match_buffer(a, (n,), "float32")
        for i in T.serial(n):
            A[i] = A[i] * T.cast(by, "float32")

    @T.prim_func
    def declared(a: T.handle, k: T.int32):
        A = T.match_buffer(a, (k,), "float32")
        for i in T.serial(k):
            A[i] = A[i] * T.float32(2)
        T.evaluate(T.call_extern("int32", "only_declared", k))


tvm.build(Two, target="c")
""")
done = refused(TWO, "--dim", "k=3", "--dim", "by=255",
               parts=["5 of 5 runs passed; 1 function not tested"])
if "--dim" in done.stderr:
    fail(done.stderr)
refused(TWO, "--dim", "m=3", parts=["they have n, by, k"])
for value in ("by=256", "by=-1"):
    refused(TWO, "--dim", value,
            parts=["--dim %s: 'by' has the type uint8" % value, "from 0 to 255"])
for value in ("n=4294967299", "n=-4294967293"):
    refused(TWO, "--dim", value, parts=[
        "--dim %s: 'n' has the type int32" % value, "-2147483648 to 2147483647"])
refused(PLAIN, "--dim", "n=1..4", parts=["--dim n=1..4", "NAME=VALUE"])
refused(PLAIN, "--dim", "n=-1", parts=["no sizes", "--dim NAME=VALUE"])
refused(PLAIN, "--dim", "n=2000000000", parts=["more than the limit"])
refused(PLAIN, "--dim", "n=9", "--max-output", "600", parts=["--max-output"])
refused(PLAIN, "--seed", "x", parts=["--seed x", "an integer"])
refused(PLAIN, verb="inspect", parts=["tirc test " + PLAIN, "tirc run " + PLAIN])
refused("language.py", parts=["builds no function"])
refused(PLAIN, "--byoc", "cblas", status=2,
        parts=["--byoc is for models", PLAIN])
refused(PLAIN, "data.npz", status=2, parts=["random arrays", "data.npz"])
refused("model.onnx", "--schedule", SPLIT, status=2,
        parts=["--schedule is for programs", "model.onnx"])

# No external function of the program's author runs: neither one that the program
# only names, nor one whose declared computation cannot be tested.
DECLARED = """
import tvm
from tvm import te

x = te.placeholder((4,), name="x")
y = te.compute((4,), lambda i: x[i] * 2.0, name="y")
mark = te.decl_tensor_intrin(y.op, lambda ins, outs: tvm.tir.call_extern(
    "int32", "%s", %s), name="mark")
A = te.placeholder((4,), name="A")
B = te.compute((4,), lambda i: A[i] * 2.0, name="B")
s = te.create_schedule(B.op)
s[B].tensorize(B.op.axis[0], mark)
tvm.build(s, [A, B], target="c", name="f")
"""
refused(written("abort.py", DECLARED % ("abort", "outs[0].access_ptr('w')")),
        parts=["'abort' cannot be tested", "does not get the buffer"])
shows(passes(1, written("own.py", DECLARED % (
    "twice_4", "ins[0].access_ptr('r'), outs[0].access_ptr('w')"))),
    "ok    f  B ")
