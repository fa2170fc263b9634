#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The planned workspace is at most 1.05 of the largest sum of tensors alive
at one node, and every node of a model is computed by a kernel or accounted
for by a pass. The reference models where they are; the shipped example
against its own bound always."""
import json
import os

from helper import DIGITS, fail, shared, tirc

ALLOWED = 1.05


def inspect(model, *options):
    return json.loads(tirc("inspect", "--json", *options, model).stdout)


def check(name, facts, most):
    planned = facts["memory"]["workspace_bytes"]
    print("%-30s %9d of %9d bytes" % (name, planned, most))
    if planned > ALLOWED * most:
        fail("%s: %d bytes are planned, %d are allowed" % (
            name, planned, ALLOWED * most))
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
        check(name, inspect(os.path.join(models, name, "model.onnx"),
                            *options), most)
