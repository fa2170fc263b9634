# SPDX-License-Identifier: Apache-2.0
"""Target strings of TVM choose tirc's targets, on the command line and in programs:
every name of the table stands for a target that there is; options that change
nothing are notes, unknown ones errors."""
import json
import os
import subprocess
import sys
import tempfile

TIRC = os.environ["TIRC"]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
folder = tempfile.mkdtemp()
PROGRAM = """
import tvm
from tvm import te

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1, name="B")
tvm.build(te.create_schedule(B.op), [A, B], target=%r, name="f")
"""


def fail(text):
    sys.exit("target_strings: " + text)


def codegen(target, in_program):
    path = os.path.join(folder, "program.py")
    with open(path, "w") as f:
        f.write(PROGRAM % (target if in_program else "c99"))
    args = [] if in_program else ["--target", target]
    return subprocess.run([TIRC, "codegen", path, "-o",
                           os.path.join(folder, "out"), "--force"] + args,
                          capture_output=True, text=True)


def chooses(target, wanted, *notes):
    for in_program in (True, False):
        done = codegen(target, in_program)
        line = [l for l in done.stdout.split("\n") if l.startswith("target ")]
        if done.returncode != 0 or line[0].split()[1] != wanted:
            fail("%r is not %s\n%s%s" % (target, wanted, done.stdout, done.stderr))
        if done.stderr.count("is not read") != len(notes):
            fail("%r: notes\n%s" % (target, done.stderr))
        for note in notes:
            if note + " is not read" not in done.stderr:
                fail("%r: no note on %s\n%s" % (target, note, done.stderr))


def refused(target, message):
    for in_program in (True, False):
        done = codegen(target, in_program)
        if done.returncode != 1 or message not in done.stderr:
            fail("%r is taken, or has no message %r\n%s" %
                 (target, message, done.stderr))


with open(os.path.join(ROOT, "templates", "tvm", "targets.json")) as f:
    table = json.load(f)
there = set(subprocess.run([TIRC, "targets"], capture_output=True, text=True,
                           check=True).stdout.split())
named = list(table["kinds"].values()) + list(table["tags"].values())
for row in table["choices"]:
    named += row["values"]
    words = sum((v.split() for v in row["values"].values()), [])
    for word in words:
        if words.count(word) > 1:
            fail("-%s=%s chooses two targets" % (row["option"], word))
for name in named:
    # a build without a dialect has fewer targets
    if name not in there and not os.path.exists(
            os.path.join(ROOT, "templates", "targets", name + ".json")):
        fail("no target %s" % name)

chooses("llvm", "c99")
chooses("c", "c99")
if "x86-64-v3" in there:
    chooses("llvm -mcpu=core-avx2", "x86-64-v3")
    chooses("llvm -mcpu skylake -mtriple=x86_64-linux-gnu", "x86-64-v3")
    chooses("llvm -mattr=+fma,+avx2", "x86-64-v3")
    chooses("llvm -mattr=+avx512f,+avx512vnni", "x86-64-vnni")
    # the processor goes before the machine, wherever it stands
    chooses("llvm -mtriple=aarch64-linux-gnu -mcpu=skylake-avx512", "x86-64-v4")
    chooses("llvm -mtriple=aarch64-linux-gnu -keys=arm_cpu,cpu", "aarch64",
            "-keys=arm_cpu,cpu")
    chooses("llvm -mcpu=haswell -l2_bytes=524288", "x86-64-v3")
chooses("llvm -target=armv7l-none-linux-gnueabihf", "gnu-c")
chooses("llvm -target aarch64-linux-gnu -system_lib", "aarch64", "-system_lib")
chooses("c -keys=arm_cpu -model=stm32f746xx", "cortex-m7", "-keys=arm_cpu")
chooses("llvm -mcpu=cortex-m4", "cortex-m4")
chooses("llvm -libs=mkl -num-cores=4 -system-lib", "c99", "-libs=mkl",
        "-num-cores=4", "-system-lib")
chooses("ext_dev -device=vta", "c99", "-device=vta")
chooses("c99 -int_bits=32", "c99")
refused("llvm -mcpu=skylke", "there is no -mcpu=skylke; did you mean skylake?")
refused("llvm -mcpx=skylake", "no key mcpx; did you mean -mcpu?")
refused("c99 -vector_byte=16", "no key vector_byte; did you mean -vector_bytes?")
refused("c99 -wings=2", "no key wings; docs/reference/targets.md")

# A program changes facts, and names no programs.
done = codegen("llvm -cc=./evil", True)
if done.returncode != 1 or "a program may only change numbers" not in done.stderr:
    fail("a program names a compiler\n" + done.stderr)
