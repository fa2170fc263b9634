#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""loop_nodes.py: nodes of branches and of bodies of loops are in the metadata and in
comments like all others, each with the node that has its graph; and a node that comes
into a model changes nothing in the metadata of the others. What a branch or a loop
passes on has one name in the entry function, and the plan says who writes and who
reads it; iterations are counted by scalars."""
import copy
import difflib
import hashlib
import json
import os
import re

from helper import compile_model, fail, skip, tirc, work_folder

try:
    from onnx import helper, parser, save
except ImportError as missing:
    skip(str(missing))

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
net (float[4] x, int64 trips) => (float[4] y)
{
  two = Constant <value_int = 2> ()
  first = Abs (x)
  last = Loop (trips, , first) <body = each (int64 i, bool go, float[4] v)
      => (bool go_on, float[4] next)
  {
    zero = Constant <value_int = 0> ()
    odd = Mod (i, two)
    even = Equal (odd, zero)
    turned = If (even) <
      then_branch = then_graph () => (float[4] a) { a = Relu (v) },
      else_branch = else_graph () => (float[4] b) { b = Neg (v) }>
    next = Add (turned, x)
    go_on = Identity (go)
  }>
  y = Tanh (last)
}
"""
folder = work_folder()


def compiled(model):
    path = os.path.join(folder, "net.onnx")
    save(model, path)
    out = compile_model(path, "--target", "c99")
    with open(os.path.join(out, "net.c")) as source, \
            open(os.path.join(out, "net.json")) as facts:
        return source.read(), facts.read()


def check_digest(described):
    with open(os.path.join(folder, "net.onnx"), "rb") as file:
        if json.loads(described)["digest"] != \
                hashlib.sha256(file.read()).hexdigest():
            fail("the digest is not the file's SHA-256")


net = parser.parse_model(MODEL)
text, described = compiled(net)
check_digest(described)
rows = {row["id"]: row for row in json.loads(described)["trace"]}
for key, within in (("first", None), ("last", None), ("y", None),
                    ("last/odd", "last"), ("last/turned", "last"),
                    ("last/turned/a", "last/turned"),
                    ("last/turned/b", "last/turned"), ("last/next", "last")):
    if key not in rows or rows[key].get("in") != within:
        fail("%s: %s" % (key, rows.get(key)))
for key, op in (("last/turned/a", "Relu"), ("last/turned/b", "Neg"),
                ("last/next", "Add"), ("last/even", "Equal")):
    if rows[key]["op"] != op or len(rows[key]["kernels"]) != 1:
        fail("%s: %s" % (key, rows[key]))
for line in ('Relu, in If of turned -> "a"', 'Add, in Loop of last -> "next"'):
    if line not in text:
        fail("no comment says %s:\n%s" % (line, text))
plan = re.sub(r"\n \* {9,}", " ", re.search(r"/\* Workspace, .*?\*/", text,
                                           re.S)[0])
for place in re.findall(r"^ \*   bytes (.*)$", plan, re.M):
    if "written by" not in place or "read by" not in place:
        fail("who writes it, who reads it: " + place)
offsets = re.findall(r"void \*const \w+ = workspace(?: \+ (\d+))?;", text)
if len(offsets) != len(set(offsets)):
    fail("two names for one place:\n" + text)
if re.search(r"\bint\d+_t \w+\[1\];", text):
    fail("a counter is an array:\n" + text)
written = os.path.join(folder, "net.json")
tirc("partition", os.path.join(folder, "net.onnx"), "-o", written)
again = compile_model(written, "--target", "c99")
with open(os.path.join(again, "net.json")) as facts:
    if {r["id"]: r for r in json.load(facts)["trace"]} != rows:
        fail("a partition tells of other nodes")
longer = copy.deepcopy(net)
longer.graph.node.insert(1, helper.make_node("Identity", ["x"], ["same"]))
longer.graph.node[2].input[0] = "same"
changed = [line for line in difflib.ndiff(
    described.splitlines(), compiled(longer)[1].splitlines())
    if line[0] in "+-" and '"digest"' not in line]
if len(changed) != 1 or '"same"' not in changed[0]:
    fail("an Identity changes\n" + "\n".join(changed))
