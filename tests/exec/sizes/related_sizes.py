#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes of inputs, of which a model says no more than names, and which must be equal
for the kernels: the entry function compares them, and runs with equal ones. The size
of an input that broadcasts may be 1 as well."""
import os

from helper import execute, fail, need, tirc, work_folder
from proto import *

MAIN = """
#include <stdio.h>
#include "g.h"

int
main(void)
{
	static union { double number; unsigned char bytes[65536]; } work;
	static const double x[512];
	static double y[512];
	const struct g_config config = { work.bytes, sizeof work };
	static const int sizes[][2] = { { 2, 3 }, { 3, 2 }, { 3, 3 }, { 3, 1 } };
	struct g m;

	if (g_init(&m, &config) != G_OK) {
		return 1;
	}
	for (int i = 0; i < 4; i++) {
		const struct g_inputs in = { %s.n = sizes[i][0], .m = sizes[i][1] };
		const struct g_outputs out = { (void *)y };
		enum g_status status = g_run(&m, &in, &out);

		printf("%%s ", status == G_OK ? "ok" : status == G_BAD_SIZE
				? "bad" : "other");
	}
	return 0;
}
"""
FOLDER = work_folder()
CC = need("gcc")
UINT8 = 2


def check(op, shapes, result, broadcasts=False, kinds=(), out_kind=FLOAT,
          at_most=False, **attrs):
    """shapes: of the inputs; None: there is none. kinds: of inputs that are not of
    floats, by number. at_most: m need not be n, but is not above it."""
    kinds = dict(kinds)
    names = ["" if s is None else "x%d" % i for i, s in enumerate(shapes)]
    path = os.path.join(FOLDER, "m.onnx")
    with open(path, "wb") as file:
        file.write(model(graph(
            [node(op, names, ["y"], **attrs)],
            [value_info("x%d" % i, s, kinds.get(i, FLOAT))
             for i, s in enumerate(shapes) if s is not None],
            [value_info("y", result, out_kind)]), version=24))
    out = work_folder()
    tirc("compile", path, "--name", "g", "--target", "c99", "--dim",
         "n=1..4", "--dim", "m=1..4", "-o", out)
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write(MAIN % ("x, " * sum(s is not None for s in shapes)))
    exe = os.path.join(out, "main")
    execute([CC, "-std=c99", "-O0", "-w", "-fsanitize=undefined",
             "-fno-sanitize-recover=all", "-I" + out,
             os.path.join(out, "g.c"), os.path.join(out, "main.c"), "-lm",
             "-o", exe])
    got = execute([exe]).stdout.split()
    want = ["bad", "ok" if at_most else "bad", "ok",
            "ok" if broadcasts or at_most else "bad"]
    if got != want:
        fail("%s %s: %s, not %s" % (op, shapes, got, want))


check("GridSample", [("n", 1, 4, 4), ("m", 2, 2, 2)], ("n", 1, 2, 2))
check("Det", [(2, "n", "m")], (2,))
check("RoiAlign", [(2, 1, 8, 8), ("n", 4), ("m",)], ("n", 1, 1, 1),
      kinds={2: INT64})
check("Gemm", [("n", 3), (3, 2), ("m", 2)], ("n", 2), broadcasts=True)
check("LayerNormalization", [(2, "n"), ("m",)], (2, "n"), broadcasts=True)
check("InstanceNormalization", [(2, "n", 3), ("m",), ("m",)], (2, "n", 3))
check("BatchNormalization", [(2, "n", 3)] + 4 * [("m",)], (2, "n", 3))
check("QuantizeLinear", [(2, "n"), ("m",)], (2, "n"), axis=1, out_kind=UINT8)
check("DequantizeLinear", [(2, "n"), ("m",)], (2, "n"), axis=1,
      kinds={0: UINT8})
check("GRU", [(2, "n", 3), (1, 6, 3), (1, 6, 2), None, None, (1, "m", 2)],
      (2, 1, "n", 2), hidden_size=2)
check("GatherElements", [("n", 4), ("m", 4)], ("m", 4), kinds={1: INT64},
      axis=1, at_most=True)
check("ScatterElements", [("n", 4), ("m", 4), ("m", 4)], ("n", 4),
      kinds={1: INT64}, axis=1, at_most=True)
check("TensorScatter", [("n", 4, 2), ("n", 2, 2), ("m",)], ("n", 4, 2),
      kinds={2: INT64}, axis=1)
check("TensorScatter", [(2, "n", 2), (2, "m", 2)], (2, "n", 2), axis=1,
      at_most=True)
