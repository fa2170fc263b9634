#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every string attribute of the table passes/ops/core/attr_values.def refuses a value
that is not listed: the message names the node, the attribute, the value and all
that are allowed. One model has a node for each."""
import os
import re

from helper import ROOT, fail, tirc, work_folder
from proto import attribute, blob, graph, model, node, number, value_info

TABLE = os.path.join(ROOT, "passes", "ops", "core", "attr_values.def")
# Their attribute is a list of strings.
LISTS = ("activations", "nodes_modes")


def strings(name, value):
    return blob(1, name) + blob(9, value) + number(20, 8)


def rows():
    """Operators, the attribute, its values, is it needed?"""
    with open(TABLE, encoding="utf-8") as file:
        text = file.read().split("*/", 2)[2]
    for kind, arguments in re.findall(r"^(VALUES|NEEDED|ANY_CASE)\((.*?)\)\n",
                                      text, re.M | re.S):
        # adjacent strings are one
        joined = re.sub(r'"\s+"', "", arguments)
        ops, name, values = re.findall(r'"(.*?)"', joined)
        yield ops.split("|"), name, values.split("|"), kind == "NEEDED"


def refused(nodes):
    path = os.path.join(work_folder(), "model.onnx")
    with open(path, "wb") as file:
        file.write(model(graph(nodes, [value_info("x", [2, 3])],
                               [value_info("y0", [2, 3])])))
    return tirc("compile", path, "-o", work_folder(), status=1).stderr


def choices(values):
    quoted = ["'%s'" % v for v in values if v]
    return ", ".join(quoted[:-1]) + " or " + quoted[-1]


nodes, wanted = [], []
for ops, name, values, needed in rows():
    for op in ops:
        for given in ("foo", None) if needed else ("foo",):
            make = strings if name in LISTS else attribute
            label = "n%d" % len(nodes)
            nodes.append(node(op, ["x"], ["y%d" % len(nodes)], label,
                              attributes=[] if given is None
                              else [make(name, given)]))
            wanted.append("%s '%s': its attribute %s is %s; it must be %s" % (
                op, label, name,
                "missing" if given is None else "'%s'" % given,
                choices(values)))
if len(wanted) < 50:
    fail("only %d attributes in the table" % len(wanted))
said = refused(nodes)
for words in wanted:
    if words not in said:
        fail("no '%s' in: %s" % (words, said))

# Those that differ from the listed ones in little.
for op, name, value in (("Resize", "mode", "bilinear"), ("Pad", "mode", ""),
                        ("BitShift", "direction", "left"),
                        ("DepthToSpace", "mode", "DCR|CRD"),
                        ("Gelu", "approximate", "tan")):
    said = refused([node(op, ["x"], ["y0"], "n0",
                         attributes=[attribute(name, value)])])
    if "its attribute %s is '%s'; it must be" % (name, value) not in said:
        fail(said)
