#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The planned workspace is at most 1.05 of the largest sum of tensors alive
at one node, for every target, and every node of a model is computed by a
kernel or accounted for by a pass. The reference models where they are; the
shipped example against its own bound always. A schedule for speed may take more
(zeroes around what is read beyond an edge): --optimize decides, and both are
reported."""
import json
import os
import re

import proto
import turns
from helper import DIGITS, compile_model, fail, shared, tirc, work_folder

ALLOWED = 1.05
TARGETS = ["c99", "gnu-c"]


def inspect(model, *options):
    return json.loads(tirc("inspect", "--json", *options, model).stdout)


def check(name, facts, most):
    planned = facts["memory"]["workspace_bytes"]
    least = facts["memory"]["workspace_bytes_for_memory"]
    print("%-40s %9d bytes, for memory %9d of %9d" % (
        name, planned, least, most))
    if not least <= planned == facts["memory"]["workspace_bytes_for_speed"]:
        fail("%s: %d bytes for memory" % (name, least))
    if least > ALLOWED * most:
        fail("%s: %d bytes are planned for memory, %d are allowed" % (
            name, least, ALLOWED * most))
    for node in facts["nodes"]:
        if not node["computed_by"]:
            fail("%s: nothing computes %s" % (name, node["output"]))


facts = inspect(DIGITS)
check("digits", facts, facts["memory"]["bound_bytes"])

models = os.path.join(shared() or "", "models")
listed = os.path.join(models, "peak_live_bytes.json")
if os.path.exists(listed):
    with open(listed, encoding="utf-8") as file:
        peaks = json.load(file)
    for name, most in sorted(peaks.items()):
        options = []
        if name == "super_resolution":
            options = ["--dim", "batch_size=1"]
        for target in turns.some(name, TARGETS):
            check("%s, %s" % (name, target), inspect(
                os.path.join(models, name, "model.onnx"), "--target", target,
                *options), most)

# Rows too long for the stack are stored in the result that replaces them. Those of
# a result of another type are kept for speed, and computed twice for memory.
DOUBLE = 11
rows = (4, 100000)
kept = 4 * rows[1]
for kind, last, in_speed in (
        (proto.FLOAT, proto.node("Neg", ["b"], ["y"]), 0),
        (DOUBLE, proto.node("Cast", ["b"], ["y"], to=DOUBLE), kept)):
    name = os.path.join(work_folder(), "rows.onnx")
    with open(name, "wb") as file:
        file.write(proto.model(proto.graph([
            proto.node("Relu", ["x"], ["a"]),
            proto.node("Softmax", ["a"], ["b"], axis=1), last],
            [proto.value_info("x", rows)],
            [proto.value_info("y", rows, kind)])))
    for chosen, expected in ("speed", in_speed), ("memory", 0):
        memory = inspect(name, "--optimize", chosen)["memory"]
        if memory["workspace_bytes"] != expected:
            fail("%d bytes for %s" % (memory["workspace_bytes"], chosen))
        if (memory["workspace_bytes_for_speed"] != in_speed or
                memory["workspace_bytes_for_memory"] != 0):
            fail("both are not reported: %s" % memory)
    for target in TARGETS:
        tirc("test", name, "--target", target)

# A workspace of more bytes than an int32 counts: each place in it is printed
# whole, in bytes or in elements, and within the workspace.
name = os.path.join(work_folder(), "large.onnx")
rows = (30000, 60000)
with open(name, "wb") as file:
    file.write(proto.simple([
        proto.node("Softmax", ["x"], ["a"], axis=0),
        proto.node("Softmax", ["a"], ["b"], axis=1),
        proto.node("Softmax", ["b"], ["c"], axis=0),
        proto.node("Add", ["c", "a"], ["y"])], dims=rows, out=rows))
for target in "c99", "misra":
    folder = compile_model(name, "--target", target, "--name", "large")
    with open(os.path.join(folder, "large.c"), encoding="utf-8") as file:
        places = re.findall(
            r"(?:workspace \+ |workspace->f32\[)(?:INT64_C\()?(-?\w+)", file.read())
    with open(os.path.join(folder, "large.json"), encoding="utf-8") as file:
        most = json.load(file)["memory"]["workspace_bytes"]
    places = [int(place.rstrip("uUlL")) for place in places]
    if max(places) < 2**31 // 4 or not all(0 <= p < most for p in places):
        fail("%s: places %s of %d bytes" % (target, places, most))
