#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""node_models.py FOLDER: writes the models of ONNX's own node tests that are
small, as seeds of the fuzzers that read models. Needs onnx and numpy."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from onnx_nodes import cases

os.makedirs(sys.argv[1], exist_ok=True)
for case in cases():
    data = case.model.SerializeToString()
    if len(data) < 3000:
        with open(os.path.join(sys.argv[1], case.name + ".onnx"), "wb") as file:
            file.write(data)
