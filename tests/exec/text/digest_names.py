#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Digests are filled into the emitted texts after these are written. No name of
a model can be taken for such a place: a model whose names look like marks of
digests gives the same files as one with other names of the same length, and
every file has the digests of the weights, and no zeros in their place."""
import json
import os
import re

from helper import (STRICT, compilers, contents, execute, fail, has_dialect,
                    tirc, work_folder)
from proto import *

# What a tool could search for in a finished text, and what has their length
# and becomes the same identifier.
MARKS = ["@weights-digest@", "@digest-0000000@", "@digest-9999999@",
         "@digest--000001@", "@digest-0000001", "@digest-", "0000000000000000",
         "{{digest}}", "\x06" + "0"]
PLAIN = [re.sub("[@{}\x06]", "#", mark) for mark in MARKS]


def write(path, names):
    """Weights, nodes, tensors, sizes and the graph have these names."""
    n = len(names)
    nodes, weights = [], []
    last = names[0] + " in"
    for i, name in enumerate(names):
        weights.append(tensor(name, [3], floats(i, i + 1, i + 2)))
        nodes.append(node("Add" if i % 2 else "Mul", [last, name],
                          ["%s %d" % (name, i)], name))
        nodes.append(node("Relu", ["%s %d" % (name, i)], ["r%d" % i + name],
                          name + " relu"))
        last = "r%d" % i + name
    body = graph(nodes, [value_info(names[0] + " in", [names[1], 3])],
                 [value_info(last, [names[1], 3])], weights, name=names[2])
    with open(path, "wb") as file:
        file.write(model(body, more=blob(6, names[3])))


folder = work_folder()
hostile = os.path.join(folder, "a", "m.onnx")
usual = os.path.join(folder, "b", "m.onnx")
for path, names in ((hostile, MARKS), (usual, PLAIN)):
    os.mkdir(os.path.dirname(path))
    write(path, names)


def neutral(data):
    """Without the differences that the names themselves make."""
    for mark, plain in zip(MARKS, PLAIN):
        for form in (json.dumps(mark)[1:-1], mark.replace("\x06", "<U+0006>")):
            data = data.replace(form.encode(), plain.encode())
    # The digest of the model's file, which has the names.
    return re.sub(rb"(sha256 |MODEL_DIGEST \"|\t\"digest\": \")[0-9a-f]{16,64}",
                  rb"\1", data)


CASES = [("--target", target) for target in ("c99", "c-openmp", "misra", "cuda",
                                             "opencl")
         if has_dialect({"c-openmp": "gnu-c"}.get(target, target))]
CASES += [("--target", "c99", "--weights", form)
          for form in ("file", "incbin")]
CASES += [("--target", "c99", "--form", "graph")]
for number, case in enumerate(CASES):
    out = []
    for path in (hostile, usual):
        there = os.path.join(os.path.dirname(path), "out%d" % number)
        tirc("compile", path, "-o", there, "--name", "net", "--dim",
             "%s=2" % (MARKS if path == hostile else PLAIN)[1], *case)
        out.append({name: data for name, data in contents(there).items()})
    if sorted(out[0]) != sorted(out[1]):
        fail("%s: other files: %s" % (case, sorted(out[0])))
    digests = 0
    for name, data in out[0].items():
        if name.endswith((".bin", ".params")):
            if data != out[1][name]:
                fail("%s: %s differs" % (case, name))
            continue
        if neutral(data) != neutral(out[1][name]):
            fail("%s: %s depends on the names:\n%s" % (
                case, name, "\n".join(
                    "%s\n%s" % pair for pair in zip(
                        neutral(data).decode().split("\n"),
                        neutral(out[1][name]).decode().split("\n"))
                    if pair[0] != pair[1])[:2000]))
        text = neutral(data).decode("ascii")
        digests += len(re.findall(r"digest\"?:? ?\"?[0-9a-f]{16}|UINT64_C\(0x",
                                  text))
        if re.search(r"digest\"?:? ?\"?0{16}\b", text):
            fail("%s: %s has no digest in its place" % (case, name))
        if name.endswith(".json"):
            json.loads(data)
    if digests < 2:
        fail("%s: only %d digests" % (case, digests))
    if case == ("--target", "c99"):
        there = os.path.join(folder, "a", "out%d" % number)
        for cc in compilers():
            execute([cc, "-std=c99", *STRICT, "-c", "net.c", "-o",
                     os.devnull], cwd=there)
print("%d ways: no name is taken for a digest" % len(CASES))
