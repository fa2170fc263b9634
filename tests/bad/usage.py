#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage.py: mistakes on the command line. Each is one message that names what
is wrong and what was probably meant, with exit status 2, or 1 where the file
is at fault."""
import os
import struct

from helper import *

folder = work_folder()
FILE = os.path.join(folder, "x.npy")


def refused(arguments, *parts, status=2):
    seen = tirc(*arguments, status=status)
    for part in parts:
        if part not in seen.stderr:
            fail("%s: %r is not in\n%s" % (arguments, part, seen.stderr))
    if seen.stdout or seen.stderr.count("\n") != 1:
        fail("%s: not one message:\n%s%s" % (arguments, seen.stdout,
                                             seen.stderr))


for arguments, *parts in [
        (["compile", "-target", "c99", "m.onnx"], "-target", "--target"),
        (["compile", "-optimize", "memory", "m.onnx"], "--optimize"),
        (["compile", "-O3", "m.onnx"], "-O3"),
        (["run", "-O3", "m.onnx"], "-O3", '--cflags "-O3"'),
        (["compile", "m.onnx", "-o"], "-o", "needs an argument", "DIR"),
        (["compile", "m.onnx", "--target"], "--target NAME"),
        (["compile", "--target", "--quiet", "m.onnx"], "--target NAME"),
        (["compile", "--tarrget", "c99", "m.onnx"],
         "--tarrget", "did you mean --target"),
        (["compile", "--zzzzzz", "m.onnx"], "unknown option --zzzzzz"),
        (["compile", "--quiet=3", "m.onnx"], "--quiet", "no argument"),
        (["run", "--depfile", "x", "m.onnx"], "--depfile", "of compile",
         "not of run"),
        (["run", "--repeat", "0", "m.onnx"], "--repeat", "0", "1000000"),
        (["run", "--repeat=many", "m.onnx"], "--repeat", "many"),
        (["lower", "--phase", "7", "x.py"], "--phase", "7"),
        (["run", "--json", "x.json", "m.onnx"], "--profile"),
        (["compile"], "no model is given"),
        (["lower"], "no program is given"),
        (["compile", "a.onnx", "b.onnx"], "b.onnx"),
        (["compile", "--", "-a.onnx", "b.onnx"], "b.onnx"),
        (["version", "now"], "now"),
        (["lower", "model.onnx"], "tirc compile model.onnx",
         "--from-onnx model.onnx"),
        (["codegen", "model.onnx"], "tirc compile model.onnx"),
        (["complie", "m.onnx"], "'complie'", "tirc compile"),
        (["model.onnx"], "tirc compile model.onnx"),
        (["program.py"], "tirc lower program.py"),
        (["zzzzzz"], "zzzzzz", "tirc --help")]:
    refused(arguments, *parts)

for arguments, *parts in [
        (["run", DIGITS, "--output", "y.txt"], "y.txt", ".npz"),
        (["run", DIGITS, "--input", "imag=x.npy"], "'imag'", "'image'"),
        (["compile", "program.py"], "program.py", "tirc lower program.py"),
        (["compile", DIGITS, "--target", "cudda"], "cudda", "'cuda'"),
        (["compile", DIGITS, "--disable-pass", "fsue"], "fsue", "mean fuse"),
        (["compile", DIGITS, "--print-after", "fsue"], "fsue", "mean fuse"),
        (["compile", DIGITS, "--byoc", "dnll"], "dnll", "dnnl"),
        (["lower", "--from-onnx", DIGITS, "--kernel", "conv3"], "conv3",
         "such as conv"),
        (["compile", DIGITS, "--input-shape", "imag:1,1,8,8"], "'imag'",
         "'image'")]:
    refused(arguments, *parts, status=1)

# A .npy file that goes on behind its data.
header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,8,8), }"
header += b" " * (117 - len(header)) + b"\n"
array = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
array += bytes(4 * 8 * 8)
for end, status in [(b"", 0), (b"\0", 1)]:
    with open(FILE, "wb") as f:
        f.write(array + end)
    seen = tirc("run", DIGITS, "--input", FILE, "--output",
                os.path.join(folder, "y.npy"), status=status)
    if status and "1 bytes follow" not in seen.stderr:
        fail("the message on trailing bytes:\n" + seen.stderr)
with open(os.path.join(folder, "y.npy"), "rb") as f:
    if not f.read().startswith(b"\x93NUMPY"):
        fail("--output y.npy is no .npy file")

# The help of a verb ends with its options.
for verb in ["compile", "run", "test", "inspect", "partition", "lower",
             "codegen", "dialect"]:
    text = tirc(verb, "--help").stdout
    if "--help" not in text.rstrip().split("\n")[-1]:
        fail("the help of %s ends with\n%s" % (verb, text[-200:]))
