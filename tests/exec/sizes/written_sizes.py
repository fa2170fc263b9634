#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes that are read and compared before memory is written whose extent depends on
them: outputs that are views of a computed tensor, of which the size is an input or
follows from data, and sizes in parts of one tensor. The arrays are not larger than the
header says, so that a kernel that runs before a check is found.

    written_sizes.py views|late|branches|order"""
import os
import re
import sys

from helper import execute, fail, need, tirc, work_folder
from proto import *

BOOL = 9
CC = need("gcc")
FOLDER = work_folder()
MAIN = """
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "g.h"

static void *
copy(const void *from, size_t bytes)
{
	return memcpy(malloc(bytes), from, bytes);
}

int
main(void)
{
	static union { double number; unsigned char bytes[65536]; } work;
	const struct g_config config = { work.bytes, sizeof work };
	struct g m;

	if (g_init(&m, &config) != G_OK) {
		return 1;
	}
%s	return 0;
}
"""
RUN = """	{
		int32_t sizes[16];
%s		enum g_status status = g_run(&m, &in, &out);

		if (status != G_OK) {
			puts(status == G_BAD_SIZE ? "bad" : "other");
		} else {
			for (int i = 0; i < %d; i++) {
				printf("%%g ", (double)out.y[i]);
			}
			puts("");
		}
%s	}
"""
TYPES = {FLOAT: "float", INT64: "int64_t", BOOL: "bool"}


def run_text(header, given, values, count):
    """One run: inputs of exactly their elements, outputs of the header's."""
    before, after = "", ""
    for name, (kind, _) in given.items():
        numbers = ", ".join(str(v) for v in values[name])
        before += "\t\tconst %s given_%s[] = { %s };\n" % (
            TYPES[kind], name, numbers)
        after += "\t\tfree((void *)in.%s);\n" % name
    fields = ", ".join(".%s = copy(given_%s, sizeof given_%s)" % (n, n, n)
                       if n in given else ".%s = %d" % (n, values[n])
                       for n in values)
    body = re.search(r"struct g_outputs \{(.*?)\n\};", header, re.S)[1]
    outs = []
    for i, name in enumerate(re.findall(r"\*(\w+);", body)):
        if "G_%s_BYTES" % name.upper() in header:
            outs.append(".%s = malloc(G_%s_BYTES)" % (name, name.upper()))
            after += "\t\tfree(out.%s);\n" % name
        else:
            outs.append(".%s = &sizes[%d]" % (name, i))
    before += "\t\tstruct g_inputs in = { %s };\n" % fields
    before += "\t\tstruct g_outputs out = { %s };\n" % ", ".join(outs)
    return RUN % (before, count, after)


def check(what, nodes, given, rows, constants=(), options=(), outputs="y"):
    """Each row: the inputs' values by name, and the elements of y, or None where the
    run is refused."""
    path = os.path.join(FOLDER, "m.onnx")
    with open(path, "wb") as file:
        file.write(model(graph(
            nodes, [value_info(n, shape, kind)
                    for n, (kind, shape) in given.items()],
            [value_info(n, None) for n in outputs], list(constants))))
    for target in ("c99", "misra"):
        out = work_folder()
        tirc("compile", path, "--name", "g", "--target", target, "-o", out,
             *options)
        with open(os.path.join(out, "g.h"), encoding="utf-8") as file:
            header = file.read()
        text = "".join(run_text(header, given, values, len(y or []))
                       for values, y in rows)
        with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
            file.write(MAIN % text)
        exe = os.path.join(out, "main")
        execute([CC, "-std=gnu11", "-O1", "-w", "-fsanitize=address,undefined",
                 "-fno-sanitize-recover=all", "-I" + out,
                 *[os.path.join(out, f) for f in os.listdir(out)
                   if f[-2:] == ".c"], "-lm", "-o", exe])
        got = [line.split() for line in execute([exe]).stdout.splitlines()]
        want = [["bad"] if y is None else ["%g" % v for v in y]
                for _, y in rows]
        if got != want:
            fail("%s for %s: %s, not %s" % (what, target, got, want))


def numbers(name, *values):
    return tensor(name, [len(values)], ints(*values), INT64)


CONSTANTS = {name: numbers(name, *values) for name, values in {
    "zero": [0], "one": [1], "three": [3], "rest": [-1], "axis": [0]}.items()}
# t: the first k elements of x, negated; size: j, brought into 1 to 3
X, SIZE = (FLOAT, [64]), (INT64, [1])
RAMP = list(range(1, 65))
T = [node("Slice", ["x", "zero", "k"], ["s"]), node("Neg", ["s"], ["t"])]


def limited(name, out):
    return [node("Min", [name, "three"], [out + "_most"]),
            node("Max", [out + "_most", "one"], [out])]


def row(k, j, y, **more):
    return {"x": RAMP, "k": [k], "j": [j], **more}, y


HOSTILE = [row(k, j, None) for k, j in
           [(64, 3), (4, 9), (2, 3), (0, 3), (64, 2**62), (64, -1), (4, 1),
            (2, -9), (0, 1)]]
