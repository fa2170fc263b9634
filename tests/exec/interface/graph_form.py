#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--form graph gives, bit for bit, what the functions of --form aot give:

    graph_form.py CASE [tirc options]

CASE is a name that cases.py knows, or digits."""
import glob
import os
import sys

import cases
from helper import DIGITS, fail, need, skip, tirc, work_folder

name, arguments = sys.argv[1], sys.argv[2:]
if name.endswith(("_random", "_batches")):
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        skip("the Python package %s is not installed" % error.name)
need("gcc")
folder = work_folder()
case = cases.Case(name, DIGITS) if name == "digits" \
    else cases.make(name, folder)
data = case.data or sorted(glob.glob(os.path.join(
    os.path.dirname(case.model), "test_data_set_*")))
given = {}
for path in data if name.endswith("_batches") else data[:1]:
    inputs = sorted(glob.glob(os.path.join(path, "input_*.pb")),
                    key=lambda p: int(p.rsplit("_", 1)[1][:-3]))
    given[path] = [word for one in inputs for word in ("--input", one)]
if not given:
    given[""] = []
for path, inputs in given.items():
    results = []
    for form in ("aot", "graph"):
        out = os.path.join(folder, form + ".npz")
        tirc("run", case.model, *case.options, *inputs, "--form", form,
             "--output", out, "-q", "--cc", "gcc", *arguments)
        with open(out, "rb") as file:
            results.append(file.read())
    if results[0] != results[1]:
        fail("%s: the graph's results differ" % (path or name))
print("%s: %d data set%s, the same bits" % (
    name, len(given), "" if len(given) == 1 else "s"))
case.close()
