#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Integers that index or bound may have any value when a model runs: nothing is
read or written elsewhere, and the results are those that the manual states.

    out_of_range.py [TARGET …]

One model has each operator of the tables that takes integers, or floats that
become indices (hostile_nodes.py); each data set has one kind of hostile values.
The interpreter, which checks every index of every dimension, computes what is
expected: of the documented results, the numbers of numpy agree. Then the emitted
programs run under AddressSanitizer and UBSan, c99 and one other target of
TARGETS by turns."""
import os
import subprocess
import sys

import helper

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    import hostile_nodes
    from answers_model import arguments_of
except ImportError as missing:
    helper.skip(str(missing))

from onnx_data import write_data
from turns import some

PROGRAM = os.environ.get("EVALUATE_MODEL")
TARGETS = ["gnu-c", "misra", "c-openmp", "x86-64-v3", "cuda", "opencl-cpu"]
LACKS = {"misra": "BitCast"}  # what it cannot express
UNDEFINED = "-fsanitize=undefined,float-cast-overflow " \
    "-fno-sanitize-recover=all"
SANITIZE = "-fsanitize=address " + UNDEFINED
FLAGS = {"c99": "-std=c99 -O0", "gnu-c": "-std=gnu11 -O0 -march=native",
         "misra": "-std=c99 -O0", "c-openmp": "-std=c99 -O0 -fopenmp",
         "x86-64-v3": "-std=gnu11 -O0 -march=haswell"}


def evaluate(hostile, values):
    """What the interpreter computes: tensors by name."""
    folder = helper.work_folder()
    path = os.path.join(folder, "closed.onnx")
    onnx.save(hostile.proto(values), path)
    done = subprocess.run([PROGRAM, path, folder], text=True,
                          capture_output=True)
    if done.returncode != 0:
        helper.fail("the interpreter: " + done.stderr)
    out = {}
    for k, name in enumerate(hostile.outputs):
        with open(os.path.join(folder, "output_%d.pb" % k), "rb") as file:
            out[name] = onnx.TensorProto.FromString(file.read())
    return out


def write(hostile, target, sets):
    """The path of the model for the target, with the data sets beside it."""
    path = os.path.join(helper.work_folder(), "hostile.onnx")
    if target in LACKS:
        hostile = hostile.without(LACKS[target])
    onnx.save(hostile.proto(), path)
    for number, (values, want) in enumerate(sets):
        write_data(os.path.dirname(path),
                   [(name, values[name]) for name in hostile.own],
                   [(name, want[name]) for name in hostile.outputs], number)
    return path


def sanitized(target):
    """The arguments of `tirc test`; None: what the target needs is not here."""
    arguments = arguments_of(target)
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
        arguments[at] += " -O0 " + UNDEFINED
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
    for target in sys.argv[1:] or ["c99"] + some("out_of_range", TARGETS):
        arguments = sanitized(target)
        if arguments is not None:
            print("target " + target)
            helper.tirc("test", write(hostile, target, sets), *arguments)


if __name__ == "__main__":
    main()