SAME = [row(3, 3, [-1, -2, -3]), row(3, 9, [-1, -2, -3]), row(2, 2, [-1, -2]),
        row(1, -5, [-1])]


def constants(*names):
    return [CONSTANTS[n] for n in names]


def views():
    """Views of each kind; t is also read, or is another output."""
    given = {"x": X, "k": SIZE, "j": SIZE}
    rows = SAME + HOSTILE
    size = T + limited("j", "size")
    used = constants("zero", "one", "three")
    check("Reshape", size + [node("Reshape", ["t", "size"], ["y"])], given, rows,
          used)
    check("Unsqueeze", size + [node("Reshape", ["t", "size"], ["r"]),
                               node("Unsqueeze", ["r", "axis"], ["y"])], given,
          rows, used + constants("axis"))
    check("Squeeze", size + [
        node("Concat", ["rest", "size"], ["to"], axis=0),
        node("Reshape", ["t", "to"], ["r"]),
        node("Squeeze", ["r", "axis"], ["y"])], given,
        SAME + [row(64, 3, None), row(4, 3, None)],
        used + constants("axis", "rest"))
    check("Flatten", size + [
        node("Concat", ["size", "one"], ["to"], axis=0),
        node("Reshape", ["t", "to"], ["r"]),
        node("Flatten", ["r"], ["y"])], given, rows, used)
    check("Transpose", size + [
        node("Concat", ["size", "one"], ["to"], axis=0),
        node("Reshape", ["t", "to"], ["r"]),
        node("Transpose", ["r"], ["y"], perm=[1, 0])], given, rows, used)
    check("two outputs", size + [
        node("Reshape", ["t", "size"], ["y"]),
        node("Softmax", ["t"], ["z"])], given, rows, used, outputs="yz")
    check("a sequence", size + [
        node("Reshape", ["t", "size"], ["r"]),
        node("SequenceConstruct", ["r", "r"], ["q"]),
        node("SequenceAt", ["q", "first"], ["y"])], given, rows,
        used + [tensor("first", [], ints(0), INT64)])
    check("a size of the caller", [
        node("Neg", ["x"], ["t"]), *limited("j", "size"),
        node("Reshape", ["t", "size"], ["y"])],
        {"x": (FLOAT, ["n"]), "j": SIZE},
        [({"x": RAMP[:n], "j": [j], "n": n}, y) for n, j, y in
         [(3, 3, [-1, -2, -3]), (1, -4, [-1]), (64, 3, None), (4, 2**62, None),
          (2, 1, None)]], constants("one", "three"), ["--dim", "n=1..64"])


def late():
    """Sizes that follow from what is written, so that the output is a copy, and views
    of views whose sizes are known in another order."""
    given = {"x": X, "k": SIZE}
    used = constants("zero", "one", "three")
    ramp = [5, 3, 1] + [0] * 61

    def case(k, y):
        return {"x": ramp, "k": [k]}, y

    from_data = [node("ReduceMin", ["t"], ["low"], keepdims=0),
                 node("Neg", ["low"], ["high"]),
                 node("Cast", ["high"], ["whole"], to=INT64),
                 node("Reshape", ["whole", "one"], ["j"])]
    check("a size of the tensor", T + from_data + limited("j", "size") + [
        node("Reshape", ["t", "size"], ["y"])], given,
        [case(3, [-5, -3, -1])] + [case(k, None) for k in (64, 4, 2)], used)
    check("two sizes in a circle", T + from_data + limited("j", "size") + [
        node("Slice", ["x", "zero", "size"], ["s2"]),
        node("Abs", ["s2"], ["t2"]),
        node("ReduceMax", ["t2"], ["most"], keepdims=0),
        node("Cast", ["most"], ["most2"], to=INT64),
        node("Reshape", ["most2", "one"], ["j2"]), *limited("j2", "size2"),
        node("Reshape", ["t", "size2"], ["y"]),
        node("Reshape", ["t2", "size"], ["z"])], given,
        [case(3, [-5, -3, -1])] + [case(k, None) for k in (64, 4, 2)], used,
        outputs="yz")
    nonzero = [node("NonZero", ["w"], ["at"]),
               node("Shape", ["at"], ["found"], attributes=[
                   attribute("start", 1), attribute("end", 2)])]
    rows = [row(k, j, y, w=[1.0] * 30 if k > 3 else [1.0] * k + [0.0] * (30 - k))
            for k, j, y in [(3, 3, [-1, -2, -3]), (2, 2, [-1, -2]), (64, 3, None),
                            (30, 3, None), (4, 3, None), (3, 2, None)]]
    check("a view of a view", T + limited("j", "size") + nonzero + [
        node("Reshape", ["t", "found"], ["r"]), node("Softmax", ["r"], ["z"]),
        node("Reshape", ["r", "size"], ["y"])],
        {"x": X, "k": SIZE, "j": SIZE, "w": (FLOAT, [30])}, rows, used,
        outputs="yz")
    check("the indices of the largest", [
        node("TopK", ["x", "k"], ["v", "at"]),
        node("ReduceMin", ["at"], ["first"], keepdims=0),
        node("Reshape", ["first", "one"], ["j"]), *limited("j", "size"),
        node("Reshape", ["v", "size"], ["y"])], given,
        [({"x": RAMP, "k": [k]}, y) for k, y in
         [(8, None), (4, None), (3, [64, 63, 62])]] +
        [({"x": [9] * 64, "k": [k]}, y) for k, y in [(1, [9]), (2, None)]], constants("one", "three"),
        ["--bound", "k=8"])


