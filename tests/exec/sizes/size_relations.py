#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Symbolic sizes with relations, against onnxruntime: formulas that exporters
write as names of sizes, --dim with formulas and multiples, what the emitted code
refuses.

    size_relations.py NAME

NAME is a function here; it makes models and checks each with several
targets."""
import os
import sys

import helper
import turns
from helper import compile_model, execute, fail, tirc, work_folder

try:
    import numpy as np
    import onnx
    import exact
    from onnx import helper as make
    from onnx import numpy_helper
    from answers_model import arguments_of
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

ALL = ["c99", "gnu-c", "misra", "c-threads", "cuda"]
rng = np.random.default_rng(3)


def floats(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def save(name, nodes, inputs, outputs, constants=()):
    """inputs: shapes by name, of numbers and texts."""
    graph = make.make_graph(
        nodes, name,
        [make.make_tensor_value_info(n, 1, s) for n, s in inputs.items()],
        [make.make_tensor_value_info(n, 1, None) for n in outputs],
        [numpy_helper.from_array(v, n) for n, v in constants])
    path = os.path.join(work_folder(), name + ".onnx")
    onnx.save(make.make_model(graph, ir_version=9, opset_imports=[
        make.make_opsetid("", 21)]), path)
    return path


def write(path, sizes):
    """A data set for each of the sizes: values of the names in shapes."""
    model = exact.Model(path)
    sets, folder = [], work_folder()
    for number, values in enumerate(sizes):
        feed = {i.name: floats(*(
            values[d.dim_param] if d.dim_param else d.dim_value
            for d in i.type.tensor_type.shape.dim))
            for i in onnx.load(path).graph.input}
        sets.append(write_data(folder, list(feed.items()),
                               model.run(feed), number))
    return sets


def check(path, sizes, *options, targets=ALL):
    sets = write(path, sizes)
    case = os.path.basename(path) + str(sizes)
    for target in turns.first_and_some(case, targets):
        arguments = arguments_of(target, quick=True)
        if arguments is not None:
            tirc("test", path, *sets, *arguments, *options)


def cache(total, seq="seq", past="past_len"):
    """Attention over keys that were kept and new ones, with a mask."""
    node = make.make_node
    return save("cache", [
        node("Concat", ["past", "x"], ["k"], axis=1),
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["x", "kt"], ["s"]),
        node("Add", ["s", "mask"], ["masked"]),
        node("Softmax", ["masked"], ["p"], axis=-1),
        node("MatMul", ["p", "k"], ["y"])],
        {"past": [2, past, 4], "x": [2, seq, 4], "mask": [1, 1, total]},
        ["y", "k"])


def formulas():
    """Names that exporters write."""
    some = [(1, 1), (7, 3), (16, 4), (3, 2)]
    for total in ("past_len + seq", "seq+past_len", "(past_len + seq)",
                  "2*past_len - (past_len - seq)", "1 + past_len + seq - 1",
                  "floor((2*past_len + 2*seq)/2)",
                  "Max(past_len + seq, 1)", "(2*(past_len + seq) + 1)//2"):
        path = cache(total)
        check(path, [{"past_len": p, "seq": s, total: p + s}
                     for p, s in some],
              "--dim", "past_len=1..16", "--dim", "seq=1..4",
              targets=ALL if total[0] == "p" else ["c99"])
    total = "past_len + seq"
    check(cache(total), [{"past_len": p, "seq": s, total: p + s}
                         for p, s in [(0, 1), (5, 3), (0, 4), (16, 1)]],
          "--dim", "past_len=0..16", "--dim", "seq=1..4")
    # A number for the sum gives the other term.
    check(cache("past_len + 1", 1), [{"past_len": 8, "past_len + 1": 9}],
          "--input-shape", "mask:1,1,9", targets=["c99"])
    # Sizes that no input has by themselves.
    node, half = make.make_node, "floor(s0/2 - 1/2) + 1"
    path = save("product", [
        node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"]),
        node("MaxPool", ["z"], ["p"], kernel_shape=[2], strides=[2]),
        node("Add", ["p", "half"], ["h"])],
        {"x": ["s0*s1", 4], "z": [1, 3, "s0"],
         "half": [1, 3, half]},
        ["y", "h"], [("w", floats(4, 4))])
    check(path, [{"s0*s1": a * b, "s0": a, half: a // 2}
                 for a, b in [(2, 1), (6, 3), (8, 4)]],
          "--dim", "s0=2..8:2", "--dim", "s1=1..4", targets=["c99", "gnu-c"])


def options():
    """--dim with formulas and multiples."""
    node = make.make_node
    path = save("two", [
        node("MatMul", ["x", "w"], ["a"]), node("Relu", ["a"], ["y"]),
        node("ReduceSum", ["z", "axis"], ["r"], keepdims=0),
        node("Softmax", ["z"], ["zz"], axis=0),
        node("Concat", ["x", "z"], ["c"], axis=0)],
        {"x": ["n", 16], "z": ["m", 16]}, ["y", "r", "zz", "c"],
        [("w", floats(16, 20)), ("axis", np.array([0], np.int64))])
    for relation, of_n in [("2*n", lambda n: 2 * n),
                           ("n+1", lambda n: n + 1),
                           ("floor(n/2)", lambda n: n // 2),
                           ("max(n - 3, 1)", lambda n: max(n - 3, 1))]:
        check(path, [{"n": n, "m": of_n(n)} for n in (2, 5, 9)],
              "--dim", "n=2..9", "--dim", "m=" + relation,
              targets=["c99", "gnu-c"])
        check(path, [{"n": n, "m": of_n(n)} for n in (8, 16, 24)],
              "--dim", "m=" + relation, "--dim", "n=8..24:8",
              targets=ALL if relation == "n+1" else ["c99", "gnu-c"])
    for given in (["m=2*n", "m=8"], ["m=8", "m=2*n"]):
        check(path, [{"n": 4, "m": 8}],
              *(w for option in given for w in ("--dim", option)),
              targets=["c99"])
    folder = compile_model(path, "--dim", "m=n", "--dim", "n=8..512:8",
                           "--target", "x86-64-v3")
    with open(os.path.join(folder, "two.c"), encoding="utf-8") as file:
        text = file.read()
    if "n_8" not in text or " % 8 == 0" not in text:
        fail("n is no multiple in:\n" + text)


def floats_of_sizes():
    """Sizes that a model computes with floats: Range of a Cast, with steps that are
    fractions or negative, of quotients, products, floors and ceilings."""
    node = make.make_node
    numbers = {"zero": 0, "half": 0.5, "one": 1, "two": 2, "three": 3,
               "seven": 7, "third": 1 / 3, "seventh": 1 / 7, "quarter": 0.25,
               "minus": -1, "eight": 8}
    limits = {
        "size": [], "halves": [("Mul", "half")], "quarters": [("Div", "eight"),
                                                             ("Add", "half")],
        "thirds_up": [("Div", "three"), ("Ceil",)],
        "thirds_down": [("Mul", "third"), ("Floor",)],
        "sevenths": [("Add", "one"), ("Mul", "seventh"), ("Floor",)],
        "sevenths_up": [("Div", "seven"), ("Ceil",), ("Sub", "half")],
        "even": [("Div", "two"), ("Floor",), ("Mul", "two")],
        "least": [("Min", "seven"), ("Max", "half")],
    }
    steps = [("zero", None, "one"), ("half", None, "one"),
             ("zero", None, "half"), ("one", None, "three"),
             (None, "zero", "minus"), (None, "half", "minus")]
    for which, (name, chain) in enumerate(limits.items()):
        nodes = [node("Shape", ["x"], ["s"]),
                 node("Squeeze", ["s"], ["n"]),
                 node("Cast", ["n"], ["v"], to=1)]
        last = "v"
        for at, (op, *args) in enumerate(chain):
            nodes.append(node(op, [last, *args], ["v%d" % at]))
            last = "v%d" % at
        outputs = []
        for at, (start, limit, delta) in enumerate(steps):
            nodes.append(node("Range", [start or last, limit or last, delta],
                              ["r%d" % at]))
            nodes.append(node("Add", ["r%d" % at, "half"], ["y%d" % at]))
            outputs.append("y%d" % at)
        nodes.append(node("Cast", [last], ["whole"], to=7))
        nodes.append(node("Range", ["i0", "whole", "i2"], ["z"]))
        path = save(name, nodes, {"x": ["n_0"]}, outputs,
                    [(k, np.array(v, np.float32)) for k, v in numbers.items()]
                    + [("i0", np.array(0, np.int64)),
                       ("i2", np.array(2, np.int64))])
        graph = onnx.load(path)
        graph.graph.output.append(make.make_tensor_value_info("z", 7, None))
        onnx.save(graph, path)
        check(path, [{"n_0": n} for n in (1, 2, 3, 7, 8, 13, 14, 20, 21, 49)],
              "--dim", "n_0=1..49",
              targets=ALL if which == 0 else ["c99", "gnu-c"])


MAIN = r"""
#include "two.h"
#include <stdio.h>
#include <string.h>

