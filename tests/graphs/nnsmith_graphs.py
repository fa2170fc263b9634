# SPDX-License-Identifier: Apache-2.0
"""Graphs that nnsmith makes and PyTorch exports, as graphs of these tests.
nnsmith_make.py runs in a Python of its own, which TIRC_NNSMITH_PYTHON names."""
import base64
import io
import os
import subprocess

import numpy as np
import onnx
from onnx import numpy_helper

from maker import Graph, Tensor
from reference import Rejected

HERE = os.path.dirname(os.path.abspath(__file__))


class Maker:
    """A process that makes models; started when the first is asked for."""

    def __init__(self):
        self.child = None

    def start(self):
        self.child = subprocess.Popen(
            [os.environ["TIRC_NNSMITH_PYTHON"],
             os.path.join(HERE, "nnsmith_make.py")], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        if self.child.stdout.readline() != "ready\n":
            raise OSError("nnsmith_make.py does not start")

    def graph(self, seed, evaluator):
        """The graph of a seed, or None where nnsmith or PyTorch's exporter fails,
        or no reference computes a node."""
        if self.child is None:
            self.start()
        print(seed, file=self.child.stdin, flush=True)
        said = self.child.stdout.readline()
        if not said:
            raise OSError("nnsmith_make.py ended")
        if said.startswith("error:"):
            return None
        model, archive = (base64.b64decode(part) for part in said.split())
        with np.load(io.BytesIO(archive)) as given:
            return of_model(onnx.load_from_string(model), dict(given),
                            evaluator)


def of_model(model, given, evaluator):
    """The Graph of an onnx.ModelProto whose inputs have the given values; None
    where the references do not compute a node."""
    graph = Graph(model.opset_import[0].version)
    for tensor in model.graph.initializer:
        graph.tensors[tensor.name] = Tensor(
            tensor.name, numpy_helper.to_array(tensor), "constant")
    for name, value in given.items():
        graph.tensors[name] = Tensor(name, value, "input")
    for node in model.graph.node:
        if node.op_type == "Constant":
            graph.tensors[node.output[0]] = Tensor(
                node.output[0], numpy_helper.to_array(node.attribute[0].t),
                "constant")
        else:
            graph.nodes.append(node)
    evaluator.opset = graph.opset
    try:
        for name, value in evaluator.chain(graph, given).items():
            if name not in graph.tensors:
                graph.tensors[name] = Tensor(name, value, "result")
    except Rejected:
        return None
    made = {name for node in graph.nodes for name in node.output}
    graph.outputs = [o.name for o in model.graph.output if o.name in made]
    return graph
