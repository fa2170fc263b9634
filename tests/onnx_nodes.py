#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnx_nodes.py FOLDER: writes ONNX's own node tests, which the onnx package
brings as Python, to FOLDER/NAME/{model.onnx,tolerance,test_data_set_*}, the
form that `tirc test` reads. A test whose inputs or outputs are not plain
tensors gets a model but no data. Needs onnx and numpy."""
import os
import sys
import warnings

import onnx
from onnx import numpy_helper


def cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        try:
            return collect_testcases(None)
        except TypeError:
            return collect_testcases()


def write_tensors(folder, prefix, infos, values):
    for index, (info, value) in enumerate(zip(infos, values)):
        tensor = value if isinstance(value, onnx.TensorProto) \
            else numpy_helper.from_array(value, info.name)
        path = os.path.join(folder, "%s_%d.pb" % (prefix, index))
        with open(path, "wb") as file:
            file.write(tensor.SerializeToString())


def write_case(folder, case):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(case.model.SerializeToString())
    with open(os.path.join(folder, "tolerance"), "w") as file:
        file.write("%r %r\n" % (case.rtol, case.atol))
    graph = case.model.graph
    if not all(info.type.HasField("tensor_type")
               for info in list(graph.input) + list(graph.output)):
        return
    for index, (inputs, outputs) in enumerate(case.data_sets):
        data = os.path.join(folder, "test_data_set_%d" % index)
        os.makedirs(data, exist_ok=True)
        write_tensors(data, "input", graph.input, inputs)
        write_tensors(data, "output", graph.output, outputs)


def write_all(top):
    for case in cases():
        write_case(os.path.join(top, case.name), case)


if __name__ == "__main__":
    write_all(sys.argv[1])
