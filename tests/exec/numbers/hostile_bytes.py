#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of fewer than 8 bits have a byte for each element, and a caller may set all
of its bits: the low ones count, whatever reads them. Each of the 256 bytes goes
through operators that index, that look up in a table, and that copy, under
sanitizers."""
import json
import math
import os

from helper import execute, fail, has_dialect, need, tirc, work_folder
from proto import *

INT8, UINT4, INT4, UINT2, INT2 = 3, 21, 22, 25, 26
TYPES = {"uint4": (UINT4, 4, False), "int4": (INT4, 4, True),
         "uint2": (UINT2, 2, False), "int2": (INT2, 2, True)}
CC = need("gcc")
SANITIZE = ["-O1", "-w", "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all"]
BYTES = 256

MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include "g.h"

int
main(void)
{
	static struct g m;
#ifdef G_WORKSPACE_BYTES
	static union { double number; unsigned char bytes[65536]; } work;
	const struct g_config config = { work.bytes, sizeof work };
#else
	const struct g_config config = { 0 };
#endif
	struct g_outputs out = { 0 };
	uint8_t *x = malloc(256);
	%s

	for (int i = 0; i < 256; i++) {
		x[i] = (uint8_t)i;
	}
	struct g_inputs in = { (const void *)x };
	if (g_init(&m, &config) != G_OK || g_run(&m, &in, &out) != G_OK) {
		return 1;
	}
	%s
	return 0;
}
"""


def low(byte, bits, signed):
    v = byte & ((1 << bits) - 1)
    return v - (1 << bits) if signed and v >> (bits - 1) else v


def run(path, outputs, target):
    """The outputs, (name, C type, elements), as lists of numbers."""
    out = work_folder()
    tirc("compile", path, "--name", "g", "--target", target, "-o", out)
    make = "\n\t".join("%s *%s = calloc(%d, sizeof *%s);\n\tout.%s = %s;" %
                       (c, name, n, name, name, name)
                       for name, c, n in outputs)
    show = "\n\t".join(
        "for (int i = 0; i < %d; i++) printf(\"%%d \", (int)%s[i]);\n\t"
        "puts(\"\"); free(%s);" % (n, name, name) for name, c, n in outputs)
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write(MAIN % (make, show + "\n\tfree(x);"))
    exe = os.path.join(out, "main")
    execute([CC, "-std=gnu11" if target == "gnu-c" else "-std=c99", *SANITIZE,
             "-I" + out, *(os.path.join(out, f) for f in os.listdir(out)
                           if f.endswith(".c")), "-o", exe, "-lm"])
    return [[int(v) for v in line.split()]
            for line in execute([exe]).stdout.splitlines()]


def compare(what, got, want):
    for name, values in want.items():
        if got[name] != values:
            fail("%s, %s: %s, not %s" % (what, name, got[name], values))


def through_operators(kind, target):
    """Gather, Scatter, a copy, and a sum that 8 bits just hold."""
    number, bits, signed = TYPES[kind]
    n = 1 << bits
    table = list(range(100, 100 + n))
    nodes = [node("Cast", ["x"], ["at"], "wide", to=INT64),
             node("Gather", ["table", "at"], ["taken"]),
             node("ScatterElements", ["zeros", "at", "ones"], ["marked"]),
             node("Identity", ["x"], ["kept"]),
             node("Add", ["at", "at"], ["twice"])]
    path = os.path.join(work_folder(), "m.onnx")
    with open(path, "wb") as file:
        file.write(model(graph(
            nodes, [value_info("x", [BYTES], number)],
            [value_info("taken", [BYTES], INT64),
             value_info("marked", [n], INT64),
             value_info("kept", [BYTES], number),
             value_info("twice", [BYTES], INT64)],
            [tensor("table", [n], ints(*table), INT64),
             tensor("zeros", [n], ints(*[0] * n), INT64),
             tensor("ones", [BYTES], ints(*[1] * BYTES), INT64)]),
            version=25))
    values = [low(b, bits, signed) for b in range(BYTES)]
    outputs = [("taken", "int64_t", BYTES), ("marked", "int64_t", n),
               ("kept", "int8_t", BYTES), ("twice", "int64_t", BYTES)]
    if not signed:
        outputs[2] = ("kept", "uint8_t", BYTES)
    got = dict(zip(["taken", "marked", "kept", "twice"],
                   run(path, outputs, target)))
    compare(kind + ", " + target, got,
            {"taken": [table[v] for v in values], "marked": [1] * n,
             "kept": values, "twice": [2 * v for v in values]})


def through_table(kind):
    """tirc's own operator, in a partition."""
    _, bits, signed = TYPES[kind]
    n = 1 << bits
    table = list(range(-n // 2, n // 2))
    path = os.path.join(work_folder(), "p.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "tirc_partition": 1, "name": "g", "settings": {}, "dims": [],
            "inputs": ["x"], "outputs": ["y"], "tensors": {
                "x": {"type": kind, "shape": [BYTES]},
                "table": {"type": "int8", "shape": [n], "values": table},
                "y": {"type": "int8", "shape": [BYTES]}},
            "nodes": [{"op": "Table", "domain": "tirc",
                       "inputs": ["x", "table"], "outputs": ["y"],
                       "attrs": {}}],
            "backends": [], "matches": [], "regions": [], "origins": []}, file)
    first = n // 2 if signed else 0
    compare("tirc.Table of " + kind,
            {"y": run(path, [("y", "int8_t", BYTES)], "c99")[0]},
            {"y": [table[low(b, bits, signed) + first]
                   for b in range(BYTES)]})


def through_functions(kind, target):
    """A chain of functions, which becomes a table."""
    number, bits, signed = TYPES[kind]
    path = os.path.join(work_folder(), "f.onnx")
    with open(path, "wb") as file:
        file.write(model(graph(
            [node("Cast", ["x"], ["f"], to=FLOAT), node("Tanh", ["f"], ["t"]),
             node("QuantizeLinear", ["t", "step", "zero"], ["y"])],
            [value_info("x", [BYTES], number)],
            [value_info("y", [BYTES], INT8)],
            [tensor("step", [], floats(0.01), FLOAT),
             tensor("zero", [], b"\3", INT8)]), version=25))
    want = [round(math.tanh(low(b, bits, signed)) / 0.01) + 3
            for b in range(BYTES)]
    compare("Tanh of %s, %s" % (kind, target),
            {"y": run(path, [("y", "int8_t", BYTES)], target)[0]}, {"y": want})


for kind in TYPES:
    for target in ("c99", "gnu-c", "misra"):
        if has_dialect(target):
            through_operators(kind, target)
            through_functions(kind, target)
    through_table(kind)
