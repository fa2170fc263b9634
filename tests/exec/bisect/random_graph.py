#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A random graph that fails is reduced, and `tirc bisect` names the pass, here one
with a fault that is planted (faults.c)."""
import os
import sys
import tempfile

import helper

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    helper.skip(str(missing))

import graphs
import shrink
from maker import Maker
from reference import Evaluator

TARGET = "c99"


def main():
    if graphs.native.missing(TARGET):
        helper.skip(graphs.native.missing(TARGET) + " is not installed")
    os.environ["TIRC_FAULT"] = "graph_views Exp op Sigmoid"
    evaluator = Evaluator()
    maker = Maker(np.random.default_rng(0), evaluator)
    maker.graph.symbolic = False
    x = maker.add(np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4), "input")
    t = maker.node("Transpose", [maker.node("Neg", [x], 1)], 1, perm=[1, 0])
    maker.graph.outputs = [maker.node("Abs", [maker.node("Exp", [t], 1)], 1)]

    def attempt(graph):
        return graphs.try_graph(graph, TARGET, evaluator)

    result = attempt(maker.graph)
    if result.what != "failed":
        helper.fail("the fault changes nothing: " + result.text)
    graph, result = shrink.smallest(maker.graph, result, attempt)
    with tempfile.TemporaryDirectory(prefix="tirc-graph-") as folder:
        shown = graphs.explained(graph, result, TARGET, evaluator, folder)
    print(shown)
    if len(graph.nodes) != 1 or "pass views made" not in shown or \
            "node Sigmoid" not in shown or "minimal.onnx" not in shown:
        helper.fail("the fault is not named")


if __name__ == "__main__":
    sys.exit(main())
