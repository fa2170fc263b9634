#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""misra.py [CASE]...: what is emitted by MISRA's rules departs from them
exactly where its compliance summary says so, by cppcheck's addon, and each
statement of the summary is true of the source (misra_statements.py). Without
arguments: the model that comes with tirc, and models of layers that share a
function, of helpers with loops, and of states. Reference models where they are.

misra.py --functions EMIT_CASES: so does a function for every operation of
every type, of which none may depart at all."""
import json
import os
import re
import subprocess
import sys

import cases
import proto
from helper import (DIGITS, STRICT, compile_model, compilers, execute, fail,
                    need, work_folder)
from misra_statements import check_statements

need("cppcheck")
LARGEST = 110000  # bytes of C; more weights say nothing new, and take long


def sources(folder, largest):
    return sorted(name for name in os.listdir(folder) if name.endswith(".c")
                  and os.path.getsize(os.path.join(folder, name)) < largest)


def found_in(folder, largest=LARGEST):
    """(file, line, rule) of what the addon finds."""
    files = sources(folder, largest)
    done = subprocess.run(
        ["cppcheck", "--addon=misra", "--enable=style", "--std=c99",
         "--quiet", "--max-ctu-depth=2",
         "--template={file}|{line}|{id}|{message}", *files],
        cwd=folder, text=True, capture_output=True, check=False)
    said = done.stderr + done.stdout
    if done.returncode != 0 or re.search("syntaxError|internalError|"
                                         "Failed to execute", said):
        fail("cppcheck:\n" + said)
    return {(m[1], int(m[2]), m[3]) for m in re.finditer(
        r"^([^|\n]+)\|(\d+)\|misra-c2012-([\d.]+)\|", said, re.M)}


def stated_in(folder, name):
    """The same, of what the summary says; as JSON and in words."""
    with open(os.path.join(folder, name + "_misra.json")) as file:
        data = json.load(file)
    with open(os.path.join(folder, name + "_misra.txt")) as file:
        text = file.read()
    if data["standard"] not in text or data["loops_without_bound"] != 0:
        fail("the summary: %s" % data)
    # Of all 173 guidelines, and each deviation has its row.
    rows = {row["id"]: row for row in data["guidelines"]}
    if len(rows) != 173 or len(data["guidelines"]) != 173:
        fail("%d guidelines" % len(data["guidelines"]))
    departs = {row["id"] for row in rows.values()
               if row["status"] == "deviation"}
    if not departs >= {"Rule " + d["rule"] for d in data["deviations"]}:
        fail("deviations that no guideline tells: %s" % data["deviations"])
    for row in rows.values():
        if row["category"] == "mandatory" and \
                row["status"] not in ("compliant", "not applicable") or \
                row["category"] == "required" and \
                row["status"] == "disapplied":
            fail("what the standard does not allow: %s" % row)
        if not re.search(r"^%s +%s +%s +%s$" % tuple(
                re.escape(row[key]) for key in
                ("id", "category", "status", "how")), text, re.M):
            fail("the text has no row " + row["id"])
    if not data["implementation_defined"]:
        fail("no implementation-defined behaviour is stated")
    for deviation in data["deviations"]:
        if not deviation["places"] or not deviation["reason"]:
            fail("a deviation without a place or a reason: %s" % deviation)
        head = "%s  rule %s (%s)" % (deviation["id"], deviation["rule"],
                                     deviation["category"])
        if head not in text or deviation["reason"] not in text:
            fail("the text has no " + head)
    check_statements(texts(folder), data)
    return {(place["file"], place["line"], deviation["rule"])
            for deviation in data["deviations"]
            for place in deviation["places"]}


def texts(folder):
    """Sources and headers, without the elements of large arrays."""
    files = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith((".c", ".h")):
            with open(os.path.join(folder, name)) as file:
                files[name] = re.sub(r"(?m)^(\t[^\n;{}]*,\n){9,}", "",
                                     file.read())
    return files


# -- models --

def write(name, nodes, inputs, outputs, weights=()):
    path = os.path.join(work_folder(), name + ".onnx")
    with open(path, "wb") as file:
        file.write(proto.model(proto.graph(nodes, inputs, outputs, weights)))
    return path


def sharing():
    """Layers of one shape: kernels that call one function."""
    weights = [proto.tensor("w%d" % i, (4, 4), proto.floats(
        *((i + j) / 7 for j in range(16)))) for i in range(4)]
    nodes = []
    for i in range(4):
        nodes += [proto.node("MatMul", ["h%d" % i, "w%d" % i], ["p%d" % i]),
                  proto.node("Tanh", ["p%d" % i], ["h%d" % (i + 1)])]
    return write("sharing", nodes, [proto.value_info("h0", (3, 4))],
                 [proto.value_info("h4", (3, 4))], weights)


def powers():
    """Pow of integers: a helper with a loop."""
    return write("powers", [proto.node("Pow", ["x", "n"], ["y"])],
                 [proto.value_info("x", (5,), proto.INT64),
                  proto.value_info("n", (5,), proto.INT64)],
                 [proto.value_info("y", (5,), proto.INT64)])


def stateful():
    return write("stateful", [proto.node("Add", ["x", "h"], ["g"]),
                              proto.node("Relu", ["g"], ["y"])],
                 [proto.value_info("x", (2, 3)), proto.value_info("h", (2, 3))],
                 [proto.value_info("y", (2, 3)), proto.value_info("g", (2, 3))])


def sized():
    """Shapes that sizes of a run decide: functions of the header."""
    ends = [proto.tensor(name, (1,), proto.ints(value), proto.INT64)
            for name, value in (("begin", 0), ("end", 10), ("axis", 2))]
    return write("sized", [
        proto.node("MaxPool", ["x"], ["y"], kernel_shape=[2], strides=[2]),
        proto.node("Slice", ["x", "begin", "end", "axis"], ["z"])],
        [proto.value_info("x", (1, 3, "width"))],
        [proto.value_info("y", None), proto.value_info("z", None)], ends)


def check(name, model, options=()):
    folder = compile_model(model, "--target", "misra", "--name", name,
                           *options)
    found, stated = found_in(folder), stated_in(folder, name)
    if found != stated:
        fail("%s: found, not stated: %s\nstated, not found: %s" % (
            name, sorted(found - stated), sorted(stated - found)))
    for cc in compilers():
        execute([cc, "-std=c99", *STRICT, "-Wsign-conversion", "-O1",
                 "-I" + folder, "-fsyntax-only",
                 *(os.path.join(folder, file)
                   for file in sources(folder, LARGEST))])
    print("%s: %d lines depart from %d rules, as stated" % (
        name, len(found), len({rule for _, _, rule in found})))


def check_functions(program):
    text = execute([program, "misra"]).stdout
    text = re.split(r"static (?:int\ndiffer|double\nhalf_value)\(", text)[0]
    folder = work_folder()
    with open(os.path.join(folder, "functions.c"), "w") as file:
        file.write(text.replace("#include <stdio.h>\n", ""))
    lines = text.replace("#include <stdio.h>\n", "").split("\n")
    # The addon takes a choice between two short integers for an int.
    wrong = [(line, rule, lines[line - 1])
             for _, line, rule in sorted(found_in(folder, 1 << 30))
             if rule != "10.4" or not re.search(r"\) \? a\[i\] : b\[i\]\) : c",
                                                lines[line - 1])]
    if wrong:
        fail("\n".join("line %d, rule %s: %s" % row for row in wrong))
    print("%d lines, none departs" % len(lines))


if sys.argv[1:2] == ["--functions"]:
    check_functions(sys.argv[2])
    sys.exit()
if len(sys.argv) == 1:
    check("digits", DIGITS)
    check("sharing", sharing())
    check("powers", powers())
    check("stateful", stateful(), ("--state", "g=h"))
    check("sized", sized(), ("--dim", "width=4..32"))
    check("traced", DIGITS, ("--trace",))
    check("traced_sizes", sized(), ("--dim", "width=4..32", "--trace"))
    check("held", stateful(), ("--in-workspace", "both"))
for argument in sys.argv[1:]:
    case = cases.make(argument, work_folder())
    check(re.sub(r"\W", "_", argument), case.model, case.options)
    case.close()
