#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""header_facts.py: what a header says beside the interface: scales and zero
points, bytes, versions, a workspace to declare, functions of libm; and the
figures of work: multiply-accumulates rank kernels, symbolic sizes count at
their largest."""
import json
import os
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from helper import *

folder = work_folder()


def save(name, nodes, inputs, outputs, constants):
    graph = helper.make_graph(nodes, name, inputs, outputs, [
        numpy_helper.from_array(np.asarray(v), k)
        for k, v in constants.items()])
    path = os.path.join(folder, name + ".onnx")
    onnx.save(helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 17)]), path)
    return path


value = helper.make_tensor_value_info
quantized = save("quantized", [
    helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xf"], "dx"),
    helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], "dw"),
    helper.make_node("MatMul", ["xf", "wf"], ["yf"], "product"),
    helper.make_node("QuantizeLinear", ["yf", "ys", "yz"], ["y"], "qy"),
    helper.make_node("Exp", ["yf"], ["e"], "exp"),
], [value("x", TensorProto.INT8, [4, 8])],
    [value("y", TensorProto.UINT8, [4, 16]),
     value("e", TensorProto.FLOAT, [4, 16])],
    {"xs": np.float32(0.1), "xz": np.int8(-3),
     "w": (np.arange(128) % 7 - 3).astype(np.int8).reshape(8, 16),
     "ws": np.float32(0.5), "wz": np.int8(0),
     "ys": np.float32(2), "yz": np.uint8(128)})

CHECK = """#include <string.h>
#include "q.h"
static union q_workspace ram;
int main(void)
{
	static int8_t x[Q_X_COUNT];
	static uint8_t y[Q_Y_COUNT];
	static float e[Q_E_COUNT];
	struct q m;
	struct q_config config = { &ram, sizeof ram };
	struct q_inputs in = { x };
	struct q_outputs out = { y, e };

	memset(x, Q_X_ZERO_POINT, sizeof x);
	return sizeof ram < Q_WORKSPACE_BYTES || sizeof x != Q_X_BYTES ||
	       sizeof y != Q_Y_BYTES || sizeof e != Q_E_BYTES ||
	       Q_X_SCALE != 0.1f || Q_Y_SCALE != 2.0f ||
	       Q_X_ZERO_POINT != -3 || Q_Y_ZERO_POINT != 128 ||
	       strcmp(Q_TIRC_VERSION, "%s") != 0 ||
	       strlen(Q_MODEL_DIGEST) != 16 ||
	       q_init(&m, &config) != Q_OK || q_run(&m, &in, &out) != Q_OK ||
	       y[0] != Q_Y_ZERO_POINT || e[0] != 1.0f;
}
""" % tirc("version").stdout.split()[1]

for target in ["c99", "gnu-c"]:
    out = compile_model(quantized, "--name", "q", "--target", target, "-q")
    with open(os.path.join(out, "check.c"), "w") as f:
        f.write(CHECK)
    with open(os.path.join(out, "q.h")) as f:
        header = f.read()
    for text in ["i8 [4][8], real = (stored + 3) * 0.1",
                 "u8 [4][16], real = (stored - 128) * 2.0",
                 "libm    exp"]:
        if text == "libm    exp":
            with open(os.path.join(out, "q.c")) as f:
                source = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
            listed = re.search(r"libm    (.*)", header)[1].split()
            for name in ["expf", "nearbyintf", "nearbyint", "ldexpf"]:
                called = re.search(r"\b%s\(" % name, source) is not None
                if called != (name in listed):
                    fail("%s: %s is called: %s; listed: %s" % (
                        target, name, called, listed))
        elif text not in header:
            fail("%r is not in the header of %s:\n%s" % (text, target,
                                                         header[:900]))
    for cc in compilers():
        for standard in ["gnu99", "gnu11"]:
            flags = ["-march=native"] if target == "gnu-c" else []
            execute([cc, "-std=" + standard, *STRICT, *flags,
                     os.path.join(out, "check.c"), os.path.join(out, "q.c"),
                     os.path.join(out, "q_weights.c"), "-o",
                     os.path.join(out, "check"), "-lm"])
            execute([os.path.join(out, "check")])
    # Where something does not hold, the compiler says so.
    with open(os.path.join(out, "q.c")) as f:
        source = f.read()
    wrong = source.replace("sizeof(float) == 4", "sizeof(float) == 5")
    if wrong == source:
        fail("nothing relied on is checked")
    with open(os.path.join(out, "wrong.c"), "w") as f:
        f.write(wrong)
    execute([compilers()[0], "-std=c99", "-c", os.path.join(out, "wrong.c"),
             "-o", os.path.join(out, "wrong.o")], status=1)

with open(os.path.join(out, "q.json")) as f:
    facts = json.load(f)
scales = [[row["name"], row.get("scale"), row.get("zero_point")]
          for row in facts["inputs"] + facts["outputs"]]
if scales != [["x", float(np.float32(0.1)), -3], ["y", 2.0, 128],
              ["e", None, None]]:
    fail("the metadata have %s" % scales)

# Other weights are no other interface; the digest tells them apart.
def interface(path):
    out = compile_model(path, "--name", "q", "-q")
    with open(os.path.join(out, "q.h")) as f:
        text = f.read()
    return (re.search(r"q_init q_init_(\w+)", text)[1],
            re.search(r'MODEL_DIGEST "(\w+)"', text)[1])


model = onnx.load(quantized)
model.graph.initializer[2].CopyFrom(numpy_helper.from_array(
    np.ones((8, 16), np.int8), "w"))
other = os.path.join(folder, "other.onnx")
onnx.save(model, other)
(version, digest), (version_2, digest_2) = interface(quantized), \
    interface(other)
if version != version_2 or digest == digest_2:
    fail("versions %s and %s, digests %s and %s" % (version, version_2, digest,
                                                    digest_2))

# How quantized results are rounded is told, and that TensorFlow Lite's are another
# way; a model of floats alone has no such line.
model.producer_name = "tfl2onnx"
onnx.save(model, other)
for options, rounding, told in [([], "onnx", True),
                                (["--requant", "onnx"], "onnx", False),
                                (["--requant", "tflite"], "tflite", False)]:
    out = os.path.join(work_folder(), "out")
    seen = tirc("compile", other, "--name", "q", "-o", out, *options)
    with open(os.path.join(out, "q.h")) as f:
        header = f.read()
    with open(os.path.join(out, "q.json")) as f:
        stored = json.load(f)["requant"]
    if "(--requant %s)" % rounding not in seen.stdout or stored != rounding \
            or "by --requant %s\n" % rounding not in header:
        fail("the rounding %s is not told:\n%s" % (rounding, seen.stdout))
    if ("made by tfl2onnx: --requant tflite" in seen.stderr) != told:
        fail("with %s: %s" % (options, seen.stderr))

# An input whose name is taken in C, and a size with max: both as readers know them.
named = save("named", [
    helper.make_node("Concat", ["fmin", "fmin"], ["twice"], axis=0),
    helper.make_node("MaxPool", ["twice2"], ["plain"], kernel_shape=[3])],
    [value("fmin", TensorProto.FLOAT, ["n"]),
     value("twice2", TensorProto.FLOAT, [1, 1, 6])],
    [value("twice", TensorProto.FLOAT, None),
     value("plain", TensorProto.FLOAT, None)], {})
out = os.path.join(work_folder(), "out")
seen = tirc("compile", named, "--name", "q", "-o", out, "--dim", "n=1..8")
with open(os.path.join(out, "q.h")) as f:
    header = f.read()
if "input    fmin (in C: fmin_)  float32 [n]\n" not in seen.stdout or \
        'fmin_   f32 [n], in the model "fmin"\n' not in header or \
        header.count("in the model") != 1:
    fail("the names are not told:\n%s\n%s" % (seen.stdout, header[:900]))

# Work: symbolic sizes at their largest, in all figures; integers in MAC.
work = save("work", [
    helper.make_node("MatMul", ["x", "w"], ["h"], "product"),
    helper.make_node("Exp", ["h"], ["y"], "exp")],
    [value("x", TensorProto.FLOAT, ["n", 8])],
    [value("y", TensorProto.FLOAT, ["n", 16])],
    {"w": np.ones((8, 16), np.float32)})
figures = []
for bounds in ["n=32", "n=1..32"]:
    out = compile_model(work, "--name", "w", "--dim", bounds, "-q")
    with open(os.path.join(out, "w.json")) as f:
        kernels = json.load(f)["kernels"]
    figures.append([[k[key] for key in ("macs", "flops", "operations",
                                        "read_bytes", "write_bytes")]
                    for k in kernels])
if figures[0] != figures[1] or figures[0][0][0] != 32 * 8 * 16:
    fail("work at 32: %s; at most 32: %s" % tuple(figures))

integers = save("integers", [
    helper.make_node("MatMulInteger", ["x", "w"], ["h"], "product"),
    helper.make_node("Cast", ["h"], ["f"], "cast", to=TensorProto.FLOAT),
    helper.make_node("Exp", ["f"], ["g"], "exp"),
    helper.make_node("Softmax", ["g"], ["y"], "softmax")],
    [value("x", TensorProto.UINT8, [4, 64])],
    [value("y", TensorProto.FLOAT, [4, 16])],
    {"w": np.ones((64, 16), np.int8)})
seen = tirc("compile", integers, "-o", os.path.join(folder, "out")).stdout
heaviest = seen[seen.index("kernels"):].splitlines()[1]
if not re.search(r"4\.1 kMAC +100 %", heaviest):
    fail("the heaviest kernel is not the product:\n" + seen)
with open(os.path.join(folder, "out", "integers.c")) as f:
    if "4096 MAC" not in f.read():
        fail("the comment does not count multiply-accumulates")

# What a run uses of a tensor whose shape depends on sizes, the steps of a size, and
# what the exporter wrote about the model.
model = onnx.load(save("sized", [
    helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2], strides=[2]),
    helper.make_node("Concat", ["p", "p"], ["y"], axis=1),
    helper.make_node("NonZero", ["y"], ["z"]),
    helper.make_node("Slice", ["x", "begin", "end", "axis"], ["s"])],
    [value("x", TensorProto.FLOAT, [1, 3, "width"])],
    [value("y", TensorProto.FLOAT, None), value("z", TensorProto.INT64, None),
     value("s", TensorProto.FLOAT, None)],
    {name: np.array([v], np.int64)
     for name, v in (("begin", 0), ("end", 10), ("axis", 2))}))
helper.set_model_props(model, {"names": "{0: 'cat'}", "date": "today"})
sized = os.path.join(folder, "sized.onnx")
onnx.save(model, sized)
for target in ("c99", "misra"):
    out = compile_model(sized, "--dim", "width=4..32:4", "--target", target)
    with open(os.path.join(out, "sized.h"), encoding="utf-8") as file:
        header = file.read()
    for words in ("/* from 4 to 32 in steps of 4 */", "[1][6][width / 4 * 2]"):
        if words not in header:
            fail("%s is not in\n%s" % (words, header))
    if ("_USED(int32_t " in header) != (target == "misra"):
        fail("MISRA C has a function, C a macro: %s" % header)
    with open(os.path.join(out, "sized.json"), encoding="utf-8") as file:
        if json.load(file)["metadata_props"] != {"names": "{0: 'cat'}",
                                                 "date": "today"}:
            fail("the model's metadata_props are not in sized.json")
    with open(os.path.join(out, "used.c"), "w", encoding="utf-8") as file:
        file.write('#include "sized.h"\nint main(void)\n{\n'
                   "\tconst int n = 5;\n"
                   "\treturn SIZED_X_USED(7 + 1) != 24 ||"
                   "\n\t       SIZED_Y_USED(8) != 24 ||"
                   "\n\t       SIZED_S_USED(4 + 4) != 24 ||"
                   "\n\t       SIZED_S_USED(16) != 30 ||"
                   "\n\t       SIZED_Z_USED(n + 1) != 18;\n}\n")
    used = os.path.join(out, "used")
    execute([need("gcc"), "-std=c99", "-Wall", "-Wextra", "-Werror",
             "-I" + out, os.path.join(out, "used.c"), "-o", used])
    execute([used])

# The largest number of elements that a quotient of sizes gives.
quotient = save("quotient", [
    helper.make_node("Shape", ["x"], ["n"]),
    helper.make_node("Shape", ["w"], ["m"]),
    helper.make_node("Div", ["n", "m"], ["q"]),
    helper.make_node("Expand", ["u", "q"], ["e"]),
    helper.make_node("Neg", ["e"], ["y"])],
    [value("x", TensorProto.FLOAT, ["N"]), value("w", TensorProto.FLOAT, ["M"]),
     value("u", TensorProto.FLOAT, [1])],
    [value("y", TensorProto.FLOAT, None)], {})
out = compile_model(quotient, "--dim", "N=0..9", "--dim", "M=0..9", "--target",
                    "c99")
with open(os.path.join(out, "quotient.h"), encoding="utf-8") as file:
    header = file.read()
with open(os.path.join(out, "quotient.json"), encoding="utf-8") as file:
    stated = json.load(file)["outputs"][0]["max_elements"]
counted = re.search(r"QUOTIENT_Y_COUNT (\S+)", header)[1]
if "_USED" in header[header.index("QUOTIENT_Y_DIMS"):]:
    fail("a macro divides by a size that may be 0:\n" + header)
if counted.rstrip("uUL") != "9" or stated != 9:
    fail("9 elements, the header says %s, the metadata %s" % (counted, stated))

# A comment names the data type of an attribute.
cast = save("cast", [
    helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT),
    helper.make_node("MatMul", ["x", "c"], ["y"])],
    [value("x", TensorProto.FLOAT, [2, 3])],
    [value("y", TensorProto.FLOAT, [2, 2])],
    {"w": np.arange(6, dtype=np.int64).reshape(3, 2)})
out = compile_model(cast, "--target", "c99")
with open(os.path.join(out, "cast.c"), encoding="utf-8") as file:
    if 'Cast{to = float32}("w")' not in file.read():
        fail("the comment of w does not name the type of Cast")

# A quotient that an int holds, of a product that it does not hold, is computed in
# 64 bits; a function of 32 bits does not compute it.
shrunk = save("shrunk", [
    helper.make_node("Shape", ["x"], ["n"]),
    helper.make_node("Mul", ["n", "a"], ["p"]),
    helper.make_node("Div", ["p", "b"], ["q"]),
    helper.make_node("Expand", ["u", "q"], ["e"]),
    helper.make_node("Neg", ["e"], ["y"])],
    [value("x", TensorProto.FLOAT, ["N"]), value("u", TensorProto.FLOAT, [1])],
    [value("y", TensorProto.FLOAT, None)],
    {"a": np.array([50001], np.int64), "b": np.array([70001], np.int64)})
out = compile_model(shrunk, "--dim", "N=1..100000", "--target", "c99")
with open(os.path.join(out, "used.c"), "w", encoding="utf-8") as file:
    file.write('#include "shrunk.h"\nint main(void)\n{\n'
               "\tint32_t n = 100000;\n\n"
               "\treturn SHRUNK_Y_USED(n) != 71428;\n}\n")
execute([need("gcc"), "-std=c99", "-fsanitize=undefined",
         "-fno-sanitize-recover", "-I" + out, os.path.join(out, "used.c"),
         "-o", used])
execute([used])
out = compile_model(shrunk, "--dim", "N=1..100000", "--target", "misra")
with open(os.path.join(out, "shrunk.h"), encoding="utf-8") as file:
    if "SHRUNK_Y_USED" in file.read():
        fail("a function of 32 bits overflows")

# Counts beyond an int are computed in 64 bits; a scale that C has no number for is
# not stated.
wide = save("wide", [
    helper.make_node("Neg", ["x"], ["y"]),
    helper.make_node("DequantizeLinear", ["q", "s"], ["z"])],
    [value("x", TensorProto.FLOAT, ["n", "m"]),
     value("q", TensorProto.INT8, [4])],
    [value("y", TensorProto.FLOAT, None), value("z", TensorProto.FLOAT, None)],
    {"s": np.float32("inf")})
out = compile_model(wide, "--dim", "n=1..200000", "--dim", "m=1..200000",
                    "--target", "c99")
with open(os.path.join(out, "used.c"), "w", encoding="utf-8") as file:
    file.write('#include "wide.h"\nint main(void)\n{\n'
               "\tint32_t n = 200000;\n\n"
               "\treturn WIDE_Y_USED(n, n) != 40000000000;\n}\n")
execute([need("gcc"), "-std=c99", "-fsanitize=undefined",
         "-fno-sanitize-recover", "-I" + out, os.path.join(out, "used.c"),
         "-o", used])
execute([used])
with open(os.path.join(out, "wide.h"), encoding="utf-8") as file:
    if re.search(r"_SCALE|inf\b", file.read()):
        fail("a scale without a number is stated")
