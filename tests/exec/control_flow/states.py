#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that keep states between runs (--state), step by step against
onnxruntime with its outputs fed back.

    states.py NAME

NAME is a function here; it makes models and checks each with several
targets."""
import os
import re
import sys

import helper
import turns
from helper import compile_model, execute, fail, tirc, work_folder

try:
    import numpy as np
    import onnx
    import exact
    from onnx import helper as make
    from answers_model import Model, arguments_of
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

ALL = ["c99", "gnu-c", "misra", "c-threads", "cuda"]
STEPS = 5
rng = np.random.default_rng(5)


def floats(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def options_of(states):
    return [word for after, before in states.items()
            for word in ("--state", "%s=%s" % (after, before))]


def write(m, states, steps):
    """The model, and a data set for each step: arrays by input. The states
    begin as zeros."""
    folder = work_folder()
    path = os.path.join(folder, m.name + ".onnx")
    onnx.save(m.proto(), path)
    model = exact.Model(path)
    kept = {before: np.zeros_like(m.inputs[before])
            for before in states.values()}
    sets = []
    for number, step in enumerate(steps):
        feed = {name: {**step, **kept}[name] for name in m.inputs}
        results = dict(zip(m.outputs, model.run(feed)))
        sets.append(write_data(folder, list(feed.items()),
                               list(results.items()), number))
        kept = {before: results[after] for after, before in states.items()}
    return path, sets


def steps_of(m, states, **given):
    """For each step, new values of the inputs that are no states."""
    def fresh(name, array):
        if name in given:
            return given[name]
        if array.dtype == np.float32:
            return floats(*array.shape)
        return array
    return [{name: fresh(name, array) for name, array in m.inputs.items()
             if name not in states.values()} for _ in range(STEPS)]


def check(m, states, targets=ALL, steps=None, in_place=(), copied=()):
    """in_place: states that a kernel updates; copied: those that are copied."""
    path, sets = write(m, states, steps or steps_of(m, states))
    options = options_of(states)
    for target in turns.first_and_some(m.name, targets):
        arguments = arguments_of(target, quick=True)
        if arguments is not None:
            tirc("test", path, *sets, *arguments, *options)
    # The first data set has another state than the second one leaves.
    tirc("test", path, sets[1], sets[0], *options, status=1)
    folder = compile_model(path, *options)
    with open(os.path.join(folder, m.name + ".c"), encoding="utf-8") as file:
        text = file.read()
    for before in in_place:
        if before + "_kept(" in text:
            fail("%s is copied:\n%s" % (before, text))
    for before in copied:
        if before + "_kept(" not in text:
            fail("%s is not copied:\n%s" % (before, text))
    return path


def cell_model():
    m = Model("cell")
    x, past = m.input("x", floats(1, 4)), m.input("past", floats(1, 8))
    count = m.input("count", ints(0))
    h = m.node("Tanh", [m.node("Add", [
        m.node("MatMul", [x, m.constant(floats(4, 8))]),
        m.node("MatMul", [past, m.constant(floats(8, 8) / 2)])])],
        names=["present"])
    m.output(m.node("ReduceSum", [h], keepdims=0))
    m.output(h)
    m.output(m.node("Add", [count, m.constant(ints(1))], names=["count_next"]))
    return m, {"present": "past", "count_next": "count"}


def cell():
    """A recurrent cell, whose products read all of the state: a copy; and a
    counter: in place."""
    m, states = cell_model()
    check(m, states, copied=["past"], in_place=["count"])


def caches():
    """Caches of a fixed length: rows are stored in place; a window moves."""
    m = Model("cache")
    past, rows = m.input("past", floats(16, 8)), m.input("new", floats(1, 8))
    at = m.input("at", ints(0))
    index = m.node("Reshape", [at, m.constant(ints(1, 1))])
    present = m.node("ScatterND", [past, index, rows], names=["present"])
    x = m.input("x", floats(3, 8))
    m.output(m.node("Softmax", [m.node("MatMul", [x, m.node(
        "Transpose", [present], perm=[1, 0])])]))
    m.output(present)
    values = m.input("values", floats(2, 4, 5))
    m.output(m.node("ScatterElements", [
        values, m.node("Expand", [m.node("Reshape", [at, m.constant(
            ints(1, 1, 1))]), m.constant(ints(2, 1, 5))]),
        m.input("value", floats(2, 1, 5))], axis=1, names=["values_next"]))
    states = {"present": "past", "values_next": "values"}
    steps = steps_of(m, states)
    for i, step in enumerate(steps):
        step["at"] = ints(i % 4)
    check(m, states, steps=steps, in_place=["past", "values"])

    m = Model("window")
    past, new = m.input("past", floats(2, 7, 3)), m.input("new",
                                                          floats(2, 1, 3))
    late = m.node("Slice", [past, m.constant(ints(1)), m.constant(ints(7)),
                            m.constant(ints(1))])
    present = m.node("Concat", [late, new], axis=1, names=["present"])
    m.output(m.node("ReduceMean", [present], axes=[1]) if m.opset < 18 else
             m.node("ReduceMean", [present, m.constant(ints(1))]))
    m.output(present)
    check(m, {"present": "past"}, copied=["past"])


def recurrent():
    """An LSTM with both of its states; one that is also read by others, one
    that becomes another."""
    m = Model("lstm")
    x = m.input("x", floats(3, 2, 4))
    h, c = m.input("h", floats(1, 2, 6)), m.input("c", floats(1, 2, 6))
    y, h_next, c_next = m.node(
        "LSTM", [x, m.constant(floats(1, 24, 4)), m.constant(floats(1, 24, 6)),
                 "", "", h, c], names=["y", "h_next", "c_next"], hidden_size=6)
    for name in (y, h_next, c_next):
        m.output(name)
    m.output(m.node("Sub", [h_next, h]))
    check(m, {"h_next": "h", "c_next": "c"})

    m = Model("delays")  # three steps later
    x, a, b = (m.input(n, floats(5)) for n in ("x", "a", "b"))
    m.output(m.node("Identity", [x], names=["a_next"]))
    m.output(m.node("Identity", [a], names=["b_next"]))
    m.output(m.node("Add", [x, m.node("Mul", [b, b])]))
    check(m, {"a_next": "a", "b_next": "b"})

    m = Model("swapped")
    a, b = m.input("a", floats(5)), m.input("b", floats(5))
    x = m.input("x", floats(5))
    m.output(m.node("Add", [b, x], names=["a_next"]))
    m.output(m.node("Neg", [a], names=["b_next"]))
    check(m, {"a_next": "a", "b_next": "b"})


def graph(name, nodes, inputs, outputs, constants=()):
    return make.make_graph(
        nodes, name, [make.make_tensor_value_info(n, t, s)
                      for n, t, s in inputs],
        [make.make_tensor_value_info(n, t, s) for n, t, s in outputs],
        [onnx.numpy_helper.from_array(v, n) for n, v in constants])


def control():
    """States that branches and loops read and make."""
    node, f32 = make.make_node, onnx.TensorProto.FLOAT
    m = Model("branch")
    past, x = m.input("past", floats(6)), m.input("x", floats(6))
    go = m.node("Greater", [m.node("ReduceSum", [x], keepdims=0),
                            m.constant(np.float32(0))])
    present = m.node(
        "If", [go], names=["present"],
        then_branch=graph("then", [node("Add", [past, x], ["t"])], [],
                          [("t", f32, [6])]),
        else_branch=graph("else", [node("Mul", [past, x], ["e"])], [],
                          [("e", f32, [6])]))
    m.output(present)
    m.output(m.node("Add", [present, past]))
    check(m, {"present": "past"})

    m = Model("loop")
    past, x = m.input("past", floats(4)), m.input("x", floats(30, 4))
    body = graph("step", [node("Mul", ["s", "d"], ["p"]),
                          node("Add", ["p", "v"], ["n"]),
                          node("Identity", ["n"], ["o"])],
                 [("s", f32, [4]), ("v", f32, [4])],
                 [("n", f32, [4]), ("o", f32, [4])],
                 [("d", np.full(4, .5, np.float32))])
    present, y = m.node("Scan", [past, x], names=["present", "y"], body=body,
                        num_scan_inputs=1)
    m.output(y)
    m.output(present)
    check(m, {"present": "past"})


MAIN = r"""
#include "cell.h"
#include <pthread.h>
#include <stdio.h>

