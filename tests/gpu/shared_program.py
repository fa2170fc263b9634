#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shared_program.py HOW GPU_CASES [OPENCL_RUN]: the kernel that the vector
addition of ../shared is scheduled as, written by `tirc codegen` and launched as
its JSON says, at sizes that are and are not multiples of the tile; and that of
add_one, as run_case.py runs programs."""
import json
import os
import struct
import sys

import run_case
from helper import fail, lacks_target, shared, skip, tirc

how, gpu_cases, *opencl_run = sys.argv[1:]
top = shared()
program = top and os.path.join(top, "programs", "vector_add_schedules.py")
if not program or not os.path.exists(program):
    skip("no reference program vector_add_schedules.py")
if lacks_target(program):
    skip("it builds for a target whose dialect is not there")
folder = run_case.folder
size = 0


def emit(dialect):
    # One folder for all sizes: what is left of the one before goes.
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            os.remove(path)
    tirc("codegen", program, "--target", dialect, "-o", folder)
    source = [n for n in os.listdir(folder) if n.endswith((".cu", ".cl"))][0]
    with open(os.path.join(folder, "vector_add_schedules_launches.json"),
              encoding="utf-8") as file:
        launches = json.load(file)["launches"]
    if len(launches) != 1:
        fail("%d launches" % len(launches))
    a = [float(i % 11 - 5) for i in range(size)]
    b = [float(i % 7) for i in range(size)]
    arrays = [(a, a), (b, b), ([-1.0] * size,
                               [x + y for x, y in zip(a, b)])]
    plan = ["source " + source, "function " + launches[0]["function"]]
    for i, values in enumerate(arrays):
        for suffix, data in zip((".in", ".want"), values):
            with open(os.path.join(folder, "%d%s" % (i, suffix)),
                      "wb") as file:
                file.write(struct.pack("%df" % size, *data))
        plan.append("buffer float32 %d" % (4 * size))
    plan.append("scalar %d" % size)
    extents = [e if isinstance(e, int) else eval(e.replace("/", "//"),
                                                 {"n": size})
               for e in launches[0]["grid"] + launches[0]["block"]]
    names = [argument["name"] for argument in launches[0]["arguments"]]
    if names != ["A", "B", "C", "n"]:
        fail("arguments: %s" % names)
    plan.append("launch %s %s 0 1 2 3" % (
        launches[0]["kernel"], " ".join(str(e) for e in extents)))
    with open(os.path.join(folder, "plan"), "w", encoding="utf-8") as file:
        file.write("\n".join(plan) + "\n")
    return [line.split() for line in plan]


run_case.rest = [gpu_cases, os.path.join(top, "programs", "add_one.py"),
                 *opencl_run]
run_case.WAYS[how]()
run_case.emit = emit
run_case.rest = ["", "", *opencl_run]
# The text is the same for all sizes: a compiler alone needs to see it once.
for size in (1, 31, 32, 33, 1000, 1024)[:1 if how == "nvcc" else None]:
    run_case.WAYS[how]()
