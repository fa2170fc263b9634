#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Branches of an If whose sizes contradict each other: a run may take the other
branch, and one that takes such a branch ends with BAD_SIZE. So it is with sizes that
are given at run time. A contradiction in both branches, or around the If, is an error
when the code is generated."""
import os

from helper import execute, fail, has_dialect, need, tirc, work_folder
from proto import *

MAIN = """
#include <stdio.h>
#include <string.h>
#include "g.h"

static %(workspace)s g_workspace work;

int
main(void)
{
	static const float x[16] = { 1 };
	static float y[64];
	static const long long runs[][3] = { %(runs)s };
	const struct g_config config = { (void *)&work, sizeof work };
	struct g m;

	if (g_init(&m, &config) != G_OK) {
		return 1;
	}
	for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
		const int64_t sr = runs[i][1], q = runs[i][2];
		struct g_inputs in;
		struct g_outputs out;
		enum g_status status;

		memset(&in, 0, sizeof in);
		memset(&out, 0, sizeof out);
		in.x = x;
		in.sr = &sr;
		%(more)s
		out.y = y;
		(void)q;
		status = g_run(&m, &in, &out);
		printf("%%s ", status == G_OK ? "ok" : status == G_BAD_SIZE
				? "bad" : "other");
	}
	return 0;
}
"""
FOLDER = work_folder()
CC = need("gcc")
ONES = {n: tensor("w%d" % n, [n, 1], floats(*[1] * n)) for n in (2, 4)}
TARGETS = [t for t in ("c99", "misra") if has_dialect(t)]


def choice(condition, then, other, out):
    return node("If", [condition], [out], attributes=[
        nested_graph("then_branch", then), nested_graph("else_branch", other)])


def product(rows, out="r"):
    """A body that multiplies x by a matrix of so many rows."""
    return graph([node("MatMul", ["x", "w%d" % rows], [out])], [],
                 [value_info(out, None)], [ONES[rows]])


def looped(rows):
    """The same, in the body of a Loop."""
    body = graph(
        [node("MatMul", ["x", "w%d" % rows], ["p"]),
         node("Add", ["s", "p"], ["t"]), node("Identity", ["c"], ["c2"])],
        [value_info("i", [], INT64), value_info("c", [], 9),
         value_info("s", [1, 1])],
        [value_info("c2", [], 9), value_info("t", [1, 1])], [ONES[rows]])
    return graph([node("Loop", ["q", "", "zero"], ["r"],
                       attributes=[nested_graph("body", body)])], [],
                 [value_info("r", None)], [tensor("zero", [1, 1], floats(0))])


def write(then, other, size="n", two=False):
    """y = x @ …, by whether sr is 1."""
    path = os.path.join(FOLDER, "m.onnx")
    inputs = [value_info("x", [1, size]), value_info("sr", [], INT64)]
    with open(path, "wb") as file:
        file.write(model(graph(
            [node("Equal", ["sr", "one"], ["is_one"])]
            + [node("Equal", ["q", "one"], ["q_is_one"])] * two
            + [choice("is_one", then, other, "y")],
            inputs + [value_info("q", [], INT64)] * two,
            [value_info("y", None)],
            [tensor("one", [], ints(1), INT64)])))
    return path


def check(path, runs, *options, more=""):
    """runs: of n, sr and q, and whether each is ok."""
    for target in TARGETS:
        out = work_folder()
        tirc("compile", path, "--name", "g", "--target", target, *options,
             "-o", out)
        with open(os.path.join(out, "g.h"), encoding="utf-8") as file:
            header = file.read()
        with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
            file.write(MAIN % {
                "runs": ", ".join("{ %d, %d, %d }" % run[:3] for run in runs),
                "workspace": "struct" if target == "misra" else "union",
                "more": more})
        exe = os.path.join(out, "main")
        sources = [os.path.join(out, f) for f in sorted(os.listdir(out))
                   if f.endswith(".c")]
        execute([CC, "-std=c99", "-O0", "-w", "-fsanitize=undefined",
                 "-fno-sanitize-recover=all", "-I" + out, *sources, "-lm",
                 "-o", exe])
        got = execute([exe]).stdout.split()
        want = ["ok" if run[3] else "bad" for run in runs]
        if got != want:
            fail("%s %s: %s, not %s" % (target, options, got, want))
    return header


def refused(path, *words, options=("--dim", "n=4")):
    seen = tirc("compile", path, "-o", work_folder(), *options, status=1)
    for word in words:
        if word not in seen.stderr:
            fail("%r is not in\n%s" % (word, seen.stderr))


def told(path, *words):
    seen = tirc("compile", path, "-o", work_folder(), "--dim", "n=4")
    for word in words:
        if word not in seen.stdout:
            fail("%r is not in\n%s" % (word, seen.stdout))


q = "in.q = &q;"
n = "in.n = (int32_t)runs[i][0];"

# One branch, the other, with a loop around the contradiction.
path = write(product(4), product(2))
header = check(path, [(4, 1, 0, True), (4, 2, 0, False)], "--dim", "n=4")
if "BAD_SIZE  of runs that take the else_branch of node 1 If 'y'" not in header:
    fail("the header does not say which branch is refused:\n" + header)
told(path, "else_branch of node 1 If 'y' cannot run", "BAD_SIZE",
     "--const-input sr=VALUE", "MatMul 'y_2/r'")
check(path, [(2, 1, 0, False), (2, 2, 0, True)], "--dim", "n=2")
check(write(looped(4), looped(2), two=True),
      [(4, 1, 3, True), (4, 2, 3, False)], "--dim", "n=4", more=q)

# Within a branch: what is refused there matters only where the branch is taken.
inner = graph([choice("q_is_one", product(4, "a"), product(2, "b"), "r")], [],
              [value_info("r", None)])
check(write(product(4), inner, two=True),
      [(4, 1, 1, True), (4, 1, 2, True), (4, 2, 1, True), (4, 2, 2, False)],
      "--dim", "n=4", more=q)
# Both branches of the inner one: so the outer one has one branch.
inner = graph([choice("q_is_one", product(2, "a"), product(2, "b"), "r")], [],
              [value_info("r", None)])
check(write(product(4), inner, two=True),
      [(4, 1, 1, True), (4, 1, 2, True), (4, 2, 1, False), (4, 2, 2, False)],
      "--dim", "n=4", more=q)

# Sizes that are given at run time.
check(write(product(4), product(2)),
      [(4, 1, 0, True), (4, 2, 0, False), (2, 1, 0, False), (2, 2, 0, True),
       (3, 1, 0, False), (3, 2, 0, False)], "--dim", "n=1..8", more=n)
check(write(product(4), inner, two=True),
      [(4, 1, 1, True), (4, 2, 1, False), (2, 1, 1, False), (2, 2, 1, True),
       (2, 2, 2, True)], "--dim", "n=1..8", more=n + q)

# Contradictions that every run meets, and what is no contradiction.
refused(write(product(2), product(2)), "MatMul", "branch of node 1 If 'y'",
        "--const-input sr=VALUE")
refused(write(product(4), graph(
    [node("Mystery", ["x"], ["r"])], [], [value_info("r", None)])),
    "Mystery", "else_branch of node 1 If 'y'", "--const-input sr=VALUE")
with open(path, "wb") as file:
    file.write(model(graph(
        [node("Equal", ["sr", "one"], ["is_one"]),
         node("MatMul", ["x", "w2"], ["z"]),
         choice("is_one", product(4), graph(
             [node("Neg", ["z"], ["r"])], [], [value_info("r", None)]), "y")],
        [value_info("x", [1, "n"]), value_info("sr", [], INT64)],
        [value_info("y", None)],
        [tensor("one", [], ints(1), INT64), ONES[2]])))
refused(path, "node 1 MatMul 'z'")
