#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes of which operators require more than that two of them are equal: numbers of
channels and of blocks that constants determine, multiples, sizes that are not
negative, and dimensions that have the element that is read. The entry function
refuses others, and reads nothing outside of the arrays, which are not larger than the
sizes say.

    required_sizes.py equal|divided|empty|negative|branch|partitions|few|formulas"""
import json
import math
import os
import sys

from helper import execute, fail, need, tirc, work_folder
from proto import *

UINT8, BOOL = 2, 9
C_TYPES = {FLOAT: "float", UINT8: "uint8_t", INT64: "int64_t", BOOL: "bool"}
FOLDER = work_folder()
CC = need("gcc")
MAIN = """
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "g.h"

static void *
filled(size_t bytes, unsigned char with)
{
	unsigned char *p = malloc(bytes);

	for (size_t i = 0; i < bytes; i++) {
		p[i] = with;
	}
	return p;
}

int
main(void)
{
	static union { double number; unsigned char bytes[65536]; } work;
	static double y[4096];
	const struct g_config config = { work.bytes, sizeof work };
	int32_t count;
	struct g m;

	if (g_init(&m, &config) != G_OK) {
		return 1;
	}
%s	return 0;
}
"""
RUN = """	{
		struct g_inputs in = { %s };
		const struct g_outputs out = { %s };
		enum g_status status = g_run(&m, &in, &out);

		puts(status == G_OK ? "ok" : status == G_BAD_SIZE ? "bad"
				: "other");
%s	}
"""


def runs(path, given, sizes, *options):
    """The statuses of the model, compiled with the options, for each of the sizes,
    name to number. given: the inputs' types and shapes by name."""
    out = work_folder()
    tirc("compile", path, "--name", "g", "--target", "c99", "-o", out, *options)
    with open(os.path.join(out, "g.h"), encoding="utf-8") as file:
        counts = ", &count" if "_count;" in file.read() else ""
    text = ""
    for values in sizes:
        fields, frees = [], ""
        for name, (kind, shape) in given.items():
            # Sizes that the array cannot have: it has one element.
            elems = [eval(str(d), {}, dict(values)) for d in shape]
            elems = math.prod(elems) if min(elems, default=0) >= 0 else 1
            fields.append(".%s = filled(%d * sizeof(%s), %d)" % (
                name, elems, C_TYPES[kind], 1 if kind == BOOL else
                255 if kind == INT64 else 0))
            frees += "\t\tfree((void *)in.%s);\n" % name
        fields += [".%s = %d" % item for item in values.items()]
        text += RUN % (", ".join(fields), "(void *)y" + counts, frees)
    with open(os.path.join(out, "main.c"), "w", encoding="utf-8") as file:
        file.write(MAIN % text)
    exe = os.path.join(out, "main")
    execute([CC, "-std=c99", "-O0", "-w", "-fsanitize=address,undefined",
             "-fno-sanitize-recover=all", "-I" + out,
             *[os.path.join(out, f) for f in os.listdir(out) if f[-2:] == ".c"],
             "-lm", "-o", exe])
    with open(os.path.join(out, "g.c"), encoding="utf-8") as file:
        return execute([exe]).stdout.split(), file.read()


def saved(nodes, given, constants=(), out_kind=FLOAT):
    path = os.path.join(FOLDER, "m.onnx")
    with open(path, "wb") as file:
        file.write(model(graph(
            nodes, [value_info(name, shape, kind)
                    for name, (kind, shape) in given.items()],
            [value_info("y", None, out_kind)], list(constants)), version=23))
    return path


def check(what, nodes, given, bounds, good, bad, constants=(), **options):
    """The model runs with the sizes of good, and refuses those of bad."""
    given = {name: shape if isinstance(shape, tuple) else (FLOAT, shape)
             for name, shape in given.items()}
    path = saved(nodes, given, constants, **options)
    dims = [word for bound in bounds for word in ("--dim", bound)]
    got, source = runs(path, given, good + bad, *dims)
    want = ["ok"] * len(good) + ["bad"] * len(bad)
    if got != want:
        fail("%s with %s: %s, not %s" % (what, good + bad, got, want))
    return source


def ones(name, *shape, kind=FLOAT):
    one = {FLOAT: floats(1), UINT8: b"\x01", INT64: ints(1)}[kind]
    return tensor(name, shape, one * math.prod(shape), kind)


def numbers(name, *values):
    return tensor(name, [len(values)], ints(*values), INT64)


def n(*values):
    return [{"n": v} for v in values]


