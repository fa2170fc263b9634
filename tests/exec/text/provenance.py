#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Comments and metadata name the model's nodes and tensors, as they are in its
file, each where it must be: every node in the comment of each kernel that
computes it or has it in its constants, and in one row of the metadata with what
became of it; every kernel with its nodes; the memory plan with the names and
offsets of the code. Weights tell what they are computed from, where each element
is stored, and a digest; their names are unique to the linker and hold words of the
kernel's."""
import itertools
import json
import os
import re

import numpy as np
import onnx

from helper import compile_model, fail
from provenance_models import shared, small

ROW = re.compile(r' \*   (\S*) +(.*)')
CALL = re.compile(r' \*   (?:\d+ calls|call) +(\w+):')
NODE = re.compile(r'(?:(.*) \((\S+?)(?:, in (.*))?\)|(\S+)) -> "(.*)"')


def comments(text):
    """By kernel: its rows of nodes and of folded nodes as (name, operator,
    tensor), and all quoted names; in the comment of its function,
    which several kernels may share."""
    out = {}
    for part in re.finditer(r"^/\* (?:[^*]|\*(?!/))*\*/\n(?:(?:#|static).*\n)*"
                            r"(\w+)\(", part_text(text), re.M):
        body = re.sub(r"\n \* +(-> )", r" \1", part[0].split("*/")[0])
        quoted = re.findall(r'"([^"]*)"', body)
        kernel, label = part[1], ""
        for line in body.split("\n"):
            row = ROW.match(line)
            label = row[1] if row and row[1] else label
            if row and CALL.match(line):
                kernel = CALL.match(line)[1]
            if not row or label not in ("nodes", "folded"):
                continue
            node = NODE.fullmatch(row[2])
            if not node:
                fail("not a node: %s" % line)
            rows = out.setdefault(kernel, {"nodes": [], "folded": [],
                                           "quoted": quoted})
            rows[label].append((node[1] or "", node[2] or node[4], node[5]))
    return out


def part_text(text):
    return text[text.index("/* "):]


def whole_names(text):
    """The source with the names that its comments shorten."""
    text, found, table = text.partition("\n/* Names of the model that ")
    names = dict(re.findall(r'^ \*   (\S+)\n \*       "(.*)"$', table, re.M))
    if bool(found) != bool(names):
        fail("a table without names")
    return re.sub(r'(?<=[\s"])\.\.\.[\w<][^\s"]*[^\s",;:]',
                  lambda part: names[part[0]], text)


def reachable(graph):
    """Positions of nodes that the outputs depend on."""
    maker = {o: i for i, n in enumerate(graph.node) for o in n.output if o}
    open_, seen = [o.name for o in graph.output], set()
    while open_:
        i = maker.get(open_.pop())
        if i is not None and i not in seen:
            seen.add(i)
            open_ += list(graph.node[i].input)
    return seen


def check_rows(graph, facts, path):
    """A row for each node, on a line of its own, with what became of it."""
    with open(path, encoding="utf-8") as f:
        lines = {line.strip().rstrip(",") for line in f}
    trace = facts["trace"]
    if len(trace) != len(graph.node) or \
            len({r["id"] for r in trace}) != len(trace):
        fail("not one row for each node")
    alive = reachable(graph)
    for i, (row, node) in enumerate(zip(trace, graph.node)):
        if (row["node"], row["op"]) != (node.name, node.op_type) or \
                row["output"] != next((o for o in node.output if o), "") or \
                row["id"] != row["output"]:
            fail("another node: %s" % row)
        if not row["kernels"] and not (row.get("pass") and row.get("why")):
            fail("no reason: %s" % row)
        if row.get("pass") == "dead" and i in alive:
            fail("it is read: %s" % row)
        if i not in alive and row["kernels"]:
            fail("a kernel for what nothing reads: %s" % row)
    for key in ("trace", "functions", "kernels", "calls", "workspace",
                "weights"):
        for row in facts[key]:
            text = json.dumps(row, separators=(",", ":"), ensure_ascii=False)
            if text not in lines and json.dumps(
                    row, separators=(",", ":")) not in lines:
                fail("not on one line: %s" % text)


