#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Integers that index or bound may have any value when a model runs: nothing is
read or written elsewhere, and the results are those that the manual states.

    out_of_range.py [TARGET …]

One model has each operator of the tables that takes integers, or floats that
become indices (hostile_nodes.py); each data set has one kind of hostile values.
tirc computes from the operators' definitions what is expected (evaluate_model), and
numpy agrees with what is documented. Then the emitted programs run under
AddressSanitizer and UBSan, c99 and one other target of TARGETS by turns."""
import os
import subprocess
import sys

import helper

try:
    import numpy as np
    import onnx
    import onnx.parser
    from onnx import numpy_helper
    import hostile_nodes
    from answers_model import arguments_of
except ImportError as missing:
    helper.skip(str(missing))

from onnx_data import write_data
from turns import all_turns, some, this_turn

PROGRAM = os.environ.get("EVALUATE_MODEL")
TARGETS = ["gnu-c", "misra", "c-openmp", "x86-64-v3", "cuda", "opencl-cpu"]
# What compiles for long: one of so many parts of the nodes, another one by turns.
PARTS = {"cuda": 3, "opencl-cpu": 6}
LACKS = {"misra": "BitCast"}  # what it cannot express
UNDEFINED = "-fsanitize=undefined,float-cast-overflow " \
    "-fno-sanitize-recover=all"
SANITIZE = "-fsanitize=address " + UNDEFINED
FLAGS = {"c99": "-std=c99 -O0", "gnu-c": "-std=gnu11 -O0 -march=native",
         "misra": "-std=c99 -O0", "c-openmp": "-std=c99 -O0 -fopenmp",
         "x86-64-v3": "-std=gnu11 -O0 -march=haswell"}


def evaluate(hostile, values):
    """What the definitions give: tensors by name."""
    folder = helper.work_folder()
    path = os.path.join(folder, "closed.onnx")
    onnx.save(hostile.proto(values), path)
    done = subprocess.run([PROGRAM, path, folder], text=True,
                          capture_output=True)
    if done.returncode != 0:
        helper.fail("evaluate_model: status %d: %s" % (done.returncode,
                                                       done.stderr))
    out = {}
    for k, name in enumerate(hostile.outputs):
        with open(os.path.join(folder, "output_%d.pb" % k), "rb") as file:
            out[name] = onnx.TensorProto.FromString(file.read())
    return out


def write(hostile, target, sets):
    """The path of the model for the target, with the data sets beside it."""
    path = os.path.join(helper.work_folder(), "hostile.onnx")
    parts = 1 if all_turns() else PARTS.get(target, 1)
    turn = this_turn()[0]
    hostile = hostile.part(lambda k, node: node.op_type != LACKS.get(target)
                           and (k + turn) % parts == 0)
    onnx.save(hostile.proto(), path)
    for number, (values, want) in enumerate(sets):
        write_data(os.path.dirname(path),
                   [(name, values[name]) for name in hostile.own],
                   [(name, want[name]) for name in hostile.outputs], number)
    return path


LOOP = """
<ir_version: 10, opset_import: ["" : 21]>
l (int64 most, float[3] x) => (float[3] y) <bool go = {1}> {
  y = Loop <body = b (int64 i, bool c, float[3] a) => (bool c2, float[3] z)
    <int64 two = {2}> { z = Add (a, x)  c2 = Less (i, two) }> (most, go, x)
}
"""


def write_loop():
    """A Loop whose condition ends it after three iterations, and its most
    iterations from data."""
    path = os.path.join(helper.work_folder(), "loop.onnx")
    onnx.save(onnx.parser.parse_model(LOOP), path)
    x = np.arange(3, dtype=np.float32)
    for number, most in enumerate([2 ** 63 - 1, -1, -2 ** 63, 2, 2 ** 32 + 1,
                                   2 ** 31, 2 - 2 ** 32]):
        write_data(os.path.dirname(path), [np.array(most), x],
                   [x * (1 + min(max(most, 0), 3))], number)
    return path


def sanitized(target):
    """The arguments of `tirc test`; None: what the target needs is not here."""
    arguments = arguments_of(target, quick=True)
    cc = helper.shutil.which("clang") or helper.shutil.which("gcc")
    if arguments is None or (target in FLAGS and cc is None) or (
            target == "x86-64-v3" and
            "avx2" not in helper.processor_features()):
        return None
    if target in FLAGS:
        return ["--target", target, "--cc", cc, "--cflags",
                "%s -w %s" % (FLAGS[target], SANITIZE)]
    if target == "cuda":  # whose threads have stacks that ASan does not know
        at = arguments.index("--cflags") + 1
        arguments[at] += " " + UNDEFINED
    return arguments


def main():
    hostile = hostile_nodes.make_hostile()
    missing = hostile_nodes.uncovered(hostile)
    if missing:
        helper.fail("no node of hostile_nodes.py has an integer input of: " +
                    ", ".join(missing))
    sets = []
    for kind in hostile_nodes.KINDS:
        values = hostile_nodes.data_of(hostile, kind)
        want = evaluate(hostile, values)
        hostile_nodes.check_documented(hostile, values, {
            name: numpy_helper.to_array(t) for name, t in want.items()})
        sets.append((values, want))
    print("%d nodes, %d inputs, %d of them hostile" % (
        len(hostile.nodes), len(hostile.own), len(hostile.wild)))
    loop = write_loop()
    for target in sys.argv[1:] or ["c99"] + some("out_of_range", TARGETS):
        arguments = sanitized(target)
        if arguments is not None:
            print("target " + target)
            helper.tirc("test", write(hostile, target, sets), *arguments)
            helper.tirc("test", loop, *arguments)


if __name__ == "__main__":
    main()
