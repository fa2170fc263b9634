#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partitions with branches and loops that another program wrote.

    control_partitions.py refused
    control_partitions.py mutants [SECONDS SEED]

refused: each mistake gets its message. mutants: small changes of valid
partitions; each is refused, or the emitted C, under the sanitizers, gives what
an evaluation of the partition's nodes gives here. SECONDS: as many as there is
time for, from the first of SEED on."""
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import time

from helper import TIRC, execute, fail, skip, tirc, work_folder

SANITIZED = ["-std=c99", "-O0", "-w", "-g", "-DTIRC_ANY_PROCESSOR",
             "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
ONE = [1] * 9  # one element in many dimensions


# -- partitions --

class Partition:
    """int32[4] unless another type is given."""

    def __init__(self):
        self.tensors, self.nodes = {}, []
        self.inputs, self.outputs = [], []

    def tensor(self, name, shape=(4,), kind="int32", **more):
        self.tensors[name] = {"type": kind, "shape": list(shape), **more}
        return name

    def input(self, name, shape=(4,), kind="int32"):
        self.inputs.append(self.tensor(name, shape, kind))
        return name

    def node(self, op, inputs, output, shape=(4,), kind="int32", **attrs):
        """output: a name, or several, which have their shape already."""
        if isinstance(output, str):
            output = [self.tensor(output, shape, kind)]
        node = {"op": op, "inputs": inputs, "outputs": output}
        if attrs:
            node.update(domain="tirc", attrs=attrs)
        self.nodes.append(node)
        return output[0]

    def copy(self, x, output, body, shape=(4,), kind="int32"):
        return self.node("Copy", [x], output, shape, kind, body=body)

    def json(self):
        return {"tirc_partition": 1, "name": "g", "settings": {}, "dims": [],
                "inputs": self.inputs, "outputs": self.outputs,
                "tensors": self.tensors, "nodes": self.nodes, "backends": [],
                "matches": [], "regions": [], "origins": []}


def branch():
    """y = -x if c else 2x, and another If in the first branch."""
    p = Partition()
    c, d, x = p.input("c", [], "bool"), p.input("d", ONE, "bool"), p.input("x")
    p.node("Neg", [x], "n")
    p.copy("n", "n2", 3)
    p.node("Abs", [x], "m")
    p.copy("m", "m2", 4)
    p.node("EndIf", [d, "n2", "m2"], "i", body=1, **{"then": 3, "else": 4})
    p.node("Add", ["i", x], "j")
    p.copy("j", "j2", 1)
    p.node("Add", [x, x], "k")
    p.copy("k", "k2", 2)
    p.node("EndIf", [c, "j2", "k2"], "y", body=0, **{"then": 1, "else": 2})
    p.node("Neg", ["y"], "z")
    p.outputs = ["y", "z"]
    return p.json()


def loop():
    """Two states that change places, and the slices of one of them."""
    p = Partition()
    x, u = p.input("x"), p.input("u")
    p.copy(x, "s", 0)
    p.copy(u, "t", 0)
    p.node("Carry", ["s"], "v", body=1)
    p.node("Carry", ["t"], "w", body=1)
    p.node("Sub", ["v", "w"], "a")
    p.copy("a", "s1", 1)
    p.copy("v", "t1", 1)
    p.node("Neg", ["a"], "b")
    p.copy("b", "slice", 1)
    p.tensor("last"), p.tensor("other"), p.tensor("all", [5, 4])
    p.node("EndLoop", ["s", "t", "s1", "t1", "slice"],
           ["last", "other", "all"], body=0, loop=1, states=2, trips=5,
           back=[1])
    p.node("Add", ["last", "other"], "y")
    p.outputs = ["y", "all"]
    return p.json()


def scan():
    """A loop over slices of q in a loop of n iterations."""
    p = Partition()
    n, q, x = p.input("n", ONE, "int64"), p.input("q", [3, 4]), p.input("x")
    p.copy(x, "s", 0)
    p.node("Carry", ["s"], "v", body=1)
    p.copy(q, "q1", 1, [3, 4])
    p.node("ScanInput", ["q1"], "slice", body=2, back=1)
    p.copy("v", "t", 1)
    p.node("Carry", ["t"], "w", body=2)
    p.node("Add", ["w", "slice"], "a")
    p.copy("a", "t1", 2)
    p.node("EndLoop", ["t", "t1"], "b", body=1, loop=2, states=1, trips=3)
    p.node("Neg", ["b"], "c")
    p.copy("c", "s1", 1)
    p.node("EndLoop", [n, "s", "s1"], "last", body=0, loop=1, states=1,
           counted=1)
    p.copy("last", "y", 0)
    p.outputs = ["y"]
    return p.json()


def condition():
    """While a state is below a limit; a branch in the loop."""
    p = Partition()
    go, x = p.input("go", [1], "bool"), p.input("x", [1])
    p.tensor("limit", [1], values=[50])
    p.tensor("few", [1], values=[9])
    p.copy(go, "g", 0, [1], "bool")
    p.copy(x, "s", 0, [1])
    p.node("Carry", ["s"], "v", [1], body=1)
    p.node("Less", ["v", "few"], "less", [1], "bool")
    p.copy("v", "one", 2, [1])
    p.node("Add", ["v", "few"], "sum", [1])
    p.copy("sum", "two", 3, [1])
    p.node("EndIf", ["less", "one", "two"], "w", [1], body=1,
           **{"then": 2, "else": 3})
    p.node("Iteration", [], "i", [], "int64", body=1)
    p.node("Cast", ["i"], "j", [])
    p.nodes[-1]["attrs"] = {"to": 6}
    p.node("Add", ["w", "j"], "r", [1])
    p.node("Less", ["r", "limit"], "h", [1], "bool")
    p.copy("h", "g2", 1, [1], "bool")
    p.copy("r", "s2", 1, [1])
    p.tensor("end", [1], "bool"), p.tensor("last", [1])
    p.node("EndLoop", ["g", "s", "g2", "s2"], ["end", "last"], body=0, loop=1,
           states=2, condition=1)
    p.copy("end", "y", 0, [1], "bool")
    p.node("Neg", ["last"], "z", [1])
    p.outputs = ["y", "z"]
    return p.json()


MODELS = [branch, loop, scan, condition]


def write(p, folder=None):
    path = os.path.join(folder or work_folder(), "p.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(p, f)
    return path


# -- what is refused --

def edits(p):
    """Shorthands for changes of p: the nodes by their outputs."""
    return {n["outputs"][0]: n for n in p["nodes"]}


def mistaken(model, what, message, change):
    """What is wrong with the refusal, or None."""
    p = copy.deepcopy(model())
    change(p, edits(p))
    done = tirc("compile", write(p), "-o", work_folder(), status=None)
    if done.returncode == 1 and message in done.stderr and \
            done.stderr.count("error:") == 1:
        return None
    return "%s, %s: exit status %d, not one message with %r:\n%s" % (
        model.__name__, what, done.returncode, message, done.stderr)


def attr(name, **values):
    """Changes attributes of the node that computes `name`; None: without."""
    def change(p, n):
        for key, value in values.items():
            key = key.rstrip("_")
            n[name]["attrs"][key] = value
            if value is None:
                del n[name]["attrs"][key]
    return change


def reads(name, i, other):
    def change(p, n):
        n[name]["inputs"][i] = other
    return change


def also_output(name):
    def change(p, n):
        p["outputs"].append(name)
    return change


def extra(op, inputs, name="extra", shape=(4,), kind="int32", **attrs):
    """A node more, whose result is an output."""
    def change(p, n):
        p["tensors"][name] = {"type": kind, "shape": list(shape)}
        p["nodes"].append({"op": op, "inputs": inputs, "outputs": [name]})
        if attrs:
            p["nodes"][-1].update(domain="tirc", attrs=attrs)
        p["outputs"].append(name)
    return change


def shaped(name, shape, kind=None):
    def change(p, n):
        p["tensors"][name]["shape"] = shape
        p["tensors"][name]["type"] = kind or p["tensors"][name]["type"]
    return change


def both(*changes):
    def change(p, n):
        for one in changes:
            one(p, n)
    return change


def without(name, read):
    """The node that computes `name` goes; its readers read `read`."""
    def change(p, n):
        p["nodes"].remove(n[name])
        for one in p["nodes"]:
            one["inputs"] = [read if x == name else x for x in one["inputs"]]
        if name not in p["outputs"]:
            del p["tensors"][name]
    return change


TOGETHER = "do not belong together"
FIRST = "a first state is not a Copy before the loop"
NEXT = "a next state or a slice is not a Copy of the loop"
RESULT = "a result of a branch is not a Copy of the branch"
INSIDE = "an output of the graph inside of a body"
SCOPE = "a tensor of a body that it is not in"
SLICES = "is not known before the loop"

REFUSED = [
    # attributes of ends
    (loop, "trips of no integer", TOGETHER, attr("last", trips="5")),
    (loop, "trips below 0", TOGETHER, attr("last", trips=-1)),
    (loop, "trips beyond int32", TOGETHER, attr("last", trips=2**31 - 1)),
    (loop, "no trips", TOGETHER, attr("last", trips=None)),
    (loop, "counted 2", TOGETHER, attr("last", counted=2)),
    (loop, "counted and trips", TOGETHER, attr("last", counted=1)),
    (loop, "states for slices", TOGETHER, attr("last", states=3)),
    (loop, "fewer states", TOGETHER, attr("last", states=1)),
    (loop, "states below 0", TOGETHER, attr("last", states=-1)),
    (scan, "count that is not read", TOGETHER, attr("last", counted=0, trips=3)),
    (scan, "no end of the loop", TOGETHER, attr("b", trips=None)),
    (condition, "a condition but no state", TOGETHER, attr("end", states=0)),
    (branch, "the same body twice", "two branches of its own",
     attr("y", then=2)),
    (branch, "another's body", "two branches of its own", attr("y", then=3)),
    (branch, "body 0", "two branches of its own", attr("y", else_=0)),
    (branch, "no else", "two branches of its own", attr("y", else_=None)),
    (scan, "the other's loop", "a loop of its own", attr("last", loop=2)),
    (branch, "a result of one branch", "an input of each branch",
     lambda p, n: n["y"]["inputs"].append("k2")),
    (loop, "an absent state", "an input is absent", reads("last", 3, None)),
    (scan, "no body of a Carry", "it names no body", attr("v", body=None)),
    (scan, "no body of a ScanInput", "it names no body",
     attr("slice", body=None)),
    (scan, "no body of an end", "it names no body", attr("b", body=None)),
    (condition, "no body of an Iteration", "it names no body",
     attr("i", body=None)),
    (branch, "bodies in a circle", "inside of itself", attr("y", body=1)),
    (branch, "bodies in each other", "inside of itself",
     both(attr("y", body=3), attr("i", body=1))),
    (branch, "a body of nobody", "without an end", attr("i", body=9)),
    (branch, "a Copy of nobody's body", "one that it can be in",
     attr("n2", body=9)),
    (branch, "an Iteration in a branch", "one that it can be in",
     extra("Iteration", [], shape=[], kind="int64", body=1)),
    # scopes
    (branch, "else reads then", SCOPE, reads("k2", 0, "j")),
    (branch, "outer reads then", RESULT, extra("Neg", ["j2"])),
    (branch, "outer output reads then", INSIDE, extra("Neg", ["i"])),
    (branch, "two branches", "neither of which is inside of the other",
     both(extra("Copy", ["x"], "e", body=2), extra("Add", ["i", "e"]),
          lambda p, n: p["outputs"].remove("e"))),
    (branch, "then's result is an output", RESULT, also_output("j2")),
    (branch, "an inner condition is the outer one", SCOPE,
     lambda p, n: (p["tensors"].update(e={"type": "bool", "shape": ONE}),
                   p["nodes"].insert(8, {
                       "op": "Copy", "inputs": ["d"], "outputs": ["e"],
                       "domain": "tirc", "attrs": {"body": 1}}),
                   n["y"]["inputs"].__setitem__(0, "e"))),
    (loop, "a state is an output", INSIDE, also_output("v")),
    (loop, "outer reads a state", INSIDE, extra("Neg", ["v"])),
    (loop, "outer reads a next state", NEXT, extra("Neg", ["s1"])),
    (scan, "outer reads a slice", INSIDE, extra("Neg", ["slice"])),
    (condition, "outer reads the iteration", INSIDE,
     extra("Neg", ["i"], shape=[], kind="int64")),
    (condition, "outer reads what a loop computes", INSIDE, also_output("r")),
    (scan, "slices of the loop itself", "not a Copy before its loop",
     attr("slice", body=1)),
    # memory
    (branch, "a result from outside", RESULT, reads("y", 1, "x")),
    (branch, "a result of an operator", RESULT, without("k2", "k")),
    (branch, "a result of both branches", RESULT, reads("y", 2, "j2")),
    (branch, "a result of the other branch", RESULT,
     lambda p, n: n["y"]["inputs"].reverse() or n["y"]["inputs"].insert(
         0, n["y"]["inputs"].pop())),
    (loop, "an input is a first state", FIRST, without("s", "x")),
    (loop, "a constant is a first state", FIRST,
     both(without("s", "k"), lambda p, n: (
         p["tensors"].update(k={"type": "int32", "shape": [4],
                                "values": [1, 2, 3, 4]}),
         p["inputs"].remove("x"), p["tensors"].pop("x")))),
    (loop, "one first state for two", FIRST, both(
        reads("last", 1, "s"), without("w", "u"), without("t", "u"))),
    (loop, "a first state that others read", FIRST, extra("Neg", ["s"])),
    (loop, "a first state that is an output", FIRST, also_output("s")),
    (loop, "a last state that is an output", "a last state is an output",
     also_output("last")),
    (loop, "a first state of two Carries", FIRST, reads("w", 0, "s")),
    (loop, "a first state of the loop itself", FIRST, attr("s", body=1)),
    (loop, "an input is a next state", NEXT, without("s1", "x")),
    (loop, "a state is a next state", NEXT, without("t1", "v")),
    (loop, "one next state for two", NEXT, without("t1", "s1")),
    (loop, "a slice is an operator's", NEXT, without("slice", "b")),
    (scan, "a slice of the input", "not a Copy before its loop",
     without("q1", "q")),
    (scan, "a Carry of an input", "not a first state", reads("w", 0, "x")),
    (scan, "a Carry of the other loop", "not a first state",
     reads("w", 0, "s")),
    (loop, "a region", "backends compute nothing where",
     lambda p, n: p["regions"].append(
         {"name": "r", "backend": "cblas", "matches": []})),
    # types and numbers of elements
    (branch, "a condition of 4", "not one truth value", shaped("c", [4])),
    (branch, "a condition without elements", "not one truth value",
     shaped("c", [0])),
    (branch, "a condition of int32", "not one truth value",
     shaped("c", [1], "int32")),
    (scan, "a count of 2", "not one integer", shaped("n", [2])),
    (scan, "a count without elements", "not one integer", shaped("n", [0])),
    (scan, "a count of at most 3", "not one integer",
     both(shaped("n", ["few"]), lambda p, n: p["dims"].append(
         {"name": "few", "min": 0, "max": 3}))),
    (scan, "a count of float32", "not one integer", shaped("n", [], "float32")),
    (scan, "a count of uint8", "not one integer", shaped("n", [], "uint8")),
    (condition, "an int32 for the condition", "not one truth value",
     lambda p, n: n["end"].update(inputs=["s", "g", "s2", "g2"],
                                  outputs=["last", "end"])),
    (scan, "slices of a counted loop", SLICES,
     lambda p, n: (
         n["b"].update(inputs=["n", "t", "t1"], attrs={
             "body": 1, "loop": 2, "states": 1, "counted": 1}),
         n["last"].update(inputs=["s", "s1"], attrs={
             "body": 0, "loop": 1, "states": 1, "trips": 2}))),
    (loop, "results of a counted loop", SLICES,
     lambda p, n: (p["inputs"].append("n"),
                   p["tensors"].update(n={"type": "int64", "shape": []}),
                   n["last"]["inputs"].insert(0, "n"),
                   n["last"]["attrs"].pop("trips"),
                   n["last"]["attrs"].update(counted=1))),
    (scan, "more iterations than slices", "more iterations than",
     attr("b", trips=4)),
]


def deep(depth):
    """Branches in branches."""
    p = Partition()
    c, x = p.input("c", [], "bool"), p.input("x")
    for k in range(depth, 0, -1):
        p.copy(x, "a%d" % k, 2 * k)
        p.copy("y%d" % (k + 1) if k < depth else x, "b%d" % k, 2 * k - 1)
        p.node("EndIf", [c, "b%d" % k, "a%d" % k], "y%d" % k,
               body=2 * k - 3 if k > 1 else 0,
               **{"then": 2 * k - 1, "else": 2 * k})
    p.outputs = ["y1"]
    return p.json()


def gaps():
    """Numbers of bodies may have gaps."""
    p = branch()
    for n in p["nodes"]:
        for key, value in n.get("attrs", {}).items():
            n["attrs"][key] = 1000 * value
    return p


def deepest():
    return deep(20000)


def refused():
    for p in [*[model() for model in MODELS], gaps(), deep(20)]:
        tirc("compile", write(p), "-o", work_folder())
    cases = [*REFUSED,
             (deepest, "branches in each other", "nested too deep",
              lambda p, n: None),
             (branch, "a number that is far too large", "branches of its own",
              attr("y", then=2**40))]
    wrong = [text for text in (mistaken(*case) for case in cases) if text]
    if wrong:
        fail("\n".join(wrong))


# -- what the nodes compute --

class Endless(Exception):
    pass


def int32(v):
    return (v + 2**31) % 2**32 - 2**31


def spread(a, b):
    n = max(len(a), len(b))
    return zip(a * (n // len(a)), b * (n // len(b)))


SIMPLE = {
    "Neg": lambda a: [int32(-v) for v in a],
    "Abs": lambda a: [int32(abs(v)) for v in a],
    "Cast": lambda a: [int32(v) for v in a],
    "Copy": lambda a: a,
    "Add": lambda a, b: [int32(v + w) for v, w in spread(a, b)],
    "Sub": lambda a, b: [int32(v - w) for v, w in spread(a, b)],
    "Less": lambda a, b: [int(v < w) for v, w in spread(a, b)],
}


class Evaluation:
    """The elements of tensors as lists. A scope is an iteration of a loop, in
    the scope around the loop."""

    def __init__(self, p, inputs):
        self.p, self.inputs, self.steps = p, inputs, 0
        self.by = {t: n for n in p["nodes"] for t in n["outputs"]}
        self.ends = {n["attrs"]["loop"]: n for n in p["nodes"]
                     if n["op"] == "EndLoop"}

    def value(self, t, scope):
        if t in self.inputs:
            return self.inputs[t]
        if "values" in self.p["tensors"][t]:
            return self.p["tensors"][t]["values"]
        if t not in scope["values"]:
            n = self.by[t]
            call = getattr(self, n["op"].lower(), None)
            for k, v in enumerate(call(n, scope) if call else [SIMPLE[n["op"]](
                    *[self.value(x, scope) for x in n["inputs"]])]):
                scope["values"][n["outputs"][k]] = v
        return scope["values"][t]

    @staticmethod
    def around(n, scope):
        while scope["loop"] != n["attrs"]["body"]:
            scope = scope["around"]
        return scope

    def iteration(self, n, scope):
        return [[self.around(n, scope)["t"]]]

    def carry(self, n, scope):
        return [self.around(n, scope)["states"][n["inputs"][0]]]

    def scaninput(self, n, scope):
        own = self.around(n, scope)
        x = self.value(n["inputs"][0], own["around"])
        size = len(x) // self.p["tensors"][n["inputs"][0]]["shape"][0]
        end = self.ends[n["attrs"]["body"]]["attrs"]
        at = end["trips"] - 1 - own["t"] if n["attrs"].get("back") in (
            1, 2, 3, 4, 6) else own["t"]
        return [x[at * size:(at + 1) * size]]

    def endif(self, n, scope):
        count = len(n["outputs"])
        taken = self.value(n["inputs"][0], scope)[0]
        first = 1 if taken else 1 + count
        return [self.value(x, scope)
                for x in n["inputs"][first:first + count]]

    def endloop(self, n, scope):
        a, ins = n["attrs"], n["inputs"]
        counted, states = a.get("counted", 0), a.get("states", 0)
        first = ins[counted:counted + states]
        following = ins[counted + states:counted + 2 * states]
        slices = ins[counted + 2 * states:]
        trips = (self.value(ins[0], scope)[0] if counted
                 else a.get("trips", 10**9))
        now = {x: self.value(x, scope) for x in first}
        rows = [[] for _ in slices]
        t = 0
        while t < trips and (not a.get("condition") or now[first[0]][0]):
            self.steps += 1
            if self.steps > 3000:
                raise Endless
            inner = {"loop": a["loop"], "around": scope, "t": t,
                     "states": now, "values": {}}
            after = {x: self.value(y, inner)
                     for x, y in zip(first, following)}
            for row, x in zip(rows, slices):
                row.append(self.value(x, inner))
            now, t = after, t + 1
        back = a.get("back", [])
        back = back if isinstance(back, list) else []
        for k, row in enumerate(rows):
            if k < len(back) and back[k]:
                row.reverse()
        return [now[x] for x in first] + [sum(row, []) for row in rows]

    def outputs(self):
        return [self.value(t, {"loop": 0, "values": {}})
                for t in self.p["outputs"]]


# -- mutants --

def mutate(p, rng):
    """One small change."""
    nodes, names = p["nodes"], list(p["tensors"])
    n = rng.choice(nodes)
    kind = rng.randrange(10)
    if kind == 0:                         # an attribute of control flow
        n = rng.choice([n for n in nodes if n.get("attrs")])
        key = rng.choice([*n["attrs"], "counted", "condition", "back",
                          "trips"])
        value = rng.choice([None, 0, 1, 2, 3, 4, 6, [1], [0, 1]])
        n["attrs"][key] = value
        if value is None:
            del n["attrs"][key]
    elif kind in (1, 2) and n["inputs"]:  # an edge; often of the same type
        i = rng.randrange(len(n["inputs"]))
        old = n["inputs"][i]
        alike = [t for t in names if old in names and t != old and
                 p["tensors"][t]["shape"] == p["tensors"][old]["shape"] and
                 p["tensors"][t]["type"] == p["tensors"][old]["type"]]
        n["inputs"][i] = rng.choice(alike if alike and rng.random() < 0.9
                                    else names)
    elif kind == 3 and n["inputs"]:       # two edges change places
        m = rng.choice([m for m in nodes if m["inputs"]])
        i, k = rng.randrange(len(n["inputs"])), rng.randrange(len(m["inputs"]))
        n["inputs"][i], m["inputs"][k] = m["inputs"][k], n["inputs"][i]
    elif kind == 4 and n["inputs"]:       # a node less
        nodes.remove(n)
        for m in nodes:
            m["inputs"] = [n["inputs"][0] if x in n["outputs"] else x
                           for x in m["inputs"]]
    elif kind == 5:                       # an output more, or less
        t = rng.choice(names)
        if t in p["outputs"]:
            p["outputs"].remove(t)
        else:
            p["outputs"].append(t)
    elif kind == 6:                       # a reader more
        t = rng.choice(names)
        name = "more%d" % len(nodes)
        p["tensors"][name] = {"type": p["tensors"][t]["type"],
                              "shape": p["tensors"][t]["shape"]}
        nodes.append({"op": "Neg", "inputs": [t], "outputs": [name]})
        p["outputs"].append(name)
    elif kind == 7:                       # another operator
        same = [m["op"] for m in nodes
                if len(m["inputs"]) == len(n["inputs"])]
        n["op"] = rng.choice(same)
        n.pop("domain", None)
        if n["op"] in ("Copy", "Carry", "ScanInput", "EndIf", "EndLoop",
                       "Iteration"):
            n["domain"] = "tirc"
            n.setdefault("attrs", {"body": rng.randrange(4)})
        else:
            n.pop("attrs", None)
    elif kind == 8:                       # a node in another place
        nodes.remove(n)
        nodes.insert(rng.randrange(len(nodes) + 1), n)
    else:                                 # a shape or a type
        t = rng.choice(names)
        if rng.random() < 0.5:
            p["tensors"][t]["shape"] = rng.choice(
                [[], [1], [4], [3, 4], [5, 4], [0], [1, 1], [3]])
        else:
            p["tensors"][t]["type"] = rng.choice(["int32", "int64", "bool"])


def elements(shape):
    n = 1
    for d in shape:
        n *= d
    return n


C_TYPES = {"int32": "int32_t", "int64": "int64_t", "bool": "unsigned char"}

# Each tensor has a block of its own, so that the sanitizer sees its ends.
HEAD = """#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *
block(const void *from, size_t bytes)
{
	void *p = malloc(bytes);
	if (from != NULL && bytes > 0) {
		memcpy(p, from, bytes);
	}
	return p;
}
"""


class Batch:
    """Mutants that tirc takes, compiled together."""

    def __init__(self, folder):
        self.folder, self.cases = folder, []

    def add(self, name, p, inputs, expected):
        self.cases.append((name, p, inputs, expected))

    def function(self, name, p, inputs):
        lines = ['#include "%s.h"' % name, "static void", "run_%s(void)" % name,
                 "{", "struct %s m;" % name, "struct %s_config k = { 0 };" % name,
                 "struct %s_inputs i = { 0 };" % name,
                 "struct %s_outputs o = { 0 };" % name,
                 "#ifdef %s_WORKSPACE_BYTES" % name.upper(),
                 "k.workspace = malloc(%s_WORKSPACE_BYTES);" % name.upper(),
                 "k.workspace_bytes = %s_WORKSPACE_BYTES;" % name.upper(),
                 "#endif"]
        for t in p["inputs"]:
            kind = C_TYPES[p["tensors"][t]["type"]]
            lines += ["static const %s in_%s[] = { %s };" % (
                kind, t, ", ".join(map(str, inputs[t] or [0]))),
                "i.%s = block(in_%s, %d * sizeof *in_%s);" % (
                    t, t, len(inputs[t]), t)]
        for t in p["outputs"]:
            lines += ["o.%s = block(NULL, %d * sizeof *o.%s);" % (
                t, elements(p["tensors"][t]["shape"]), t)]
        lines += ["%s_init(&m, &k);" % name,
                  'printf("%s %%d", (int)%s_run(&m, &i, &o));' % (name, name)]
        for t in p["outputs"]:
            for at in range(elements(p["tensors"][t]["shape"])):
                lines.append('printf(" %%lld", (long long)o.%s[%d]);' % (
                    t, at))
        for t in p["inputs"]:
            lines.append('if (memcmp(i.%s, in_%s, %d * sizeof *in_%s)) '
                         'printf(" changed");' % (t, t, len(inputs[t]), t))
        return "\n".join([*lines, 'printf("\\n");', "}", ""])

    def run(self):
        if not self.cases:
            return
        main = os.path.join(self.folder, "main.c")
        with open(main, "w", encoding="utf-8") as f:
            f.write(HEAD + "".join(self.function(*case[:3])
                                   for case in self.cases))
            f.write("int\nmain(void)\n{\n%sreturn 0;\n}\n" % "".join(
                "run_%s();\n" % case[0] for case in self.cases))
        program = os.path.join(self.folder, "program")
        execute([shutil.which("clang") or "gcc", *SANITIZED, "-I", self.folder,
                 main, *[os.path.join(self.folder, case[0] + ".c")
                         for case in self.cases], "-o", program])
        done = subprocess.run([program], text=True, capture_output=True,
                              env={**os.environ,
                                   "ASAN_OPTIONS": "detect_leaks=0"})
        lines = {line.split()[0]: line.split()[1:]
                 for line in done.stdout.splitlines()}
        for name, p, inputs, expected in self.cases:
            right = ["0", *[str(v) for out in expected for v in out]]
            if lines.get(name) != right:
                fail("%s: %s, not %s, of %s and %s\n%s" % (
                    name, lines.get(name), right, json.dumps(inputs),
                    json.dumps(p), done.stderr[:3000]))
        self.cases = []


def values(p, rng):
    """Of the inputs: small numbers."""
    out = {}
    for t in p["inputs"]:
        tensor = p["tensors"][t]
        low, high = (0, 1) if tensor["type"] == "bool" else \
            (0, 5) if tensor["type"] == "int64" else (-4, 4)
        out[t] = [rng.randint(low, high)
                  for _ in range(elements(tensor["shape"]))]
    return out


def accepted(path, out):
    done = subprocess.run([TIRC, "compile", path, "-o", out], text=True,
                          capture_output=True, timeout=120)
    if done.returncode not in (0, 1) or \
            (done.returncode == 1) != ("error:" in done.stderr) or \
            "this is a bug" in done.stderr:
        with open(path, encoding="utf-8") as f:
            fail("exit status %d, of %s\n%s" % (done.returncode, f.read(),
                                                done.stderr))
    return done.returncode == 0


def mutants(count, seconds=None, seed=0):
    if shutil.which("clang") is None and shutil.which("gcc") is None:
        skip("neither gcc nor clang is installed")
    folder = work_folder()
    batch = Batch(folder)
    made = taken = 0
    start = time.monotonic()
    while made < count and (seconds is None or
                            time.monotonic() - start < seconds):
        rng = random.Random("%d %d" % (seed, made))
        model = MODELS[made % len(MODELS)]
        p = copy.deepcopy(model())
        for _ in range(0 if made < len(MODELS) else rng.choice([1, 1, 1, 2, 3])):
            mutate(p, rng)
        p["name"] = name = "g%d" % made
        made += 1
        if not accepted(write(p, folder), folder):
            if made <= len(MODELS):
                fail(model.__name__ + " is refused")
            continue
        taken += 1
        inputs = values(p, rng)
        try:
            batch.add(name, p, inputs, Evaluation(p, inputs).outputs())
        except Endless:
            continue
        if len(batch.cases) == 50:
            batch.run()
    batch.run()
    whole = min(made, len(MODELS))  # these have no mutation, and are taken
    made, taken = made - whole, taken - whole
    print("%d mutants, of which tirc takes %d" % (made, taken))
    if taken < made // 40:
        fail("hardly any mutant is taken")


if sys.argv[1:] == ["refused"]:
    refused()
elif sys.argv[1:] == ["mutants"]:
    mutants(160)
elif sys.argv[1:2] == ["mutants"] and len(sys.argv) == 4:
    mutants(10**9, float(sys.argv[2]), int(sys.argv[3]))
else:
    fail("control_partitions.py: refused, or mutants [SECONDS SEED]")
