#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""circles.py BUILD: the files of a room call each other in one direction, so
that each can be read after those that it calls. From the symbols of the object
files. The exceptions are walks over trees whose parts contain each other, and
tables that name the functions which read them."""
import collections
import os
import re
import shutil
import subprocess
import sys

from compile_command import room_commands

# The files of the largest circle of a room, which must not grow, and its reason.
MAY = {
    "ir/core": (2, "a statement's edit edits its maps"),
    "ir/graph": (2, "an edit renames, a rename edits"),
    "ir/tensor": (5, "a stage's body contains stages of other kinds"),
    "ir/python": (5, "expressions contain lambdas, suites contain suites"),
    "ir/script": (18, "expressions and statements contain each other"),
    "passes/analyse": (4, "a fact simplifies, a simplification needs facts"),
    "passes/interp": (5, "a block's value is an expression with blocks"),
    "passes/ops/core": (8, "elements of a size are computed by definitions, "
                           "whose sizes are inferred"),
    "passes/ops/image": (2, "a position is known, or a formula"),
    "passes/graph": (2, "an epilogue is fused where its reader is"),
    "passes/byoc": (2, "a mismatch is explained by matching parts"),
    "passes/lower": (2, "a loop's tail is a loop"),
    "passes/kernels": (4, "branches of the entry function contain calls"),
    "gen/dialect": (7, "a key with members is read by the table naming it"),
    "gen/byoc": (4, "a key with members is read by the table naming it"),
    "gen/emit": (16, "expressions and statements contain each other"),
    "gen/onnx/compose": (17, "a composition may have compositions"),
    "gen/onnx/flow": (8, "a node has bodies, which have nodes"),
    "gen/partition": (3, "a region's command gives a partition"),
    "gen/package": (9, "a region's functions are kernels with regions"),
    "gen/program/eval": (12, "values have methods, which evaluate"),
    "gen/cli": (47, "the table of verbs, and verbs that print it"),
}


def objects_of(build, room):
    folder = os.path.join(build, room.split("/")[0],
                          "lib%s.a.p" % room.replace("/", "_"))
    return [os.path.join(folder, n) for n in sorted(os.listdir(folder))
            if n.endswith(".o")]


def symbols(paths):
    """The names that each object file defines, and those that it uses."""
    home, used = collections.defaultdict(set), collections.defaultdict(set)
    nm = subprocess.run(["nm", "-A", "-g", "-P"] + paths, text=True,
                        capture_output=True, check=True)
    for line in nm.stdout.splitlines():
        path, row = line.split(": ", 1)
        name, kind = row.split()[:2]
        (used if kind == "U" else home)[path].add(name)
    return home, used


def calls(paths, defined, used):
    """For each object file of a room those whose symbols it uses."""
    home = {name: p for p in paths for name in defined[p]}
    return {p: {home[n] for n in used[p] if home.get(n, p) != p}
            for p in paths}


def circles(graph):
    """The sets of files that reach each other."""
    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for other in graph[todo.pop()] - seen:
                seen.add(other)
                todo.append(other)
        return seen

    reach = {p: reached(p) for p in graph}
    return {frozenset(q for q in reach[p] if p in reach[q])
            for p in graph if p in reach[p]}


def source(path):
    return re.sub(r"\.o$", "", os.path.basename(path))


def main():
    if shutil.which("nm") is None:
        sys.exit(77)
    build = sys.argv[1]
    failed = []
    rooms = {room: objects_of(build, room) for room in room_commands(build)}
    defined, used = symbols(sum(rooms.values(), []))
    for room, paths in sorted(rooms.items()):
        largest = max(circles(calls(paths, defined, used)), key=len,
                      default=())
        most = MAY[room][0] if room in MAY else 0
        if len(largest) > most:
            failed.append("%s: %d files call each other in a circle, not %d: "
                          "%s" % (room, len(largest), most, " ".join(
                              map(source, sorted(largest)))))
        elif len(largest) < most:
            failed.append("%s: the largest circle has %d files now: write "
                          "that in place of %d" % (room, len(largest), most))
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