struct thread {
	union cell_workspace workspace;
	float x[4], sums[2][5];
	int failed;
};

static void *
run(void *argument)
{
	struct thread *t = argument;
	struct cell_config config = { &t->workspace, sizeof t->workspace };
	struct cell m;

	t->failed = cell_init(&m, &config) != CELL_OK;
	for (int round = 0; round < 2; ++round) {
		for (int i = 0; i < 5; ++i) {
			const struct cell_inputs in = { t->x };
			const struct cell_outputs out = { &t->sums[round][i] };

			t->failed |= cell_run(&m, &in, &out) != CELL_OK;
		}
		t->failed |= cell_reset(&m) != CELL_OK;
	}
	cell_fini(&m);
	t->failed |= cell_reset(&m) != CELL_NOT_READY;
	t->failed |= cell_reset(NULL) != CELL_NULL;
	return NULL;
}

int
main(void)
{
	static struct thread threads[3];
	pthread_t ids[2];

	for (int i = 0; i < 3; ++i) {
		threads[i].x[0] = i == 1 ? 1.0f : -0.5f;
	}
	for (int i = 0; i < 2; ++i) {
		pthread_create(&ids[i], NULL, run, &threads[i]);
	}
	for (int i = 0; i < 2; ++i) {
		pthread_join(ids[i], NULL);
	}
	run(&threads[2]); /* as the first one, alone */
	for (int i = 0; i < 3; ++i) {
		if (threads[i].failed) {
			return 1;
		}
		for (int k = 0; k < 5; ++k) {
			if (threads[i].sums[0][k] != threads[i].sums[1][k]) {
				return 2; /* reset kept something */
			}
		}
	}
	for (int k = 0; k < 5; ++k) {
		if (threads[0].sums[0][k] != threads[2].sums[0][k]) {
			return 3;
		}
	}
	return threads[0].sums[0][1] == threads[1].sums[0][1] ||
	       threads[0].sums[0][1] == threads[0].sums[0][0];
}
"""


def contexts():
    """Two contexts in two threads do not see each other; a reset makes a
    context as new."""
    m, states = cell_model()
    path, _ = write(m, states, steps_of(m, states))
    folder = compile_model(path, *options_of(states))
    with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
        file.write(MAIN)
    for cc in helper.compilers():
        program = os.path.join(folder, "main")
        execute([cc, "-std=c11", "-O1", "-pthread", *helper.STRICT, "-I",
                 folder, "-o", program,
                 *(os.path.join(folder, name) for name in
                   ("main.c", "cell.c", "cell_weights.c")), "-lm"])
        execute([program])


def refused():
    m, _ = cell_model()
    path = os.path.join(work_folder(), "cell.onnx")
    onnx.save(m.proto(), path)
    for options, message in [
            (["--state", "present"], "OUTPUT=INPUT"),
            (["--state", "present=x"], "a state keeps its type and shape"),
            (["--state", "count_next=past"], "a state keeps its type"),
            (["--state", "nothing=past"], "no output of this name"),
            (["--state", "present=nothing"], "no input of this name"),
            (["--state", "present=past", "--state", "present=count"],
             "belongs to another state"),
            (["--state", "present=past", "--form", "graph"],
             "a graph's caller"),
            (["--state", "present=past", "--target", "opencl"],
             "not supported where a device has a buffer")]:
        done = tirc("compile", path, *options, "-o", work_folder(), status=1)
        if not re.search(re.escape(message), done.stderr):
            fail("%s: %s" % (options, done.stderr))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
