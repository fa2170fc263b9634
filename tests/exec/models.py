#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One of the reference models through `tirc test`:

    models.py CASE [--heavy] [tirc options]

cases.py says what CASE may be; a visible skip where the models are not. A
heavy one is also skipped where tirc itself is built with sanitizers: what it
emits for them is the same, and the smaller models cover tirc."""
import sys

import cases
from helper import SANITIZED, skip, tirc, work_folder

name, arguments = sys.argv[1], sys.argv[2:]
if "--heavy" in arguments:
    arguments.remove("--heavy")
    if SANITIZED:
        skip("too heavy for a sanitized build")
if name.endswith(("_random", "_batches")):
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        skip("the Python package %s is not installed" % error.name)
case = cases.make(name, work_folder())
print(tirc("test", case.model, *case.data, *case.options, *arguments).stdout)
case.close()
