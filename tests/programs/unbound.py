#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that bind no loop to threads are refused for targets with threads,
by whatever asks for their source: the message names the function and says what
to bind, and no file is written. Programs beside the repository give a kernel
for each function, or that message."""
import functools
import glob
import os

from helper import *

FOLDER = os.environ.get("TIRC_PROGRAMS", os.path.join(
    ROOT, "..", "shared", "programs"))
PLAIN = os.path.join(ROOT, "tests", "programs", "schedules", "plain.py")
WANTED = ("no loop is bound to threads", "thread_axis(\"blockIdx.x\")",
          "sch.bind(loop, \"blockIdx.x\")")
GET_SOURCE = """
import tvm
from tvm import te

A = te.placeholder((64,), name="A")
B = te.compute((64,), lambda i: A[i] + 1.0, name="B")
s = te.create_schedule(B.op)
print(tvm.build(s, [A, B], target="%s", name="add").get_source())
"""
# Lowered, and then kept under a name: one function all the same.
KEPT = """
import tvm
from tvm import te

A = te.placeholder((64, 100), name="A")
k = te.reduce_axis((0, 100), name="k")
B = te.compute((64,), lambda i: te.sum(A[i, k], axis=k), name="B")
s = te.create_schedule(B.op)
s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
rows = tvm.lower(s, [A, B], name="rows")
"""

folder = work_folder()
written = functools.partial(text_file, folder)


kept = written("kept.py", KEPT)
one_step = written("one_step.py", "b = sch.get_block(\"Y\")\n")


def refused(done, name):
    missing = [text for text in WANTED + (name,) if text not in done.stderr]
    if missing or done.stdout != "":
        fail("%s is not said of what binds nothing:\n%s%s"
             % (missing, done.stdout, done.stderr))


targets = [name for name in ("cuda", "cuda-sm80", "opencl", "opencl-cpu")
           if has_dialect(name)]
for target in targets:
    out = os.path.join(folder, "out_" + target)
    for more in ([], ["-o", out], ["--schedule", one_step]):
        refused(tirc("codegen", PLAIN, "--target", target, *more, status=1),
                "halved")
    if os.path.exists(out):
        fail("files were written: %s" % os.listdir(out))
    refused(tirc("lower", written("built.py", GET_SOURCE % target), status=1),
            target)
    source = tirc("codegen", kept, "--target", target).stdout
    if source.count("rows_kernel(") != 1 or "rows_2" in source:
        fail("one function was lowered, and these came:\n" + source)
    if target == "opencl-cpu":
        continue  # has one thread in a group; programs bind more
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.py"))):
        done = tirc("codegen", path, "--target", target, status=None)
        kernel = "__global__" in done.stdout or "__kernel" in done.stdout
        if done.returncode != 0:
            refused(done, "bind")
        elif not kernel:
            fail("%s for %s has no kernel" % (path, target))
