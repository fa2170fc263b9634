#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes of tirc's own operators in partitions that another program wrote: tables
of which a kernel follows the positions are constants and inside of what it reads,
attributes fit the sizes, and positions that are known only at run time are brought
into the arrays."""
import copy
import json
import os

from helper import execute, fail, need, tirc, work_folder

FOLDER = work_folder()


def t(kind, *shape, **more):
    return dict({"type": kind, "shape": list(shape)}, **more)


def table(kind, values, *shape):
    """A constant; with one number and a shape, all elements are this number."""
    return t(kind, *(shape or [len(values)]), **(
        {"splat": values[0]} if shape and len(values) == 1
        else {"values": values}))


def is_constant(tensor):
    return "values" in tensor or "splat" in tensor


def partition(op, tensors, outputs, **attrs):
    """One node. tensors: of its inputs, in order; those without values are inputs of
    the model. outputs: their types and shapes."""
    return {"tirc_partition": 1, "name": "g", "settings": {}, "dims": [],
            "inputs": [k for k, v in tensors.items() if not is_constant(v)],
            "outputs": list(outputs), "tensors": dict(tensors, **outputs),
            "nodes": [{"op": op, "domain": "tirc", "inputs": list(tensors),
                       "outputs": list(outputs), "attrs": attrs}],
            "backends": [], "matches": [], "regions": [], "origins": []}


def compiled(p, status=0):
    path = os.path.join(FOLDER, "p.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(p, file)
    out = work_folder()
    return tirc("compile", path, "--target", "c99", "-o", out,
                status=status), out


def check(good, *bad):
    """The partition is taken; with the tensors or attributes of one of bad, it is
    refused with the message."""
    compiled(good)
    for message, changes in bad:
        p = copy.deepcopy(good)
        node = p["nodes"][0]
        for name, value in changes.items():
            if name not in p["tensors"]:
                node["attrs"][name] = value
                continue
            p["tensors"][name] = value
            if name in p["inputs"]:
                p["inputs"].remove(name)
            if not is_constant(value) and name in node["inputs"]:
                p["inputs"].append(name)
        said = compiled(p, status=1)[0].stderr
        if message not in said:
            fail("%s %s: no %r in:\n%s" % (node["op"], changes, message, said))


# -- trees: nodes 0 to 2, of which 0 leads to 1 and 2 --
WALK = {"x": t("float32", 2, 1), "feature": table("int32", [0, 0, 0]),
        "value": table("float32", [0.5, 1, 2]),
        "next": table("int32", [1, 2, 1, 1, 2, 2], 3, 2),
        "root": table("int32", [0]), "depth": table("int32", [1]),
        "row": table("int32", [0, 1, 2])}
Y = {"y": t("float32", 2, 3)}
check(partition("TreeEnsemble", WALK, Y, targets=3,
                aggregate_function="SUM"),
      ("positions", {"row": t("int32", 3)}),
      ("positions", {"feature": t("int32", 3)}),
      ("positions", {"next": t("int32", 3, 2)}),
      ("positions", {"root": t("int32", 1)}),
      ("positions", {"depth": t("int32", 1)}),
      ("positions", {"row": table("int32", [0, 3, 2])}),
      ("positions", {"row": table("int32", [0, -1, 2])}),
      ("positions", {"feature": table("int32", [1, 0, 0])}),
      ("positions", {"next": table("int32", [1, 3, 1, 1, 2, 2], 3, 2)}),
      ("positions", {"next": table("int32", [9], 3, 2)}),
      ("positions", {"root": table("int32", [3])}),
      ("positions", {"depth": table("int32", [3])}),
      ("elements in dimension 0", {"value": table("float32", [1, 2])}),
      ("elements in dimension 0", {"row": table("int32", [0, 1])}),
      ("a number of steps for each tree", {"root": table("int32", [0, 0])}),
      ("same type", {"value": table("float64", [0.5, 1, 2])}),
      ("aggregate_function", {"aggregate_function": ""}),
      ("aggregate_function", {"aggregate_function": "MEAN"}),
      ("targets", {"targets": 0}), ("targets", {"targets": 2**40}),
      ("positions", {"targets": 2}))
# Without numbers of steps: a leaf has the feature -1.
SEARCH = {k: v for k, v in WALK.items() if k not in ("depth", "row")}
SEARCH.update(feature=table("int32", [0, -1, -1]),
              next=table("int32", [1, 0, 0]))
check(partition("TreeEnsemble", SEARCH,
                {"y": t("float32", 2, 1)}, targets=1,
                aggregate_function="MAX"),
      ("later nodes", {"next": table("int32", [0, 0, 0])}),
      ("later nodes", {"next": table("int32", [2, 0, 0])}),
      ("later nodes", {"feature": table("int32", [0, 0, 0])}),
      ("later nodes", {"feature": table("int32", [0], 3),
                       "next": table("int32", [0], 3)}),
      ("positions", {"feature": table("int32", [-2, -1, -1])}),
      ("positions", {"next": table("int32", [4, 0, 0])}))

# -- n-grams: the items 5 and 7 follow the root --
check(partition("NGrams", {"x": t("int64", 2, 4),
                           "item": table("int64", [5, 7]),
                           "first": table("int32", [0, 2, 2, 2]),
                           "column": table("int32", [-1, 0, 2])}, Y,
                columns=3),
      ("positions", {"first": t("int32", 4)}),
      ("positions", {"column": t("int32", 3)}),
      ("positions", {"column": table("int32", [-1, 0, 3])}),
      ("positions", {"column": table("int32", [-2, 0, 1])}),
      ("positions", {"first": table("int32", [0, 3, 2, 2])}),
      ("positions", {"first": table("int32", [-1, 2, 2, 2])}),
      ("elements in dimension 0", {"first": table("int32", [0, 2, 2])}),
      ("elements in dimension 0", {"column": table("int32", [-1, 0])}),
      ("items must have the type", {"item": table("int32", [5, 7])}),
      ("columns", {"columns": 0}), ("columns", {"skips": -1}))
check(partition("FindString", {"x": t("uint8", 3, 4),
                               "keys": t("uint8", 2, 5)},
                {"y": t("int32", 3)}),
      ("must be strings", {"keys": t("uint16", 2, 5)}),
      ("must be strings", {"x": t("uint8", 3, 0)}),
      ("must be strings", {"keys": t("uint8", 2, 0)}))

# -- products with fixed-point numbers: exponents from -31 to 31 --
WORDS = t("int32", 8)
BYTES_8 = {"y": t("int8", 8)}
check(partition("Requantize", {"x": WORDS, "factor": table("int32", [2**30], 8),
                               "exponent": table("int32", [-31], 8)},
                BYTES_8, rounding="fixed", axis=0),
      ("exponents from -31 to 31", {"exponent": table("int32", [-32], 8)}),
      ("exponents from -31 to 31", {"exponent": table("int32", [32], 8)}),
      ("exponents from -31 to 31", {"exponent": table("int32", [-2**31], 8)}),
      ("exponents from -31 to 31", {"exponent": t("int32", 8)}))
for op in ("Add", "Mul"):
    check(partition(op, {"a": t("int8", 8), "b": t("int8", 8)}, BYTES_8, to=3,
                    a_multiplier=2**30, b_multiplier=2**30,
                    y_multiplier=2**30, a_exponent=-31, b_exponent=0,
                    y_exponent=31),
          *((message, {name: v}) for name in
            (("a_exponent", "b_exponent", "y_exponent")
             if op == "Add" else ("y_exponent",))
            for v in (-32, 32, -2**31)
            for message in ["'%s' must be from -31 to 31" % name]))

# -- strings --
BYTES = t("uint8", 2, 6)
PIECES = {"from": t("int32", 2, 3), "to": t("int32", 2, 3),
          "count": t("int64", 2)}
check(partition("StringPieces", {"x": BYTES}, PIECES, pieces=3),
      ("up to 3 pieces", {"pieces": 2}), ("up to 3 pieces", {"pieces": -1}),
      ("up to 3 pieces", {"pieces": 2**40}),
      ("up to 7 pieces", {"delimiter": ","}),
      ("up to 4 pieces", {"delimiter": ",,"}),
      ("up to 4 pieces", {"delimiter": ",", "maxsplit": 3}),
      ("is not defined", {"x": t("int8", 2, 6)}),
      ("must be strings", {"x": t("uint16", 2, 6)}))
check(partition("StringPieces", {"x": BYTES}, PIECES, delimiter=",",
                maxsplit=2, pieces=3))
check(partition("Automaton", {"x": BYTES,
                              "table": table("uint16", [1] * 512, 2, 256)},
                {"y": t("int32", 2)}),
      ("positions", {"table": t("uint16", 2, 256)}),
      ("positions", {"table": table("uint16", [1] * 511 + [2], 2, 256)}),
      ("positions", {"table": table("int16", [-1], 2, 256)}),
      ("elements in dimension 1", {"table": table("uint16", [0], 2, 255)}),
      ("number of states", {"table": table("uint16", [], 0, 256)}),
      ("must be strings", {"x": t("uint16", 2, 6)}))
CONCAT = partition("StringConcat", {"x": BYTES, "b": t("uint8", 2, 3),
                                    "n": t("int64", 2)},
                   {"y": t("uint8", 2, 9)})
check(CONCAT,
      ("must be strings", {"x": t("uint16", 2, 6)}),
      ("rank 0", {"b": t("uint8")}),
      ("the length of each string", {"n": t("int64", 3)}),
      ("the length of each string", {"n": t("int64")}),
      ("type", {"n": t("float32", 2)}))
PART = partition("Substring", {"x": BYTES, "from": t("int64", 2, 2),
                               "to": t("int64", 2, 2)},
                 {"y": t("uint8", 2, 2, 6)})
check(PART,
      ("positions for each part", {"from": t("int64", 3, 2)}),
      ("positions for each part", {"to": t("int64", 2, 1)}),
      ("must be strings", {"x": t("uint32", 2, 6)}),
      ("type", {"to": t("float32", 2, 2)}))
check(partition("ChangeCase", {"x": BYTES}, {"y": BYTES}),
      ("rank 0", {"x": t("uint8"), "y": t("uint8")}))
check(partition("FormatInteger", {"x": t("int16", 2)}, {"y": BYTES}, bytes=6),
      ("up to 6 bytes", {"bytes": 5}), ("up to 6 bytes", {"bytes": 0}),
      ("up to 11 bytes", {"x": t("int32", 2)}))
check(partition("ParseInteger", {"x": BYTES}, {"y": t("int64", 2)}),
      ("must be strings", {"x": t("uint8", 2, 0)}),
      ("must be strings", {"x": t("uint64", 2, 6)}))

# -- parts of tensors --
check(partition("Frames", {"x": t("float32", 1, 10, 1)},
                {"y": t("float32", 1, 4, 4, 1)}, step=2, length=4),
      ("step", {"step": 0}), ("step", {"step": -2}), ("step", {"length": 0}),
      ("shorter", {"length": 11}))
check(partition("SliceCount", {"x": t("int64", 2), "end": t("int64", 2),
                               "size": table("int64", [5, 6])},
                {"y": t("int64", 2)}, axes=[0, 1], steps=[1, -2]),
      ("steps", {"steps": [0, 1]}), ("steps", {"steps": [1, -2**63]}),
      ("steps", {"steps": [1]}), ("axis", {"axes": [0, 2]}),
      ("elements in dimension 0", {"end": t("int64", 1)}),
      ("type", {"end": t("float32", 2)}))
check(partition("Part", {"x": t("float32", 5), "start": table("int64", [1]),
                         "count": table("int64", [2])},
                {"y": t("float32", 2)}, axes=[0], steps=[3]),
      ("inside", {"start": table("int64", [2])}),
      ("inside", {"start": table("int64", [-1])}),
      ("inside", {"steps": [-2]}), ("inside", {"steps": [2**40]}))
check(partition("Range", {"x": t("float32"), "delta": t("float32"),
                          "count": table("int64", [4])},
                {"y": t("float32", 4)}),
      ("one number each", {"delta": t("float32", 0)}),
      ("one number each", {"x": t("float32", 3)}),
      ("one number each", {"delta": t("int32")}))

# -- others whose kernels rely on sizes --
check(partition("PairCoupling", {"x": t("float32", 2, 3, 3)}, Y),
      ("elements in dimension 2", {"x": t("float32", 2, 3, 2)}))
WEIGHTS = "recurrence weights need"
check(partition("LSTM", {
    "x": t("float32", 5, 2, 4, 3), "w": table("int8", [1], 3, 12),
    "lengths": t("int32", 2), "h": t("float32", 2, 3), "c": t("float32", 2, 3),
    "peepholes": t("float32", 9), "scale": t("float32", 12),
    "zero": t("int8", 12)}, {"y": t("float32", 2, 3)}),
      (WEIGHTS, {"w": table("float32", [1], 3, 12)}),
      (WEIGHTS, {"w": table("int16", [1], 3, 12)}),
      (WEIGHTS, {"zero": t("uint8", 12)}),
      (WEIGHTS, {"scale": t("float64", 12)}),
      ("shape of input 6", {"scale": t("float32", 11)}),
      ("shape of input 7", {"zero": t("int8", 13)}))
check(partition("LSTM", {"x": t("float32", 5, 2, 4, 3),
                         "w": t("float32", 3, 12)}, {"y": t("float32", 2, 3)}),
      (WEIGHTS, {"w": t("int8", 3, 12)}))
check(partition("Inverse", {"x": t("float32", 2, 3, 3)},
                {"y": t("float32", 2, 3, 3)}),
      ("must be equal", {"x": t("float32", 2, 3, 2)}))
check(partition("Table", {"x": t("int8", 3),
                          "table": table("int8", [1], 256)},
                {"y": t("int8", 3)}),
      ("256 elements", {"table": table("int8", [1], 255)}),
      ("is not defined", {"x": t("float8_e4m3fn", 3)}),
      ("at most 8 bits", {"x": t("int16", 3)}))
check(partition("LinearAttention",
                {"x": t("float32", 1, 5, 8), "key": t("float32", 1, 5, 4),
                 "value": t("float32", 1, 5, 6), "decay": t("float32", 1, 5, 4),
                 "beta": t("float32", 1, 5, 1),
                 "past": t("float32", 1, 1, 4, 6)},
                {"y": t("float32", 1, 5, 12), "state": t("float32", 1, 1, 4, 6)},
                q_num_heads=2, kv_num_heads=1),
      ("sizes of the query", {"key": t("float32", 1, 5, 3)}),
      ("sizes of the query", {"key": t("float32", 1, 4, 4)}),
      ("sizes of the query", {"decay": t("float32", 1, 5, 2)}),
      ("sizes of the query", {"beta": t("float32", 1, 1, 1)}),
      ("sizes of the query", {"past": t("float32", 1, 1, 4, 5)}),
      ("heads", {"kv_num_heads": 3}))
check(partition("NonMaxSuppression",
                {"x": t("float32", 1, 4, 4), "scores": t("float32", 1, 1, 4),
                 "most": table("int64", [2])},
                {"y": t("int64", 2, 3), "count": t("int32", 1),
                 "sides": t("float32", 2, 4)}),
      ("one number", {"most": t("int64", 0)}),
      ("boxes must be", {"scores": t("float32", 1, 1, 5)}))

# -- positions that are known only at run time --
MAIN = """
#include <stdio.h>
#include <string.h>
#include "g.h"

