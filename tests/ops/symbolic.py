#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators over symbolic dimensions: one import, with bounds, gives the
same as ONNX's reference at every size, in the interpreter and as emitted
code. Shapes are computed by the models themselves in the ways that exporters
write."""
import itertools
import os
import subprocess
import sys

import helper

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, numpy_helper, parser
    from onnx.reference import ReferenceEvaluator
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

PROGRAM = os.environ.get("EVALUATE_DIMS")

MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
symbolic (float[n, 6, w] x, float[n, 2, 3, w] y) => (%s)
<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2},
 int64[2] flat = {0, -1}, int64[3] split = {-1, 3, 2}, int64 i0 = {0},
 int64 i2 = {2}, int64[1] minus1 = {-1}, int64[1] minus2 = {-2},
 int64[1] last = {9223372036854775807}, int64[3] pads3 = {0, 1, 1},
 int64[6] pads = {0, 1, 2, 0, 0, 1}, int64[6] fold = {0, 0, 1, 0, 0, 1},
 int64[3] twice = {2, 1, 3}, float[3] up = {1.0, 1.0, 2.0},
 float[3] down = {1.0, 1.0, 0.5}, int64[3] six = {0, 6, -1},
 int64 step1 = {1}, int64 lot = {100}, int64 first = {0}>
{
%s
}
"""

# Each line is a case: its last value is an output.
CASES = """
a1 = Reshape (x, flat)
a2 = Reshape (x, split)
a3 = Reshape (y, six)
a4 = Flatten <axis = 2> (x)
s = Shape (x); n1 = Slice (s, zero, one); a5 = Concat <axis = 0> (n1, minus1); a6 = Reshape (y, a5)
s2 = Shape (x); n2 = Gather (s2, i0); n3 = Unsqueeze (n2, zero); w2 = Gather (s2, i2); w3 = Unsqueeze (w2, zero); d = Concat <axis = 0> (n3, two, minus1, w3); a7 = Reshape (x, d)
a8 = Transpose <perm = [2, 0, 1]> (x); t2 = Shape (a8); a9 = Reshape (a8, flat)
x4 = Unsqueeze (x, one); q = Squeeze (x4, one); b1 = Concat <axis = 0> (q, x, q)
b2 = Concat <axis = 2> (x, x)
b3, b4 = Split <axis = 1, num_outputs = 2> (x)
part1, part2 = Split <axis = 0, num_outputs = 2> (x)
b5 = Slice (x, one, last, two)
b6 = Slice (x, minus2, last, zero)
b7 = Slice (x, minus1, minus2, two, minus1)
b8 = Slice (x, zero, two, two)
b9 = Slice (x, last, zero, two, minus1)
c1 = Pad (x, pads)
c2 = Pad <mode = "edge"> (x, pads)
c3 = Pad <mode = "reflect"> (x, fold)
c4 = Pad <mode = "wrap"> (x, fold)
c5 = Tile (x, twice)
s6 = Shape (x); c6 = Expand (one, s6)
s7 = Shape (y); c7 = ConstantOfShape (s7)
s8 = Shape <start = 2> (x); w8 = Squeeze (s8, zero); c8 = Range (first, w8, step1)
c9 = Size (x)
d1 = Gather <axis = 1> (x, i2)
d2 = Trilu (x)
d3 = CumSum (x, i2)
d4 = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (x, , up)
d5 = Resize <mode = "linear"> (x, , up)
d6 = Resize <mode = "nearest"> (x, , up)
d7 = Einsum <equation = "ncw,nabw->nab"> (x, y)
m8 = MatMul (y, a10); d8 = Identity (m8)
d9 = DepthToSpace <blocksize = 1> (y)
h1 = Shape (x); h2 = Gather (h1, i2); h3 = Mul (h2, i2); h4 = Unsqueeze (h3, zero); h5 = Concat <axis = 0> (h4, minus1); x2 = Concat <axis = 0> (x, x); e1 = Reshape (x2, h5)
h6 = Shape (x); h7 = Slice (h6, minus1, last); h8 = Div (h7, one); h9 = Slice (x, zero, h8, two); e2 = Identity (h9)
"""
INTEGERS = {"c6", "c8", "c9"}


def outputs_of(line):
    """The names that the last statement of a line defines."""
    last = line.split(";")[-1]
    return [name.strip() for name in last.split("=")[0].split(",")]


def build():
    lines = [line for line in CASES.strip().splitlines()]
    names = [name for line in lines for name in outputs_of(line)]
    body = "\n".join(line.replace("; ", "\n") for line in lines)
    body = "a10 = Transpose <perm = [0, 1, 3, 2]> (y)\n" + body
    return parser.parse_model(MODEL % (
        ", ".join("%s[] %s" % ("int64" if name in INTEGERS else "float", name)
                  for name in names), body)), names


def write_tensors(folder, prefix, names, values):
    for index, (name, value) in enumerate(zip(names, values)):
        path = os.path.join(folder, "%s_%d.pb" % (prefix, index))
        with open(path, "wb") as file:
            file.write(numpy_helper.from_array(
                np.asarray(value), name).SerializeToString())


def run(path, folder, n, w):
    done = subprocess.run([PROGRAM, path, folder, "n=1..4=%d" % n,
                           "w=3..7=%d" % w], text=True, capture_output=True,
                          timeout=120)
    if done.returncode != 0:
        helper.fail("n=%d w=%d: status %d\n%s" % (n, w, done.returncode,
                                                  done.stderr))


def main():
    folder = helper.work_folder()
    path = os.path.join(folder, "model.onnx")
    model, names = build()
    for info in model.graph.output:  # their types are not checked here
        info.type.tensor_type.ClearField("shape")
    onnx.save(model, path)
    reference = ReferenceEvaluator(model)
    rng = np.random.default_rng(5)
    wrong = 0
    sizes = itertools.product((1, 2, 4), (3, 4, 7))
    for k, (n, w) in enumerate(sizes):
        x = rng.integers(-9, 9, size=(n, 6, w)).astype(np.float32)
        y = rng.integers(-9, 9, size=(n, 2, 3, w)).astype(np.float32)
        wanted = reference.run(None, {"x": x, "y": y})
        data = os.path.join(folder, "test_data_set_%d" % k)
        os.mkdir(data)
        write_tensors(data, "input", ("x", "y"), (x, y))
        write_tensors(data, "output", names, wanted)
        write_tensors(folder, "input", ("x", "y"), (x, y))
        run(path, folder, n, w)
        for index, (name, want) in enumerate(zip(names, wanted)):
            tensor = TensorProto()
            with open(os.path.join(folder, "output_%d.pb" % index),
                      "rb") as file:
                tensor.ParseFromString(file.read())
            got = numpy_helper.to_array(tensor)
            want = np.asarray(want)
            if got.shape != want.shape or not np.allclose(got, want):
                wrong += 1
                print("n=%d w=%d %s: %s, want %s" % (
                    n, w, name, got.shape, want.shape))
    print("%d outputs at 9 sizes, %d wrong" % (len(names), wrong))
    helper.tirc("test", path, "--dim", "n=1..4", "--dim", "w=3..7")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