def equal():
    image = {"x": [1, "n", 4, 4]}
    other = n(1, 2, 4)
    bounds = ["n=1..8"]
    w = ones("w", 2, 3, 1, 1)
    check("Conv", [node("Conv", ["x", "w"], ["y"])], image, bounds, n(3), other,
          [w])
    check("Conv with padding",
          [node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], image, bounds,
          n(3), other, [ones("w", 2, 3, 3, 3)])
    check("Conv of groups", [node("Conv", ["x", "w"], ["y"], group=2)], image,
          bounds, n(6), other, [w])
    check("Conv with a bias", [node("Conv", ["x", "w", "b"], ["y"])],
          {"x": [1, 3, 4, 4], "b": ["n"]}, bounds, n(2), n(1, 3), [w])
    check("ConvTranspose", [node("ConvTranspose", ["x", "w"], ["y"])], image,
          bounds, n(3), other, [ones("w", 3, 2, 1, 1)])
    check("FusedConv", [node("FusedConv", ["x", "w"], ["y"],
                             domain="com.microsoft", activation="Relu")],
          image, bounds, n(3), other, [w])
    image = {"x": (UINT8, [1, "n", 4, 4])}
    w = ones("w", 2, 3, 1, 1, kind=UINT8)
    check("ConvInteger", [node("ConvInteger", ["x", "w", "z"], ["i"]),
                          node("Cast", ["i"], ["y"], to=FLOAT)], image, bounds,
          n(3), other, [w, tensor("z", [], b"\x01", UINT8)])
    check("QLinearConv",
          [node("QLinearConv", ["x", "s", "z", "w", "s", "z", "s", "z"],
                ["y"])], image, bounds, n(3), other,
          [w, tensor("s", [], floats(1)), tensor("z", [], b"\x01", UINT8)],
          out_kind=UINT8)
    check("Col2Im", [node("Col2Im", ["x", "image", "block"], ["y"])],
          {"x": [1, 4, "n"]}, bounds, n(4), n(1, 3, 5),
          [numbers("image", 3, 3), numbers("block", 2, 2)])
    check("Squeeze", [node("Squeeze", ["x", "axes"], ["s"]),
                      node("Relu", ["s"], ["y"])], {"x": ["n", 3]}, ["n=0..4"],
          n(1), n(0, 2, 3), [numbers("axes", 0)])
    check("GatherND of batches",
          [node("GatherND", ["x", "i"], ["y"], batch_dims=1)],
          {"x": [2, 3], "i": (INT64, ["n", 1])}, bounds, n(2), n(1, 3))
    check("MaxUnpool", [node("MaxUnpool", ["x", "i", "sizes"], ["y"],
                             kernel_shape=[2], strides=[2])],
          {"x": ["n", 1, 2], "i": (INT64, ["n", 1, 2])}, bounds, n(2), n(1, 3),
          [numbers("sizes", 2, 1, 4)])
    check("TopK", [node("TopK", ["x", "k"], ["y", "at"])], {"x": ["n"]},
          bounds, n(3, 4, 8), n(1, 2), [numbers("k", 3)])


def divided():
    bounds = ["n=0..12"]
    check("DepthToSpace", [node("DepthToSpace", ["x"], ["y"], blocksize=2)],
          {"x": [1, "n", 2, 2]}, bounds, n(0, 4, 8), n(1, 3, 6))
    check("SpaceToDepth", [node("SpaceToDepth", ["x"], ["y"], blocksize=2)],
          {"x": [1, 1, "n", 4]}, bounds, n(0, 2, 4), n(1, 3, 5))
    check("Conv of groups", [node("Conv", ["x", "w"], ["y"], group=2)],
          {"x": [1, 2, 2, 2], "w": ["n", 1, 1, 1]}, bounds, n(2, 4), n(1, 3))
    check("ConvTranspose of groups",
          [node("ConvTranspose", ["x", "w"], ["y"], group=2)],
          {"x": [1, "n", 2, 2], "w": ["n", 1, 1, 1]}, bounds, n(2, 4), n(1, 3))
    check("Reshape", [node("Reshape", ["x", "to"], ["s"]),
                      node("Relu", ["s"], ["y"])], {"x": ["n"]}, bounds,
          n(0, 3, 6), n(1, 2, 4), [numbers("to", -1, 3)])
    source = check("Reshape of multiples", [
        node("Reshape", ["x", "to"], ["s"]), node("Relu", ["s"], ["y"])],
        {"x": ["n"]}, ["n=4..12:4"], n(4, 8), n(5), [numbers("to", -1, 2)])
    if source.count("return G_BAD_SIZE") != 2:
        fail("what the multiple proves is checked:\n" + source)
    sizes = [{"n": a, "m": b} for a, b in ((2, 4), (0, 1), (2, 3), (3, 4))]
    check("Reshape by a size", [
        node("Shape", ["z"], ["m"]), node("Concat", ["m", "rest"], ["to"],
                                          axis=0),
        node("Reshape", ["x", "to"], ["s"], allowzero=1),
        node("Relu", ["s"], ["y"])],
        {"x": ["n", 2], "z": ["m"]}, ["n=0..4", "m=1..4"], sizes[:2], sizes[2:],
        [numbers("rest", -1)])


