#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a model declares of its outputs: a shape that the nodes do not give is a
warning, an output that is listed twice is two outputs, and sizes of Split that are
an input are compared with the declared shapes of its parts."""
import os

import helper
import turns
from helper import fail, tirc, work_folder

try:
    import numpy as np
    import onnx
    from onnx import helper as make
    from answers_model import arguments_of
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

X = np.arange(-3, 3, dtype=np.float32).reshape(2, 3)


def check(nodes, inputs, outputs, declared, *options, words=(), refused=""):
    """outputs: names with arrays; declared: the shapes of the model."""
    graph = make.make_graph(
        nodes, "declared",
        [make.make_tensor_value_info(n, make.np_dtype_to_tensor_dtype(a.dtype),
                                     a.shape) for n, a in inputs],
        [make.make_tensor_value_info(n, 1, shape)
         for (n, _), shape in zip(outputs, declared)])
    path = os.path.join(work_folder(), "declared.onnx")
    onnx.save(make.make_model(graph, ir_version=9, opset_imports=[
        make.make_opsetid("", 17)]), path)
    write_data(os.path.dirname(path), inputs, outputs)
    for target in turns.first_and_some(str(nodes), (
            "c99", "gnu-c", "misra", "opencl-cpu")):
        arguments = arguments_of(target, quick=True)
        if arguments is None:
            continue
        seen = tirc("test", path, *arguments, *options,
                    status=1 if refused else 0)
        if refused and refused not in seen.stdout + seen.stderr:
            fail(seen.stdout + seen.stderr)
    seen = tirc("compile", path, "-o", work_folder(), *options)
    for word in words:
        if word not in seen.stdout + seen.stderr:
            fail("%r is not in\n%s" % (word, seen.stdout + seen.stderr))


# Ranks and sizes.
check([make.make_node("ReduceMean", ["x"], ["y"], keepdims=0)], [("x", X)],
      [("y", X.mean())], [[1]],
      words=["output 'y'", "as [1], but the nodes give []", "is ignored"])
check([make.make_node("Relu", ["x"], ["y"])], [("x", X)],
      [("y", np.maximum(X, 0))], [[2, 4]],
      words=["as [2, 4], but the nodes give [2, 3]"])

# Twice, and three times, also an input.
relu = ("y", np.maximum(X, 0))
check([make.make_node("Relu", ["x"], ["y"])], [("x", X)], [relu, relu],
      [[2, 3], [2, 3]], words=["output   y_1"])
check([make.make_node("Relu", ["x"], ["y"]), make.make_node("Neg", ["x"], ["y_2"])],
      [("x", X)], [relu, relu, ("x", X), relu, ("y_2", -X), ("x", X)],
      [[2, 3]] * 6)

# Split by an input.
split = [make.make_node("Split", ["x", "s"], ["a", "b"], axis=1)]
given = [("x", X), ("s", np.array([1, 2], np.int64))]
parts = [("a", X[:, :1]), ("b", X[:, 1:])]
check(split, given, parts, [[2, 1], [2, 2]], words=["the sizes in 's' are those"])
check(split, given, parts, [[2, "m"], [2, "n"]])
check(split, given, parts, [[2, "m"], [2, "n"]], "--bound", "s=0..3")
check(split, given, parts, [[2, 1], [2, 2]], "--const-input", "s=1,2")
wrong = [("x", X), ("s", np.array([2, 1], np.int64))]
check(split, wrong, parts, [[2, 1], [2, 2]], refused="failed with status 5")
for sizes in ([2, 2], [4, -1], [1 << 32 | 1, 2]):
    wrong = [("x", X), ("s", np.array(sizes, np.int64))]
    check(split, wrong, parts, [[2, "m"], [2, "n"]], refused="failed with status 5")