int
main(void)
{
	static const uint8_t x[2][6] = { "abcdef", "ghijkl" };
	static const int64_t numbers[][8] = { %s };
	struct g m;
	struct g_config config = { 0 };
	uint8_t y[24];

	if (g_init(&m, &config) != G_OK) {
		return 1;
	}
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		const int64_t *v = numbers[i];
		%s
		struct g_outputs out = { 0 };

		out.y = y;
		if (g_run(&m, &in, &out) != G_OK) {
			return 1;
		}
		for (size_t k = 0; k < %d; k++) {
			putchar(y[k] ? y[k] : '.');
		}
		putchar('\\n');
	}
	return 0;
}
"""


def run(p, numbers, inputs, size):
    """The bytes of the result for each row of numbers, under sanitizers."""
    out = compiled(p)[1]
    rows = ", ".join("{ %s }" % ", ".join(
        "INT64_MIN" if v == -2**63 else "INT64_MAX" if v == 2**63 - 1
        else str(v) for v in row) for row in numbers)
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write(MAIN % (rows, inputs, size))
    exe = os.path.join(out, "main")
    execute([need("gcc"), "-std=c99", "-O1", "-w",
             "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
             "-I" + out, os.path.join(out, "g.c"),
             os.path.join(out, "main.c"), "-o", exe])
    return execute([exe]).stdout.split()


FAR = 2**63 - 1
got = run(CONCAT, [(2, 6), (-1, 7), (-2**63, FAR), (-2**32, 2**32 + 1)],
          "static const uint8_t b[2][3] = { \"123\", \"456\" };\n"
          "struct g_inputs in = { x[0], b[0], v };", 18)
want = ["ab123....ghijkl456"] + 3 * ["123......ghijkl456"]
if got != want:
    fail("StringConcat: %s, not %s" % (got, want))
got = run(PART, [(0, 4, 1, 6, 2, 9, 6, 6), (-1, 9, -2**63, FAR, 1, 9, 6, FAR),
                 (FAR, -FAR, 0, 2**32, FAR, -1, -2**63, FAR)],
          "struct g_inputs in = { x[0], v, v + 4 };", 24)
want = ["ab....ef....hijkl.......", "a...........ghijkl......", 24 * "."]
if got != want:
    fail("Substring: %s, not %s" % (got, want))

# -- places that somebody else counted: those beyond the count are not stored, and
# those that nothing is found for are 0 --
NONZERO = """
#include <stdio.h>
#include <stdlib.h>
#include "g.h"

int
main(void)
{
	static const float x[8] = { 1, 0, 1, 1, 0, 1, 1, 1 };
	static struct g m;
	const struct g_config config = { 0 };
	struct g_inputs in = { x };
	int64_t *y = malloc(%d * sizeof *y);
	struct g_outputs out = { y };

	if (g_init(&m, &config) != G_OK || g_run(&m, &in, &out) != G_OK) {
		return 1;
	}
	for (int i = 0; i < %d; i++) {
		printf("%%d ", (int)y[i]);
	}
	free(y);
	return 0;
}
"""
for count, want in ((2, "0 2"), (6, "0 2 3 5 6 7"), (8, "0 2 3 5 6 7 0 0")):
    out = compiled(partition(
        "NonZero", {"x": t("float32", 8), "n": table("int64", [count])},
        {"y": t("int64", 1, count)}))[1]
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write(NONZERO % (count, count))
    exe = os.path.join(out, "main")
    execute([need("gcc"), "-std=c99", "-O1", "-w",
             "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
             "-I" + out, os.path.join(out, "g.c"),
             os.path.join(out, "main.c"), "-o", exe])
    got = execute([exe]).stdout.strip()
    if got != want:
        fail("NonZero of %d: %s, not %s" % (count, got, want))