def empty():
    bounds = ["n=0..4"]
    none, some = n(0), n(1, 4)
    three = (INT64, [3])
    check("Gather", [node("Gather", ["x", "i"], ["y"])], {"x": ["n"],
          "i": three}, bounds, some, none)
    # An empty result needs no element.
    pairs = [{"n": a, "m": b} for a, b in ((0, 0), (3, 0), (3, 2), (0, 2))]
    check("Gather of no rows", [node("Gather", ["x", "i"], ["y"])],
          {"x": ["n", 2], "i": (INT64, ["m"])}, ["n=0..4", "m=0..4"], pairs[:3],
          pairs[3:])
    source = check("Gather of some", [node("Gather", ["x", "i"], ["y"])],
                   {"x": ["n"], "i": three}, ["n=1..4"], some, none)
    if source.count("return G_BAD_SIZE") != 1:
        fail("what the bounds prove is checked:\n" + source)
    check("GatherElements", [node("GatherElements", ["x", "i"], ["y"])],
          {"x": ["n"], "i": three}, bounds, some, none)
    check("GatherND", [node("GatherND", ["x", "i"], ["y"])],
          {"x": [2, "n"], "i": (INT64, [1, 2])}, bounds, some, none)
    for mode in ("border", "reflection"):
        for kind in ("linear", "nearest", "cubic"):
            check("GridSample", [node("GridSample", ["x", "i"], ["y"],
                                      padding_mode=mode, mode=kind)],
                  {"x": [1, 1, "n", 2], "i": [1, 2, 2, 2]}, bounds, some, none)
    check("GridSample of zeros", [node("GridSample", ["x", "i"], ["y"])],
          {"x": [1, 1, "n", 2], "i": [1, 2, 2, 2]}, bounds, none + some, [])
    check("Compress", [node("Compress", ["x", "i"], ["y"])],
          {"x": ["n"], "i": (BOOL, [3])}, bounds, n(3, 4) + none, [])
    # None of the elements of a row are the first ones.
    check("TopK of none", [
        node("Shape", ["x"], ["s"]), node("Gather", ["s", "one"], ["m"]),
        node("Sub", ["m", "two"], ["k"]),
        node("TopK", ["x", "k"], ["y", "at"], axis=1)],
        {"x": [2, "n"]}, ["n=2..6"], n(2, 3, 6), n(1),
        [numbers("one", 1), numbers("two", 2)])
    check("RotaryEmbedding",
          [node("RotaryEmbedding", ["q", "x", "x", "i"], ["y"])],
          {"x": ["n", 2], "q": [1, 1, 2, 4], "i": (INT64, [1, 2])}, bounds,
          some, none)
    for op, region, more, attributes in (
            ("MaxRoiPool", [1, 5], [], {"pooled_shape": [2, 2]}),
            ("RoiAlign", [1, 4], ["i"], {})):
        for shape in (["n", 1, 3, 3], [1, 1, "n", 3]):
            given = {"x": shape, "r": region, "i": (INT64, [1])}
            if not more:
                del given["i"]
            fits = none if op == "MaxRoiPool" and shape[0] == 1 else []
            check(op, [node(op, ["x", "r", *more], ["y"], **attributes)],
                  given, bounds, fits + some, [] if fits else none)
    check("Gather of a part", [node("Gather", ["x", "i"], ["y"])],
          {"x": ["n - 5"], "i": three}, ["n=5..20"], n(6, 20), n(5))