def check_comments(graph, facts, text):
    """The same nodes in the comments as in the metadata; only names of the
    model's."""
    names = {v.name for v in list(graph.input) + list(graph.initializer)}
    names |= {o for n in graph.node for o in n.output}
    found = comments(text)
    node_of = {next((o for o in n.output if o), ""): n for n in graph.node}
    calls = {c["kernel"]: c for c in facts["calls"]}
    if set(found) != {k["name"] for k in facts["kernels"]}:
        fail("kernels without nodes: %s" % (
            {k["name"] for k in facts["kernels"]} ^ set(found)))
    for kernel, rows in found.items():
        for name in rows["quoted"]:
            if name not in names:
                fail("%s: no tensor of the model: %s" % (kernel, name))
        for key in ("nodes", "folded"):
            wanted = []
            for id_ in calls[kernel].get(key, []):
                n = node_of[id_]
                wanted.append((n.name, n.op_type, id_))
            if rows[key] != wanted:
                fail("%s: %s are %s, not %s" % (kernel, key, rows[key],
                                               wanted))
    for row in facts["trace"]:
        for key, where in (("kernels", "nodes"), ("folded_into", "folded")):
            wanted = [c["kernel"] for c in facts["calls"]
                      if row["id"] in c.get(where, [])]
            if row.get(key, []) != wanted:
                fail("%s: %s, not %s" % (row, row.get(key), wanted))


def check_calls(graph, facts, text):
    """What a kernel writes comes from one of its nodes; kernels are where the
    metadata say."""
    maker = {o: next(x for x in n.output if x) for n in graph.node
             for o in n.output if o}
    lines = text.split("\n")
    places = {r["name"]: r for r in facts["workspace"]}
    for call in facts["calls"]:
        for arg in call["arguments"]:
            at = places.get(arg.get("workspace"))
            if "workspace" in arg and not (
                    at and at["first_call"] <= call["call"] <=
                    at["last_call"]):
                fail("not alive: %s in %s" % (arg, call))
            if arg.get("access") in ("write", "update") and arg.get(
                    "tensor") and maker[arg["tensor"]] not in call["nodes"]:
                fail("%s writes %s" % (call, arg))
    for function in facts["functions"]:
        line = lines[function["line"] - 1]
        if not re.search(r"\b%s\(" % function["name"], line):
            fail("line %d is: %s" % (function["line"], line))
    for kernel in facts["kernels"]:
        if [f["name"] for f in facts["functions"]
                if kernel["name"] in f["kernels"]] != [kernel["function"]]:
            fail("not one function: %s" % kernel)


def check_plan(facts, text):
    """The same names and offsets in the plan's comment, the code, the
    metadata."""
    plan = re.search(r"^/\* Workspace, .*?\*/", text, re.M | re.S)
    rows = re.findall(r"bytes (\d+)\.\.(\d+): (\w+)", plan[0] if plan else "")
    code = [(name, int(at or 0)) for name, at in re.findall(
        r"void \*const (\w+) =\s+workspace(?: \+ (\d+))?;", text)]
    if [(name, int(at)) for at, _, name in rows] != code:
        fail("the plan says %s, the code %s" % (rows, code))
    if [(r["name"], r["offset"], r["offset"] + r["bytes"] - 1)
            for r in facts["workspace"]] != [
                (name, int(a), int(b)) for a, b, name in rows]:
        fail("the metadata say %s, the plan %s" % (facts["workspace"], rows))
    if any(r["offset"] + r["bytes"] > facts["memory"]["workspace_bytes"]
           for r in facts["workspace"]):
        fail("beyond the workspace")


START, FACTOR = 0x7469726362696e, 0x9e3779b97f4a7c15
MOST_ELEMENTS = 20000


def digest(data):
    value = START
    data += bytes(-len(data) % 8)
    for word in np.frombuffer(data, "<u8"):
        value = (value ^ int(word)) * FACTOR % 2 ** 64
        value ^= value >> 32
    return "%016x" % value


