#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, on random shapes and attributes, against
ONNX's reference: one model of many nodes goes through evaluate_model. The
seed is fixed; --seed N takes another, --count N as many models."""
import argparse
import os
import subprocess
import sys

import helper

try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
    from onnx.reference import ReferenceEvaluator
    from movement_nodes import random_model
except ImportError as missing:
    helper.skip(str(missing))

PROGRAM = os.environ.get("EVALUATE_MODEL")


def describe(model, name):
    node = next(n for n in model.graph.node if name in n.output)
    constants = [numpy_helper.to_array(i) for i in model.graph.initializer
                 if i.name in node.input]
    return "%s\n%s" % (onnx.printer.to_text(node), constants)


def run(seed, folder):
    """Runs one model; gives the number of nodes and of wrong results."""
    model, _, names = random_model(seed)
    wanted = ReferenceEvaluator(model).run(None, {})
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    done = subprocess.run([PROGRAM, path, folder], text=True,
                          capture_output=True, timeout=300)
    if done.returncode != 0:
        print("seed %d: status %d: %s" % (seed, done.returncode,
                                          done.stderr.strip()))
        return len(model.graph.node), 1
    wrong = 0
    for index, (name, want) in enumerate(zip(names, wanted)):
        tensor = onnx.TensorProto()
        with open(os.path.join(folder, "output_%d.pb" % index), "rb") as file:
            tensor.ParseFromString(file.read())
        got = numpy_helper.to_array(tensor)
        if got.shape != want.shape or not np.allclose(got, want, 1e-4, 1e-4):
            wrong += 1
            print("seed %d: %s: %s, want %s\n%s" % (
                seed, name, got, want, describe(model, name)))
    return len(model.graph.node), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=4)
    args = parser.parse_args()
    folder = helper.work_folder()
    nodes = wrong = 0
    for seed in range(args.seed, args.seed + args.count):
        n, bad = run(seed, folder)
        nodes += n
        wrong += bad
    print("%d nodes, %d wrong" % (nodes, wrong))
    return 1 if wrong or not nodes else 0


if __name__ == "__main__":
    sys.exit(main())
