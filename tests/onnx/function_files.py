#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators of one's own: functions of --functions, in a model or alone, give the
same graph as functions of the model; without them, each unknown operator is refused
once, with its nodes."""
import os

from helper import fail, tirc, work_folder
from proto import *

FOLDER = work_folder()
OWN = "ai.example"
BODY = function("Shift", OWN, ["p"], ["q"], [
    node("Constant", [], ["c"], attributes=[attribute(
        "value", tensor("", [2, 3], floats(1, 2, 3, 4, 5, 6)))]),
    node("Mul", ["p", "c"], ["t"]),
    node("Half", ["t"], ["q"], domain=OWN)])
HALF = function("Half", OWN, ["p"], ["q"], [
    node("Constant", [], ["c"], value=tensor("", [], floats(0.5))),
    node("Mul", ["p", "c"], ["q"])])
OTHER = function("Half", OWN, ["p"], ["q"], [node("Neg", ["p"], ["q"])])
NODES = [node("Shift", ["x"], ["a"], "one", OWN),
         node("Shift", ["a"], ["b"], "two", OWN),
         node("Half", ["b"], ["y"], "three", OWN)]


def write(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def imported(path, *options):
    return tirc("compile", path, "-o", work_folder(), "-q", "--print-after",
                "import", *options).stdout


def refused(path, options, *words, lines=1):
    seen = tirc("compile", path, "-o", work_folder(), *options,
                status=1).stderr
    if len(seen.splitlines()) != lines:
        fail(seen)
    for word in words:
        if word not in seen:
            fail("%r is not in\n%s" % (word, seen))


bare = write("m.onnx", simple(NODES))
want = imported(write("all.onnx", simple(NODES, functions=[BODY, HALF])))
both = write("both.onnx", model(b"", functions=[BODY, HALF]))
alone = [write("shift.onnx", BODY), write("half.onnx", HALF)]
for files in ([both], alone, alone[::-1]):
    options = [w for f in files for w in ("--functions", f)]
    if imported(bare, *options) != want:
        fail("another graph with %s" % files)
# A function of the model precedes, and one of an earlier file.
if imported(write("some.onnx", simple(NODES, functions=[BODY, HALF])),
            "--functions", write("other.onnx", OTHER)) != want:
    fail("a function of the model does not precede")
if imported(bare, "--functions", both, "--functions",
            os.path.join(FOLDER, "other.onnx")) != want:
    fail("the first function does not precede")

refused(bare, [], "ai.example.Half", "ai.example.Shift (2 nodes: one, two)",
        "--functions FILE", lines=2)
refused(bare, ["--functions", alone[0]],
        "operator ai.example.Half (3 nodes: ")
refused(bare, ["--functions", os.path.join(FOLDER, "nothing")],
        "cannot be read")
refused(bare, ["--functions", write("bad", b"\xff\xff")], "no ONNX file")
refused(bare, ["--functions", write("empty", b"")], "no ONNX file")
refused(bare, ["--functions", bare], "no functions")
refused(bare, ["--functions", write("unnamed", model(
    b"", functions=[function("", OWN, ["p"], ["q"], [])]))], "no name")

# A function in place of an operator that tirc knows, or writes as others: one note.
for op in ("Relu", "Upsample", "Swish", "If"):
    own = write("own.onnx", function(op, "", ["p"], ["q"],
                                     [node("Neg", ["p"], ["q"])]))
    seen = tirc("compile", write("known.onnx", simple(
        [node(op, ["x"], ["a"]), node(op, ["a"], ["y"])])),
        "-o", work_folder(), "--functions", own).stdout
    if seen.count("the operator %s, which tirc knows, is the function of %s"
                  % (op, own)) != 1:
        fail("no note on %s, or several:\n%s" % (op, seen))
seen = tirc("compile", bare, "-o", work_folder(), "--functions", both).stdout
if "which tirc knows" in seen:
    fail("a note on an operator that tirc does not know:\n" + seen)
