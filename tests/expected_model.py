# SPDX-License-Identifier: Apache-2.0
"""Models with their inputs and with what they give, for `tirc test`."""
import os

import numpy as np
from onnx import helper, numpy_helper

import turns
from helper import STRICT_C, fail, tirc, work_folder
from onnx_data import write_data

# Those that compute sizes and sums in ways of their own.
TARGETS = ["c99", "gnu-c", "misra", "c-openmp"]


class Model:
    """Nodes over shared inputs, and what each gives."""

    opset = 18

    def __init__(self, **inputs):
        self.nodes, self.constants, self.want = [], [], {}
        self.inputs, self.shapes = inputs, {}

    def constant(self, value):
        name = "c%d" % len(self.constants)
        self.constants.append(numpy_helper.from_array(np.array(value), name))
        return name

    def add(self, op, inputs, *want, **attributes):
        """Constants stand for themselves; "" is absent."""
        names = [i if isinstance(i, str) else self.constant(i)
                 for i in inputs]
        outputs = ["y%d_%d" % (len(self.nodes), k) for k in range(len(want))]
        self.nodes.append(helper.make_node(op, names, outputs, **attributes))
        for name, value in zip(outputs, want):
            if value is not None:
                self.want[name] = value
        return outputs[0]

    def sizes(self, x, *want):
        """x has these sizes; it is not computed."""
        self.add("Neg", [self.add("Shape", [x], None)], -np.array(want, np.int64))

    def write(self):
        folder = work_folder()
        graph = helper.make_graph(
            self.nodes, "ends",
            [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(x.dtype),
                self.shapes.get(name, x.shape))
             for name, x in self.inputs.items()],
            [helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(y.dtype), None)
             for name, y in self.want.items()], self.constants)
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(helper.make_model(graph, opset_imports=[
                helper.make_opsetid("", self.opset)]).SerializeToString())
        write_data(folder, list(self.inputs.items()), list(self.want.items()))
        return path

    def test(self, *options):
        path = self.write()
        case = "%s %s" % (sorted(self.want), self.nodes)
        for target in turns.first_and_some(
                case, TARGETS if not options else TARGETS[:2]):
            quick = STRICT_C if target in ("c99", "misra") else []
            tirc("test", path, "--target", target, *quick, *options)

    def refuse(self, *words):
        said = tirc("compile", self.write(), "-o", work_folder(),
                    status=1).stderr
        for word in words:
            if word not in said:
                fail("no '%s' in: %s" % (word, said))
