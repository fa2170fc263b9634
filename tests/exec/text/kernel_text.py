#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel of a model as text and back: what `tirc lower --from-onnx` prints,
given back with --schedule-for, gives the same source; what a person changes
gives the same results."""
import os
import re

from helper import DIGITS, compile_model, fail, need, tirc, work_folder

need("cc")


def lower(*options, **more):
    return tirc("lower", "--from-onnx", DIGITS, *options, **more).stdout


def given(name, text, end):
    path = os.path.join(work_folder(), name + end)
    with open(path, "w") as f:
        f.write(text)
    return "%s=%s" % (name, path)


def source(*options):
    """The source, but for what the comments say about schedules."""
    with open(os.path.join(compile_model(DIGITS, *options), "digits.c")) as f:
        return re.sub(r" \*   schedule  .*\n( \*    {9}.*\n)*", "", f.read())


def right(*options):
    tirc("test", DIGITS, "--quiet", "--target", "c99", *options)


kernels = [line.split()[0] for line in lower().splitlines()]
if len(kernels) != 5:
    fail("kernels: %s" % kernels)
ours = source()
for end, options in ((".py", ["--show-trace"]),
                     (".json", ["--show-trace", "--json"])):
    by_hand = []
    for name in kernels:
        text = lower("--kernel", name, *options)
        by_hand += ["--schedule-for", given(name, text, end)]
    if source(*by_hand) != ours:
        fail("%s: another source comes back" % end)
# A scheduled program, also one whose constants the rules have packed.
by_hand = []
for name in kernels:
    text = lower("--kernel", name, "--phase", 0)
    by_hand += ["--schedule-for", given(name, text, ".tvm.py")]
    if lower("--kernel", name, "--phase", 0, *by_hand[-2:]) != text:
        fail("%s: another program of phase 0 comes back" % name)
if source(*by_hand) != ours:
    fail("programs of phase 0: another source comes back")
for name in kernels:
    by_hand = given(name, lower("--kernel", name, "--unscheduled"), ".txt")
    right("--schedule-for", by_hand)
    if "written by hand" not in open(os.path.join(compile_model(
            DIGITS, "--schedule-for", by_hand), "digits.c")).read():
        fail("the comment does not say that %s is by hand" % name)
right("--schedule-for", given("conv2", """
b = sch.get_block("conv")
n, oc, oh, ow, ic, kh, kw = sch.get_loops(b)
o, i = sch.split(oc, factors=[None, 8])
sch.reorder(o, oh, ow, ic, kh, kw, i)
sch.vectorize(i)
""", ".py"))

# Mistakes.
mistakes = [
    ("no kernel of that name; did you mean conv",
     given("conv3", "sch.get_block('conv')\n", ".py")),
    ("conv2.py:1:", given("conv2", "b = sch.get_blok('conv')\n", ".py")),
    ("did you mean get_block",
     given("conv2", "b = sch.get_blok('conv')\n", ".py")),
    ("other kernels access it in its present layout", given("conv2", """
b = sch.get_block("conv")
sch.transform_layout(b, ("read", 0), lambda n, c, h, w, b: (n, h, w, c, b))
""", ".py")),
    ("keep the signature", given("conv2", lower(
        "--kernel", "conv2", "--unscheduled").replace("(24,)", "(25,)"),
        ".py")),
    ("parameter 2 is of a different type or shape", given("conv2", lower(
        "--kernel", "conv2", "--phase", 0).replace("16, 2, 16)", "16, 2, 15)"),
        ".py")),
    ("--unscheduled or, for this target, with --phase 0", given("conv2", lower(
        "--kernel", "conv1", "--phase", 0).replace("conv1", "conv2"),
        ".py")),
    ("No such file", "conv2=/nowhere/conv2.py"),
    ("KERNEL=FILE", "conv2"),
]
for text, option in mistakes:
    out = work_folder()
    done = tirc("compile", DIGITS, "-o", out, "--schedule-for", option,
                status=1)
    if text not in done.stderr:
        fail("%s: expected %r in\n%s" % (option, text, done.stderr))
    if os.listdir(out):
        fail("%s: files were written" % option)
