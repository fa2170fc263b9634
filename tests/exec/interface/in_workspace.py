#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models whose inputs and outputs are parts of the workspace (--in-workspace):
their results against onnxruntime, their interface as a caller sees it, and
refusals.

    in_workspace.py NAME

NAME is a function here."""
import json
import os
import re
import sys

import helper
import turns
from helper import compile_model, execute, fail, tirc, work_folder

try:
    import numpy as np
    import onnx
    from onnx import helper as make
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

ALL = ["c99", "gnu-c", "misra", "c-threads", "c-openmp"]
rng = np.random.default_rng(7)


def floats(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def offset(text, name):
    return int(re.search(r"_%s_OFFSET (\d+)u" % name, text)[1])


def header(path, *options):
    folder = compile_model(path, *options)
    name = os.path.basename(path)[:-len(".onnx")]
    with open(os.path.join(folder, name + ".h"), encoding="utf-8") as file:
        return folder, file.read()


def layers_model():
    """A large input that only the first layer reads."""
    m = Model("layers")
    x = m.input("x", floats(1, 4, 16, 16))
    y = m.node("Relu", [m.node("Conv", [x, m.constant(floats(8, 4, 3, 3))],
                               pads=[1] * 4, strides=[2, 2])])
    y = m.node("Relu", [m.node("Conv", [y, m.constant(floats(8, 8, 3, 3))],
                               pads=[1] * 4)])
    m.output(y)
    m.output(m.node("ReduceSum", [y, m.constant(np.array([2, 3]))],
                    keepdims=0))
    return m


def layers():
    """The memory of the input is used again; nothing else is needed."""
    m = layers_model()
    for what in "inputs", "outputs", "both":
        m.check(ALL, "--in-workspace", what)
    path = m.write()
    _, text = header(path, "--in-workspace", "both", "--target", "c99-scalar")
    size = int(re.search(r"WORKSPACE_BYTES (\d+)u", text)[1])
    if size != 4096 + 2048:
        fail("the workspace has %d bytes, not the input and the first layer"
             % size)
    if "const float *x;" in text:
        fail("the caller still gives a pointer to x:\n" + text)
    shown = json.loads(tirc("inspect", path, "--json", "--in-workspace",
                            "inputs").stdout)
    if shown["inputs"][0].get("workspace_offset") is None or \
            "workspace_offset" in shown["outputs"][0]:
        fail("inspect does not tell the places: %s" % shown)


def parts():
    """Outputs that are written in parts, in place of an input, or are an input;
    an input that no kernel reads stays with the caller."""
    m = Model("parts")
    x, y = m.input("x", floats(1, 8, 5)), m.input("y", floats(1, 8, 5))
    m.input("unread", floats(3))
    a, b = m.node("Tanh", [x]), m.node("Relu", [y])
    joined = m.output(m.node("Concat", [a, b], axis=1))
    m.output(m.node("Softmax", [joined]))
    m.output(m.node("Identity", [y]))
    m.output(m.node("Reshape", [m.node("Neg", [x]),
                                m.constant(np.array([40]))]))
    for what in "inputs", "outputs", "both":
        m.check(ALL, "--in-workspace", what)
    _, text = header(m.write(), "--in-workspace", "both")
    if "const float *unread;" not in text or "X_OFFSET" not in text:
        fail("the input that nothing reads has a place:\n" + text)

    m = Model("in_place")
    m.output(m.node("Tanh", [m.input("x", floats(100))], names=["y"]))
    m.check(ALL, "--in-workspace", "both")
    _, text = header(m.write(), "--in-workspace", "both")
    if offset(text, "X") != offset(text, "Y"):
        fail("the output is not in place of the input:\n" + text)


def control():
    """Loops, branches and states read inputs that are in the workspace."""
    node, f32 = make.make_node, onnx.TensorProto.FLOAT

    def graph(name, nodes, inputs, outputs):
        return make.make_graph(
            nodes, name, *([make.make_tensor_value_info(n, f32, [4])
                            for n in names] for names in (inputs, outputs)))
    m = Model("control")
    s, x, v = (m.input("s", floats(4)), m.input("x", floats(30, 4)),
               m.input("v", floats(4)))
    body = graph("step", [node("Mul", ["state", "v"], ["p"]),
                          node("Add", ["p", "row"], ["n"]),
                          node("Identity", ["n"], ["o"])],
                 ["state", "row"], ["n", "o"])
    last, rows = m.node("Scan", [s, x], names=["last", "rows"], body=body,
                        num_scan_inputs=1)
    go = m.node("Greater", [m.node("ReduceSum", [v], keepdims=0),
                            m.constant(np.float32(0))])
    m.output(last)
    m.output(rows)
    m.output(m.node("If", [go], names=["chosen"],
                    then_branch=graph("then", [node("Add", ["last", "s"],
                                                    ["t"])], [], ["t"]),
                    else_branch=graph("else", [node("Mul", ["last", "v"],
                                                    ["e"])], [], ["e"])))
    for what in "inputs", "outputs", "both":
        m.check(["c99", "misra"], "--in-workspace", what)
    # one run begins with zeros; its state is a part of the workspace, too
    m.inputs["s"] = np.zeros(4, np.float32)
    m.check(["c99", "misra"], "--in-workspace", "both", "--state", "last=s")


def sizes():
    """A symbolic size: the places are those of the largest size."""
    m = Model("sizes")
    x = m.input("x", floats(5, 6))
    m.output(m.node("Softmax", [m.node("MatMul", [x, m.constant(
        floats(6, 9))])]))
    path = m.write()
    model = onnx.load(path)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.save(model, path)
    for target in turns.first_and_some("layers", ALL):
        tirc("test", path, "--dim", "n=1..8", "--target", target,
             "--in-workspace", "both")


MAIN = r"""
#include "layers.h"
#include <string.h>
#include <stdio.h>

