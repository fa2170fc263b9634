#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reference models through `tirc test`:

    models.py NAME [--random] [tirc options]

NAME is a folder of the reference models (a visible skip where they are not);
--random gives a light model real weights first (needs onnx and numpy)."""
import os
import sys

from helper import execute, shared, shared_model, skip, tirc, work_folder

arguments = sys.argv[1:]
name = arguments.pop(0)
folder = shared_model(name)
model = os.path.join(folder, "model.onnx")
data = []
if "--random" in arguments:
    arguments.remove("--random")
    try:
        import onnx  # noqa: F401
    except ImportError:
        skip("the Python package onnx is not installed")
    model = os.path.join(work_folder(), os.path.basename(name) + ".onnx")
    execute([sys.executable, os.path.join(shared(), "models", "randomize.py"),
             os.path.join(folder, "model.onnx"), model])
    data = [os.path.join(folder, "random_seed0", "test_data_set_0")]
if os.path.basename(name) == "super_resolution":
    if "--dim" not in arguments:
        arguments += ["--dim", "batch_size=1"]
if os.path.basename(name) == "ad01_fp32":
    # Ill-conditioned as published: 1e-2 on outputs of range 62 is rounding.
    arguments += ["--atol", "1e-2"]
print(tirc("test", model, *data, *arguments).stdout)
