#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage.py: mistakes on the command line. Each is one message that names what
is wrong and what was probably meant, with exit status 2, or 1 where the file
is at fault."""
import os
import struct
import sys
import zipfile

from helper import *
from proto import graph, model, node, tensor, value_info

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
        (["compile", "m.onnx", "--package"], "--package KIND, one of ",
         "cmake"),
        (["compile", "--target", "--quiet", "m.onnx"], "--target NAME"),
        (["compile", "--tarrget", "c99", "m.onnx"],
         "--tarrget", "did you mean --target"),
        (["compile", "--zzzzzz", "m.onnx"], "unknown option --zzzzzz"),
        (["bisect", "--layers", "m.onnx"], "--layers=FILE.npz"),
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
        (["targets", "now"], "now"), (["passes", "now"], "now"),
        (["help", "complie"], "'complie'", "tirc compile"),
        (["help", "run", "test"], "test"),
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
        (["compile", DIGITS, "--weights", "section", "--section",
          'x"))) int y'], "--section", "letters"),
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


def npy(shape, data, descr="<f4", length=None):
    """An array of NumPy's version 2.0; length: of the header, as it says."""
    text = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (
        descr, shape)
    return b"\x93NUMPY\2\0" + struct.pack(
        "<I", len(text) if length is None else length) + text.encode() + data


def npz_refused(members, *words, model=DIGITS):
    """The members are not taken, and little memory is."""
    path = os.path.join(folder, "x.npz")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED,
                         compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)
    seen = execute([*LIMITED, TIRC, "run", model, "--cc", "true", "--input",
                    path], status=1)
    for word in words:
        if word not in seen.stderr:
            fail("no %r in: %s" % (word, seen.stderr))


# Less memory than the arrays ask for; a sanitizer needs more by itself.
LIMITED = [] if SANITIZED else [
    sys.executable, "-c", "import os, resource, sys; "
    "resource.setrlimit(resource.RLIMIT_AS, (96 << 20, 96 << 20)); "
    "os.execv(sys.argv[1], sys.argv[1:])"]
image, good = "(1,1,8,8)", bytes(4 * 64)
bomb = bytes(1 << 26)
npz_refused({"image": npy("(16777216,)", bomb)}, "[16777216]", "image")
npz_refused({"image": npy("(1,1,4096,4096)", bomb)}, "[1,1,4096,4096]")
npz_refused({"image": npy(image, bomb)}, "bytes follow", "member 'image'")
npz_refused({"image": npy("(1,1,8,4096)", good)}, "truncated")
npz_refused({"image": npy(image, good, length=1 << 31)}, "header has")
npz_refused({"image": npy(image, good, length=4000)}, "header is truncated")
npz_refused({"image": npy("(" + "1," * 33 + ")", bytes(4))}, "shape")
npz_refused({"m%d" % i: npy("(" + "1," * 1900 + ")", bytes(4))
             for i in range(2000)}, "shape")
npz_refused({"image": npy("(4294967296,4294967296,4294967296)", b"")}, "shape")
npz_refused({"image": npy("(0,9223372036854775807)", b"")}, "[0,92233")
npz_refused({"image": npy(image, good, "<f")}, "element type")
npz_refused({"image": b"\x93NUM"}, "not a .npy file")
npz_refused({"image": npy(image, good), "other": npy("(16777216,)", bomb)},
            "'other' is not an input")
where = os.path.join(folder, "where.onnx")
with open(where, "wb") as f:
    f.write(model(graph(
        [node("Where", ["c", "x", "x"], ["y"], "where")],
        [value_info("c", [3], 9), value_info("x", [3])],
        [value_info("y", [3])])))
npz_refused({"c": npy("(3,)", b"\0\1\xff", "|b1"), "x": npy("(3,)", bytes(12))},
            "member 'c'", "element 2", "neither 0 nor 1", model=where)
os.mkdir(os.path.join(folder, "test_data_set_0"))
for name, data in [("input_0.pb", tensor("c", [3], b"\0\2\1", 9)),
                   ("input_1.pb", tensor("x", [3], bytes(12)))]:
    with open(os.path.join(folder, "test_data_set_0", name), "wb") as f:
        f.write(data)
seen = tirc("test", where, "--cc", "true", status=1)
if "input_0.pb: element 1 of its bools" not in seen.stderr:
    fail("bools of a data set:\n" + seen.stderr)

with open(os.path.join(folder, "y.npy"), "rb") as f:
    if not f.read().startswith(b"\x93NUMPY"):
        fail("--output y.npy is no .npy file")

# The options of a verb come before any list, whose lines may be many.
for verb in ["compile", "run", "test", "inspect", "partition", "lower",
             "codegen", "dialect", "targets", "passes", "help"]:
    text = tirc(verb, "--help").stdout
    head, _, options = text.partition("\noptions:\n")
    if "--help" not in options or head.count("\n") > 30:
        fail("the help of %s is\n%s" % (verb, text))
    if "--help" not in options.split("\n\n")[0].rstrip().split("\n")[-1]:
        fail("the options of %s end with\n%s" % (verb, options[-200:]))
    for line in options.split("\n\n")[0].split("\n"):
        if len(line) > 80:
            fail("a long line of %s --help: %s" % (verb, line))