def nested(name, nodes, out, kind=FLOAT):
    return nested_graph(name, graph(nodes, [], [value_info(out, None, kind)]))


def branches():
    """Results of branches and of loops, viewed as outputs."""
    given = {"x": X, "k": SIZE, "j": SIZE, "c": (BOOL, [1])}
    used = constants("zero", "one", "three")
    rows = [(dict(values, c=["true"]), y) for values, y in SAME + HOSTILE]
    check("equal branches", T[:1] + limited("j", "size") + [
        node("If", ["c"], ["r"], attributes=[
            nested("then_branch", [node("Neg", ["s"], ["a"])], "a"),
            nested("else_branch", [node("Exp", ["s"], ["b"])], "b")]),
        node("Reshape", ["r", "size"], ["y"])], given, rows, used)
    check("branches of two sizes", T[:1] + limited("j", "size") + [
        node("If", ["c"], ["r"], attributes=[
            nested("then_branch", [node("Neg", ["s"], ["a"])], "a"),
            nested("else_branch",
                   [node("Slice", ["x", "zero", "j"], ["b"])], "b")]),
        node("Reshape", ["r", "size"], ["y"])], given, rows, used)
    body = graph([node("Identity", ["go"], ["on"]), node("Cast", ["i"], ["f"],
                                                         to=FLOAT),
                  node("Add", ["four", "f"], ["slice"])],
                 [value_info("i", [], INT64), value_info("go", [], BOOL)],
                 [value_info("on", [], BOOL), value_info("slice", None)])
    check("slices of a loop", [
        node("Neg", ["v"], ["four"]), node("Squeeze", ["k"], ["trips"]),
        node("Loop", ["trips", ""], ["all"], attributes=[
            nested_graph("body", body)]),
        *limited("j", "size"),
        node("Concat", ["size", "one"], ["to"], axis=0),
        node("Reshape", ["all", "to"], ["y"])],
        {"v": (FLOAT, [1]), "k": SIZE, "j": SIZE},
        [({"v": [1], "k": [k], "j": [j]}, y) for k, j, y in
         [(3, 3, [-1, 0, 1]), (2, 2, [-1, 0]), (8, 3, None), (8, -1, None),
          (4, 2**62, None), (2**62, 3, None), (0, 1, None)]],
        constants("one", "three"), ["--bound", "all=8"])
    # The count is read by a branch alone; the view relies on it, too.
    check("a size that a branch reads", [
        node("NonZero", ["w"], ["at"]),
        node("Shape", ["at"], ["found"], attributes=[
            attribute("start", 1), attribute("end", 2)]),
        node("Mul", ["found", "three"], ["f3"]), node("Div", ["f3", "three"],
                                                      ["size"]),
        node("Softmax", ["x"], ["p"]), node("Reshape", ["p", "size"], ["q"]),
        node("If", ["c"], ["z"], attributes=[
            nested("then_branch", [node("Cast", ["found"], ["a"], to=FLOAT)],
                   "a"),
            nested("else_branch", [node("Exp", ["v"], ["b"])], "b")]),
        node("Round", ["q"], ["y"])],
        {"x": (FLOAT, [2]), "w": (FLOAT, [3]), "v": (FLOAT, [1]),
         "c": (BOOL, [1])},
        [({"x": [0, 100], "w": w, "v": [1], "c": ["true"]}, y)
         for w, y in [([1, 0, 2], [0, 1]), ([1, 1, 1], None),
                      ([0, 1, 0], None)]], constants("three"), outputs="yz")


def order():
    """Sizes in the parts of a concatenation that is stored without a copy."""
    check("Split by sizes", [
        node("Min", ["k", "three"], ["most"]), node("Max", ["most", "zero"], ["a"]),
        node("Sub", ["ten", "a"], ["b"]),
        node("Concat", ["a", "b"], ["sizes"], axis=0),
        node("Split", ["x", "sizes"], ["p", "q"], axis=0),
        node("Neg", ["p"], ["np"]), node("Abs", ["q"], ["aq"]),
        node("Concat", ["np", "aq"], ["y"], axis=0)],
        {"x": (FLOAT, [10]), "k": SIZE},
        [({"x": range(1, 11), "k": [k]},
          [-v if v <= max(0, min(k, 3)) else v for v in range(1, 11)])
         for k in (0, 2, 3, -9, 2**62)],
        constants("zero", "three") + [numbers("ten", 10)])


def main():
    tests = [views, late, branches, order]
    wanted = {f.__name__: f for f in tests}
    for name in sys.argv[1:] or wanted:
        wanted[name]()


main()
