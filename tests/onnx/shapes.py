#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shapes.py: every tensor that onnx.shape_inference knows has the same type
and shape after import; for the shipped example and each reference model."""
import glob
import os

import onnx
from onnx import shape_inference

from helper import DIGITS, ROOT, execute, fail, shared

DUMP = os.environ["ONNX_DUMP"]
TYPES = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5,
         "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
         "uint32": 12, "uint64": 13}


def imported(path):
    lines = execute([DUMP, path]).stdout.splitlines()
    return {name: (TYPES[kind], dims) for name, kind, dims in
            (line.split("\t") for line in lines)}


def inferred(path):
    """Open sizes are 1, as the importer assumes of a batch."""
    model = onnx.load(path)
    constants = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        for dim in value.type.tensor_type.shape.dim:
            if dim.WhichOneof("value") != "dim_value":
                dim.dim_value = 1
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    model = shape_inference.infer_shapes(model, data_prop=True)
    for value in [*model.graph.value_info, *model.graph.output]:
        tensor = value.type.tensor_type
        dims = [d.dim_value if d.WhichOneof("value") == "dim_value" else -1
                for d in tensor.shape.dim]
        if tensor.HasField("shape") and -1 not in dims:
            yield value.name, tensor.elem_type, ",".join(map(str, dims))


def compare(path):
    ours = imported(path)
    compared, wrong = 0, []
    for name, kind, dims in inferred(path):
        # Constants, outputs that nobody uses and what upgrades replace
        # need not be there.
        if name not in ours:
            continue
        compared += 1
        if ours[name] != (kind, dims):
            wrong.append("%s: %s, onnx says %s" % (name, ours[name],
                                                   (kind, dims)))
    print("%4d tensors  %s" % (compared, path))
    if wrong:
        fail(path + "\n" + "\n".join(wrong[:10]))
    if compared == 0:
        fail("nothing to compare in " + path)


models = [DIGITS]
if shared():
    models += sorted(
        glob.glob(os.path.join(shared(), "models", "*", "model.onnx")) +
        glob.glob(os.path.join(shared(), "models", "*", "*_fp32",
                               "model.onnx")))
for path in models:
    compare(path)
