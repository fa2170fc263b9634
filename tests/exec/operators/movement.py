#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, emitted, compiled without a warning and run:
random models whose data are inputs, against ONNX's reference."""
import argparse
import os
import sys

import helper

try:
    import onnx
    from onnx_data import write_data
    from onnx.reference import ReferenceEvaluator
    from movement_nodes import random_model
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()


def check(seed, only):
    folder = helper.work_folder()
    model, values, names = random_model(seed, True, 2, only)
    path = os.path.join(folder, "movement.onnx")
    onnx.save(model, path)
    write_data(folder, values.items(), zip(
        names, ReferenceEvaluator(model).run(None, values)))
    helper.tirc("test", path, "--rtol", "1e-4", "--atol", "1e-4")
    out = helper.compile_model(path)
    for cc in helper.compilers():
        for name in sorted(os.listdir(out)):
            if name.endswith(".c"):
                helper.execute([cc, "-std=c99", *helper.STRICT, "-O2",
                                "-I" + out, "-c", os.path.join(out, name),
                                "-o", os.path.join(folder, "a.o")])
    return len(model.graph.node)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--only", help="part of the name of a kind")
    args = parser.parse_args()
    nodes = 0
    for seed in range(args.seed, args.seed + args.count):
        nodes += check(seed, args.only)
    print("%d nodes" % nodes)


if __name__ == "__main__":
    sys.exit(main())