def negative():
    line = {"x": [1, 1, "n"]}
    bounds = ["n=1..12"]
    w, i = ones("w", 1, 1, 7), numbers("i", 3, 1)
    conv = node("Conv", ["x", "w"], ["p"])
    pad = node("Pad", ["x", "by"], ["p"])
    pool = node("MaxPool", ["x"], ["p"], kernel_shape=[7])
    good, bad = n(7, 12), n(1, 5)
    for what, first, more in (("Conv", conv, [w]), ("MaxPool", pool, []),
                              ("Pad", pad, [numbers("by", 0, 0, -3, 0, 0, -3)])):
        check(what + ", Gather",
              [first, node("Gather", ["p", "i"], ["y"], axis=2)], line, bounds,
              good, bad + n(6), [i, *more])
        check(what + ", Concat",
              [first, node("Concat", ["p", "x"], ["y"], axis=2)], line, bounds,
              n(6) + good, bad, more)
    check("Pad, GatherND", [pad, node("GatherND", ["p", "i"], ["y"])],
          {"x": ["n"]}, bounds, good, bad,
          [numbers("by", -3, -3), tensor("i", [2, 1], ints(3, 1), INT64)])
    check("MaxPool, ScatterElements",
          [pool, node("ScatterElements", ["p", "i", "u"], ["y"], axis=2)],
          dict(line, i=(INT64, [1, 1, 2]), u=[1, 1, 2]), bounds, good, bad)
    # (-5) * (-5) elements are none
    both = [{"n": a, "m": b} for a, b in ((7, 8), (8, 7), (6, 7), (1, 1), (1, 8))]
    check("MaxPool, Flatten",
          [node("MaxPool", ["x"], ["p"], kernel_shape=[7, 7]),
           node("Flatten", ["p"], ["f"]), node("Softmax", ["f"], ["y"])],
          {"x": [1, 1, "n", "m"]}, ["n=1..8", "m=1..8"], both[:3], both[3:])
    check("ConvTranspose", [node("ConvTranspose", ["x", "w"], ["y"],
                                 pads=[8, 8])], line, ["n=1..20"], n(10, 11),
          n(1, 9), [w])
    check("STFT", [node("STFT", ["x", "step", "", "length"], ["y"])],
          {"x": [1, "n", 1]}, ["n=1..32"], n(16, 32), n(1, 13),
          [tensor("step", [], ints(2), INT64),
           tensor("length", [], ints(16), INT64)])


def branch():
    """A size that is negative in a branch is refused where that one is taken."""
    w = ones("w", 1, 1, 7)

    def ends(name, first):
        return nested_graph(name, graph(
            [first, node("ReduceSum", ["p"], [name[:4]])], [],
            [value_info(name[:4], [1, 1, 1])]))

    for taken in (True, False):
        both = [node("Relu", ["x"], ["p"]), node("Conv", ["x", "w"], ["p"])]
        then, other = both[::-1] if taken else both
        check("If", [node("If", ["c"], ["y"], attributes=[
            ends("then_branch", then), ends("else_branch", other)])],
            {"c": (BOOL, [1]), "x": [1, 1, "n"]}, ["n=1..12"],
            n(6, 12) if taken else n(1, 6, 12), n(1, 5) if taken else [], [w])

    # Equal nodes of two branches, of which each has its own condition.
    ifs = [node("If", [c], [r], attributes=[
        nested_graph(name, graph([node("MatMul", ["x", y], [name[:4] + r])], [],
                                 [value_info(name[:4] + r, [2, 3])]))
        for name, y in (("then_branch", "v"), ("else_branch", "w"))])
        for c, r in (("c", "a"), ("d", "b"))]
    source = check("two Ifs", [*ifs, node("Add", ["a", "b"], ["y"])],
                   {"c": (BOOL, [1]), "d": (BOOL, [1]), "x": [2, "n"],
                    "v": ["m", 3], "w": ["n", 3]}, ["n=2..8", "m=2..8"],
                   [{"n": 4, "m": 4}], [{"n": 4, "m": 8}])
    if source.count("} else {") < 2:
        fail("a node of two branches runs in all runs:\n" + source)


def few():
    """Of conditions that follow from each other one is checked."""
    path = [node("Conv", ["x", "w"], ["a"]), node("Conv", ["a", "w"], ["b"]),
            node("MaxPool", ["b"], ["y"], kernel_shape=[3])]
    w = ones("w", 1, 1, 3)
    source = check("a chain", path, {"x": [1, 1, "n"]}, ["n=1..12"], n(6, 12),
                   n(1, 5), [w])
    if source.count("return G_BAD_SIZE") != 2:
        fail("a chain has more than one condition:\n" + source)
    source = check("a long line", path, {"x": [1, 1, "n"]}, ["n=6..12"],
                   n(6, 12), [], [w])
    if source.count("return G_BAD_SIZE") != 1:
        fail("what the bounds prove is checked:\n" + source)


