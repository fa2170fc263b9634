#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One of the reference models through `tirc test`:

    models.py CASE [tirc options]

cases.py says what CASE may be; a visible skip where the models are not. A
sanitized tirc only writes the source: what the source computes does not depend
on how tirc was compiled."""
import os
import sys

import cases
import turns
from helper import compile_model, skip, tirc, work_folder

name, arguments = sys.argv[1], sys.argv[2:]
if name.endswith(("_random", "_batches")):
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        skip("the Python package %s is not installed" % error.name)
case = cases.make(name, work_folder())
if os.environ.get("TIRC_SANITIZED"):
    target = arguments.index("--target")
    compile_model(case.model, *case.options, *arguments[target:target + 2])
else:
    # The sizes of a symbolic one take turns: each alone is all of the network.
    data = turns.some(name, case.data, 1)
    print(tirc("test", case.model, *data, *case.options,
               *arguments).stdout)
case.close()