static union layers_workspace ram;

static double
sum_of(float step)
{
	float *const x = (void *)(ram.bytes + LAYERS_X_OFFSET);
	float *const y = (void *)(ram.bytes + LAYERS_Y_OFFSET);
	const struct layers_config config = { &ram, sizeof ram };
	const struct layers_inputs in = { 0 };
	const struct layers_outputs out = { 0 };
	struct layers m;
	double sum = 0.0;

	for (size_t i = 0; i < LAYERS_X_COUNT; ++i) {
		x[i] = step * (float)(i % 7);
	}
	if (layers_init(&m, &config) != LAYERS_OK ||
	    layers_run(&m, &in, &out) != LAYERS_OK) {
		return -1.0;
	}
	for (size_t i = 0; i < LAYERS_Y_COUNT; ++i) {
		sum += (double)(y[i] * (float)(i + 1));
	}
	memset(&ram, 0xff, sizeof ram); /* no run relies on an earlier one */
	return sum;
}

int
main(void)
{
	const double one = sum_of(0.5f), two = sum_of(0.25f);

	return one <= 0.0 || one == two || sum_of(0.5f) != one;
}
"""


def caller():
    """A program that writes and reads the workspace itself."""
    m = layers_model()
    m.nodes[-1].output[0] = "y"
    m.outputs = {name if name.startswith("relu") else "y": None
                 for name in m.outputs}
    folder, _ = header(m.write(), "--in-workspace", "both")
    with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
        file.write(MAIN)
    for cc in helper.compilers():
        program = os.path.join(folder, "main")
        execute([cc, "-std=c11", "-O1", *helper.STRICT, "-I", folder, "-o",
                 program, *(os.path.join(folder, name) for name in
                            ("main.c", "layers.c", "layers_weights.c")),
                 "-lm"])
        execute([program])


def refused():
    path = layers_model().write()
    for options, message in [
            (["neither"], "inputs, outputs or both"),
            (["both", "--form", "graph"], "a graph's caller has the tensors"),
            (["both", "--target", "cuda"], "a target that is not a device"),
            (["both", "--target", "opencl"], "a target that is not a device")]:
        done = tirc("compile", path, "-o", work_folder(), "--in-workspace",
                    *options, status=1)
        if message not in done.stderr:
            fail("%s: %s" % (options, done.stderr))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