def partitions():
    """Sizes in a partition may be negative, too: of an input, and of what a kernel
    computes."""
    given = {"x": (FLOAT, ["n", "m"])}
    for nodes in ([node("Relu", ["x"], ["y"])],
                  [node("Flatten", ["x"], ["f"], axis=0),
                   node("Softmax", ["f"], ["y"])],
                  [node("ReduceSum", ["x"], ["y"])]):
        path = saved(nodes, given)
        part = os.path.join(FOLDER, "p.json")
        tirc("partition", path, "-o", part, "--force", "--dim", "n=0..9",
             "--dim", "m=0..9")
        with open(part, encoding="utf-8") as file:
            p = json.load(file)
        for t in p["tensors"].values():
            t["shape"] = [d if isinstance(d, int) else
                          d.replace("n", "(n - 5)").replace("m", "(m - 5)")
                          for d in t["shape"]]
        with open(part, "w", encoding="utf-8") as file:
            json.dump(p, file)
        sizes = [{"n": a, "m": b} for a, b in ((7, 6), (5, 5), (0, 0), (4, 7),
                                               (7, 2))]
        got, _ = runs(part, {"x": (FLOAT, ["n - 5", "m - 5"])}, sizes)
        if got != ["ok", "ok", "bad", "bad", "bad"]:
            fail("a partition of %s: %s" % (sorted(p["tensors"]), got))


def formula(size, sizes):
    """The statuses of a partition whose tensors have the size in two dimensions, which
    depends on numbers from 0 to 2^40. An array has the elements of its bounds."""
    names = sorted({name for values in sizes for name in values})
    t = {"type": "float32", "shape": [size, 2, size]}
    path = os.path.join(FOLDER, "p.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "tirc_partition": 1, "name": "g", "settings": {}, "inputs": ["x"],
            "dims": [{"name": name, "min": 0, "max": 2**40} for name in names],
            "outputs": ["y"], "tensors": {"x": t, "y": t},
            "nodes": [{"op": "Neg", "inputs": ["x"], "outputs": ["y"]}],
            "backends": [], "matches": [], "regions": [], "origins": []}, file)
    return runs(path, {"x": (FLOAT, [9, 2, 9])}, sizes)[0]


def formulas():
    """A part of a formula may leave 64 bits although the formula's bounds are near."""
    def at(*rows):
        return [dict(zip("nmk", row)) for row in rows]

    far = 2**40
    for size, good, bad in (
            ("n * m", at((8, 1), (0, far), (far, 2**23 - 1)),
             at((far, 2**23), (825641387005, 22342320), (far, far))),
            ("n * m + k", at((far, 2**23 - 1, far // 2), (1, 2, 3)),
             at((far, 2**23 - 1, far), (far, 2**23, 0))),
            ("n - m * k", at((7, 1, 2), (0, far, 2**22)),
             at((0, far, 2**23), (far, far, far))),
            ("n // m", at((7, 2), (far, far), (0, 1), (7, 0)), []),
            ("n * m % T.int64(5)", at((7, 2), (far, 2**22)), at((far, far))),
            ("T.Cast(\"int64\", T.Cast(\"int32\", n))", at((7,), (2**31 - 1,)),
             at((2**31,), (2**32 + 7,), (far,)))):
        got = formula("T.max(T.min(%s, T.int64(9)), T.int64(0))" % size,
                      good + bad)
        if got != ["ok"] * len(good) + ["bad"] * len(bad):
            fail("%s with %s: %s" % (size, good + bad, got))

    # The same of a model, whose three dimensions have 32 bits.
    path = [node("Shape", [name], [name + "s"]) for name in "xzw"] + [
        node("Mul", ["xs", "zs"], ["a"]), node("Mul", ["a", "ws"], ["b"]),
        node("Min", ["b", "nine"], ["c"]), node("Expand", ["v", "c"], ["e"]),
        node("Neg", ["e"], ["y"])]
    given = {"x": ["n"], "z": ["m"], "w": ["k"]}
    constants = [numbers("nine", 9), ones("v", 1)]
    some = at((2**21 - 1, 2**21, 2**21), (1, 2, 3))
    check("Expand", path, given, [d + "=1..2097152" for d in "nmk"], some,
          at((2**21, 2**21, 2**21)), constants)
    source = check("a short Expand", path, given, [d + "=1..9" for d in "nmk"],
                   some[1:], [], constants)
    if source.count("return G_BAD_SIZE") != 3:
        fail("what the bounds prove is checked:\n" + source)


{"equal": equal, "divided": divided, "empty": empty, "negative": negative,
 "branch": branch, "partitions": partitions, "few": few,
 "formulas": formulas}[sys.argv[1]]()
