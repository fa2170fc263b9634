#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc diff`: of two models, and of two folders of `tirc compile`; its exit status
is that of diff; folders of anybody are refused with a message."""
import json
import os
import re
import shutil

from helper import DIGITS, compile_model, fail, tirc, work_folder
from proto import (blob, floats, graph, node, number, opset, tensor,
                   value_info)

TARGET = ["--target", "c99"]
folder = work_folder()


def write(name, prefix="", alpha=0.5, last=3.0, more=False):
    """A model with names that begin with the prefix; its path."""
    def n(text):
        return prefix + text
    nodes = [node("MatMul", [n("x"), n("w")], [n("a")], n("mul")),
             node("LeakyRelu", [n("a")], [n("b")], n("relu"), alpha=alpha),
             node("Softmax", [n("b")], [n("y")], n("soft"), axis=1)]
    if more:
        nodes.append(node("ReduceSum", [n("b")], [n("z")], n("sum")))
    outputs = [value_info(n("y"), [4, 8])]
    if more:
        outputs.append(value_info(n("z"), [1, 1]))
    body = graph(nodes, [value_info(n("x"), [4, 6])], outputs,
                 [tensor(n("w"), [6, 8], floats(*range(47), last))], "net")
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(number(1, 8) + blob(7, body) + blob(8, opset(21)))
    return path


def diff(old, new, status, *options):
    text = tirc("diff", old, new, *options, status=status).stdout
    done = tirc("diff", old, new, "--json", *options, status=status)
    found = json.loads(done.stdout)
    if found["same"] != (status == 0):
        fail("%s and %s: same is %s" % (old, new, found["same"]))
    return text, found


def changes(found, part):
    """name: change, of what is not the same."""
    return {row["name"]: row["change"] for row in found[part]
            if row["change"] != "same"}


def apply(lines, patch, name):
    """The lines after a unified diff."""
    out, at = [], 0
    for line in patch:
        if line.startswith("@@"):
            start, = re.match(r"@@ -(\d+),", line).groups()
            start = max(int(start) - 1, 0)
            out += lines[at:start]
            at = start
        elif line[0] == "+":
            out.append(line[1:])
        else:
            if lines[at] != line[1:]:
                fail("%s: line %d is %r, the diff has %r" % (
                    name, at + 1, lines[at], line))
            if line[0] == " ":
                out.append(line[1:])
            at += 1
    return out + lines[at:]


def function(out, name):
    """The lines of a function in a folder."""
    path, = [os.path.join(out, f) for f in os.listdir(out)
             if f.endswith(".json")]
    with open(path, encoding="utf-8") as file:
        row, = [r for r in json.load(file)["functions"] if r["name"] == name]
    with open(os.path.join(out, row["file"]), encoding="utf-8") as file:
        return file.read().split("\n")[row["line"] - 1:row["last"]]


old = write("old.onnx")
text, found = diff(old, write("same.onnx"), 0, *TARGET)
if "different" in text or changes(found, "kernels"):
    fail("the same models differ:\n" + text)

# Other names of everything: the code is the same.
text, found = diff(old, write("named.onnx", "other_"), 1, *TARGET)
if set(changes(found, "nodes").values()) != {"renamed"} or set(
        changes(found, "kernels").values()) - {"same but for names"}:
    fail("other names:\n" + text)

# Another constant in a kernel: its lines differ, and nothing else.
new = write("alpha.onnx", alpha=0.25)
text, found = diff(old, new, 1, *TARGET)
kernels = changes(found, "kernels")
if list(kernels.values()) != ["different"] or changes(found, "weights") \
        or changes(found, "nodes") or changes(found, "memory"):
    fail("another constant:\n" + text)
a, b = compile_model(old, *TARGET), compile_model(new, *TARGET)
folders = diff(a, b, 1)[1]
if folders != found:
    fail("folders differ otherwise than models")
row, = [r for r in found["kernels"] if r["change"] == "different"]
if apply(function(a, row["name"]), row["diff"], row["name"]) != function(
        b, row["name"]):
    fail("the diff does not lead from the old lines to the new ones")

# Another weight; another node and output; another target.
_, found = diff(old, write("weight.onnx", last=4.0), 1, *TARGET)
if list(changes(found, "weights").values()) != ["different"] or changes(
        found, "kernels") or "digest" not in found["weights"][0]["old"]:
    fail("another weight: %s" % found)
_, found = diff(old, write("more.onnx", more=True), 1, *TARGET)
if "added" not in changes(found, "nodes").values() or changes(
        found, "interface") != {"output z": "added"}:
    fail("another node: %s" % found)
_, found = diff(compile_model(old, *TARGET),
                compile_model(old, "--target", "misra"), 1)
if changes(found, "options").get("target") != "different":
    fail("another target: %s" % found)

# What is no folder of a model, or names what is outside of it.
tirc("diff", old, status=2)
tirc("diff", old, os.path.join(folder, "missing"), status=2)
tirc("diff", a, work_folder(), status=2)
bad = os.path.join(work_folder(), "bad")
shutil.copytree(a, bad)
path, = [os.path.join(bad, f) for f in os.listdir(bad) if f.endswith(".json")]
with open(path, encoding="utf-8") as file:
    good = json.load(file)
outside = os.path.join(folder, "outside.c")
with open(outside, "w", encoding="utf-8") as file:
    file.write("secret\n" * 100)
kernel = good["functions"][0]
for change in ({"file": "../" + os.path.basename(outside)}, {"file": outside},
               {"file": 7}, {"line": -1}, {"line": "x"}, {"last": 10 ** 12},
               {"last": None}, {"name": []}):
    wrong = dict(good, functions=[{**kernel, **change}, *good["functions"][1:]])
    with open(path, "w", encoding="utf-8") as file:
        json.dump(wrong, file)
    done = tirc("diff", a, bad, status=2)
    if "secret" in done.stdout + done.stderr or not done.stderr:
        fail("a file with %s" % change)
for change in ({"calls": 1}, {"calls": [1, {"nodes": [10 ** 9, -1, "x"]}]},
               {"trace": [[], {"node": 3, "kernels": [1, "x"]}]},
               {"kernels": "x"}, {"weights": [{"symbol": {}}]},
               {"memory": []}):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**good, **change}, file)
    tirc("diff", a, bad, status=None)
# Files that are no files, names that forge lines, and lists so long that comparing
# each with each would take minutes.
special = os.path.join(folder, "special")
os.mkdir(special)
os.mkfifo(os.path.join(special, "x.json"))
os.symlink("/dev/zero", os.path.join(special, "y.json"))
os.symlink(path, os.path.join(special, "z.json"))
tirc("diff", special, a, status=2)
with open(path, "w", encoding="utf-8") as file:
    json.dump({**good, "weights": [{"symbol": "x\noptions    forged"}]}, file)
if "\noptions    forged" in tirc("diff", a, bad, status=1).stdout:
    fail("a name makes a line of its own")
name = good["kernels"][0]["name"]
many = {
    "trace": [{"node": "n%d" % i, "op": "Relu", "output": "t%d" % i,
               "kernels": [name] * 20} for i in range(20000)],
    "weights": [{"symbol": "w%d" % i} for i in range(20000)],
    "kernels": [{**good["kernels"][0], "name": "k%d" % i}
                for i in range(2000)]}
with open(path, "w", encoding="utf-8") as file:
    json.dump({**good, **many}, file)
found = json.loads(tirc("diff", bad, bad, "--json", status=0).stdout)
if len(found["weights"]) != 20000 or len(found["kernels"]) != 2000:
    fail("items are missing")
# One long line that all kernels name is read for each of them.
long = []
for side, word in (("old", "a "), ("new", "b ")):
    long.append(os.path.join(folder, "long_" + side))
    os.mkdir(long[-1])
    with open(os.path.join(long[-1], "n.c"), "w", encoding="utf-8") as file:
        file.write(word * (1 << 19) + "\n")
    with open(os.path.join(long[-1], "n.json"), "w", encoding="utf-8") as file:
        json.dump({
            "generator": "tirc", "model": "n", "calls": [],
            "kernels": [{"name": "k%d" % i, "function": "f%d" % i}
                        for i in range(3000)],
            "functions": [{"name": "f%d" % i, "file": "n.c", "line": 1,
                           "last": 1} for i in range(3000)]}, file)
if "bytes together" not in tirc("diff", *long, status=2).stderr:
    fail("functions of 6 GB together are compared")
# Texts that are in many rows, rows with very many members, and a kernel that comes
# again.
nodes = [{"node": "n%d" % i, "kernels": ["a", "k%d" % (i % 300)]}
         for i in range(60000)]
kernels = [{"name": "k%d" % i, "schedule": "s" * 4000} for i in range(300)]
for change, says in (
        ({"trace": [{"output": "t", **{"m%d" % i: 0 for i in range(300)}}]},
         'a row of "trace" has more than 256 members'),
        ({"trace": nodes, "kernels": kernels}, "too long to be compared")):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**good, **change}, file)
    if says not in tirc("diff", a, bad, status=2).stderr:
        fail("not refused: " + says)
with open(path, "w", encoding="utf-8") as file:
    json.dump({**good, "kernels": good["kernels"] + good["kernels"][:1]}, file)
if len(json.loads(tirc("diff", a, bad, "--json", status=None).stdout)["kernels"]) \
        != len(good["kernels"]):
    fail("a kernel that comes again is counted twice")
print("models, folders and bad folders are compared")