static float x[24 * 16], z[24 * 16], y[24 * 20], r[16], zz[24 * 16], c[48 * 16];
static long long workspace[1 << 12];

int
main(void)
{
	static const struct { int n, m, status; } cases[] = {
		{ 8, 9, TWO_OK }, { 16, 9, TWO_OK }, { 9, 9, TWO_BAD_SIZE },
		{ 0, 9, TWO_BAD_SIZE }, { 32, 9, TWO_BAD_SIZE },
		{ 24, 9, TWO_BAD_SIZE }, { 8, 1, TWO_BAD_SIZE },
	};
	struct two_config config = { workspace, sizeof workspace };
	struct two m;
	int wrong = two_init(&m, &config) != TWO_OK;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
		struct two_inputs in;
		struct two_outputs out;

		memset(&in, 0, sizeof in);
		memset(&out, 0, sizeof out);
		in.x = x;
		in.z = z;
		in.n = cases[i].n;
		in.m = cases[i].m;
		out.y = y;
		out.r = r;
		out.zz = zz;
		out.c = c;
		if ((int)two_run(&m, &in, &out) != cases[i].status) {
			printf("case %d\n", (int)i);
			wrong = 1;
		}
	}
	return wrong;
}
"""


def statuses():
    """The emitted code checks bounds, multiples and the bounds of a formula: the
    size n + m is 24 at most."""
    node = make.make_node
    path = save("two", [
        node("MatMul", ["x", "w"], ["y"]),
        node("ReduceSum", ["z", "axis"], ["r"], keepdims=0),
        node("Neg", ["z"], ["zz"]),
        node("Concat", ["x", "z"], ["xz"], axis=0),
        node("Add", ["xz", "sum"], ["c"])],
        {"x": ["n", 16], "z": ["m", 16], "sum": ["n + m", 1]},
        ["y", "r", "zz", "c"],
        [("w", floats(16, 20)), ("axis", np.array([0], np.int64))])
    options = ["--dim", "n=8..24:8", "--dim", "m=2..9", "--dim",
               "n + m=10..25"]
    check(path, [{"n": 8, "m": 5, "n + m": 13}, {"n": 16, "m": 9,
                                                 "n + m": 25}],
          *options, targets=["c99"])
    run_main(path, MAIN, options)
    # A multiple of 5.
    run_main(path, MAIN.replace("{ 8, 9, TWO_OK }", "{ 8, 9, TWO_BAD_SIZE }"),
             [*options[:-1], "n + m=10..25:5"])


def run_main(path, main, options):
    text = main.replace("in.x = x;", "in.x = x;\n\t\tin.sum = z;")
    for target in ("c99", "gnu-c"):
        folder = compile_model(path, *options, "--target", target)
        with open(os.path.join(folder, "main.c"), "w",
                  encoding="utf-8") as file:
            file.write(text)
        program = os.path.join(folder, "main")
        execute(["gcc", "-std=gnu11", "-O0", "-fopenmp-simd", "-march=native",
                 "-I", folder, "-o", program,
                 *(os.path.join(folder, name)
                   for name in ("main.c", "two.c", "two_weights.c")), "-lm"])
        execute([program])


def refused():
    path = cache("past_len + seq")
    for options, message in [
            ([], "does not define these sizes: 'past_len', 'seq'"),
            (["past_len=7", "seq=1", "past_len + seq=9"],
             "the sizes contradict each other"),
            (["past_len=1..4", "seq=1..2", "past_len + seq=9"],
             "the sizes contradict each other"),
            (["past_len=2*seq", "seq=past_len"], "depends on itself"),
            (["past_len=2*other", "seq=1"],
             "does not define these sizes: 'other'"),
            (["past_len=2*", "seq=1"], "NAME=FORMULA"),
            (["past_len=n n", "seq=1"], "NAME=FORMULA"),
            (["nothing=2*seq", "seq=1"], "no size named 'nothing'"),
            (["past_len=2*seq", "past_len=3", "seq=1"],
             "the sizes contradict each other"),
            (["past_len=3", "past_len=2*seq", "seq=1"],
             "the sizes contradict each other"),
            (["past_len=2*seq", "past_len=3*seq", "seq=1"], "given twice"),
            (["past_len=2*seq + 1", "past_len=2..16:2", "seq=1..4"],
             "'2*seq + 1' never is one"),
            (["past_len=9..16:8", "seq=1"], "not multiples of 8"),
            (["past_len=1..2147483647", "seq=1..4"], "smaller bounds"),
            (["past_len=8..16:0", "seq=1"], "NAME=MIN..MAX:MULTIPLE")]:
        words = [w for option in options for w in ("--dim", option)]
        done = tirc("compile", path, *words, "-o", work_folder(), status=1)
        if message not in done.stderr:
            fail("%s: %s" % (options, done.stderr))
    # a batch that is taken as 1 is named beside what is missing
    encoder = save("encoder", [make.make_node("Relu", ["x"], ["y"])],
                   {"x": ["batch", "frames", 3]}, ["y"])
    done = tirc("compile", encoder, "-o", work_folder(), status=1)
    if ("('batch' is taken as 1; for others: --dim batch=1..8)"
            not in done.stderr):
        fail(done.stderr)
    for name, size, message in [
            ("past_len - seq - 9", "1..4", "which is negative"),
            ("seq*65536*65536", "1..4",
             "does not define these sizes: 'seq*65536"),
            ("seq + ", "1..4", "does not define these sizes: 'seq + '"),
            ("seq//past_len", "1..4", "cannot be computed"),
            ("seq*past_len", "100000", "cannot be computed"),
            ("seq*65536 + past_len*65536", "16384", "cannot be computed")]:
        done = tirc("compile", cache(name), "--dim", "past_len=" + size,
                    "--dim", "seq=" + size, "-o", work_folder(), status=1)
        if message not in done.stderr:
            fail("%s: %s" % (name, done.stderr))
    done = tirc("compile", path, "--dim", "past_len=8..16:8", "--dim", "seq=1",
                "--form", "graph", "-o", work_folder(), status=1)
    if "leave the multiple out" not in done.stderr:
        fail(done.stderr)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