def check_weights(graph, facts, folder, text):
    """Digests; sources that are constants of the model; and where a constant is
    stored as it is but for the order of its elements, these."""
    sources = {t.name: t for t in graph.initializer}
    sources.update({n.output[0]: n.attribute[0].t for n in graph.node
                    if n.op_type == "Constant"})
    with open(os.path.join(folder, "net_weights.bin"), "rb") as f:
        blob = f.read()
    at, exact = 0, 0
    for row in facts["weights"]:
        at += row["skip"]
        data = blob[at:at + row["bytes"]]
        at += row["bytes"]
        if len(data) <= MOST_ELEMENTS and row["digest"] != digest(data):
            fail("another digest: %s" % row)
        if "digest " + row["digest"] not in re.sub(r"\s*\n[\s*]*", " ", text):
            fail("no comment has the digest: %s" % row)
        unknown = set(row["from"]) - set(sources)
        if unknown:
            fail("no constants of the model: %s" % unknown)
        name = re.fullmatch('"([^"]*)"', row["recipe"])
        if not name or len(data) > MOST_ELEMENTS:
            continue
        value = onnx.numpy_helper.to_array(sources[name[1]])
        stored = np.frombuffer(data, row["dtype"]).reshape(row["shape"])
        if "element" not in row:
            if value.tobytes() != stored.tobytes():
                fail("not as in the model: %s" % row)
            continue
        logical, physical = row["element"].split(" at ")
        names = re.findall(r"\w+", logical)
        places = eval("lambda %s: (%s,)" % (
            ",".join(names), ",".join(re.findall(r"\[([^]]*)\]", physical))
            .replace("/", "//")))
        for index in itertools.product(*map(range, value.shape)):
            if stored[places(*index)] != value[index]:
                fail("%s is not at %s: %s" % (index, places(*index), row))
        exact += 1
    return exact


def check_names(facts, external):
    """Names of weights are unique to the linker, and made of words of the
    kernel's that reads them first."""
    symbols = [w["symbol"] for w in facts["weights"]]
    if len({s[:external] for s in symbols}) != len(symbols):
        fail("the linker mixes up: %s" % symbols)
    for symbol in symbols:
        if len(symbol) > external:
            fail("%s has more than %d characters" % (symbol, external))
        reader = next(c["kernel"] for c in facts["calls"]
                      for a in c["arguments"] if a.get("weight") == symbol)
        words = symbol[len("net_"):].split("_")[:-1]
        if not any(w.startswith(words[0]) for w in reader.split("_")):
            fail("%s of kernel %s" % (symbol, reader))
    for name in [k["function"] for k in facts["kernels"]] + \
            [p["name"] for p in facts["workspace"]]:
        if len(name) > 63:
            fail("%s has more than 63 characters" % name)


def check(path, *options):
    out = compile_model(path, "--name", "net", *options)
    graph = onnx.load(path, load_external_data=False).graph
    with open(os.path.join(out, "net.json"), encoding="utf-8") as f:
        facts = json.load(f)
    with open(os.path.join(out, "net.c"), encoding="utf-8") as f:
        text = whole_names(f.read())
    check_rows(graph, facts, os.path.join(out, "net.json"))
    check_comments(graph, facts, text)
    check_calls(graph, facts, text)
    check_plan(facts, text)
    check_names(facts, 63 if "x86-64-v4" in options else 31)
    if facts["weights_form"] == "file" and facts["weights"]:
        facts["exact"] = check_weights(graph, facts, out, text)
    return facts


EXACT = 0
for model in small():
    for target in ("c99", "x86-64-v4"):
        print(model, target)
        EXACT += check(model, "--target", target, "--weights",
                       "file").get("exact", 0)
    if "convolutions" in model:
        print(model, "winograd")
        result = check(model, "--target", "x86-64-v4", "--conv", "winograd")
        if not any("Winograd" in k["title"] for k in result["kernels"]):
            fail("no kernel by tiles")
if EXACT < 8:
    fail("only %d constants in another order" % EXACT)
for model in shared():
    print(model)
    check(model, "--target", "x86-64-v4")
    for target in ("c99", "misra"):
        folder = compile_model(model, "--name", "net", "--target", target)
        with open(os.path.join(folder, "net.json"), encoding="utf-8") as f:
            check_names(json.load(f), 31)
