#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/matrix.py reports a model that agrees with its data sets by its error,
does not run it again while nothing changes, and reports a model that does not
agree as a failure."""
import os
import shutil
import sys

import onnx
from onnx import numpy_helper

import helper

DIGITS = os.path.join(helper.ROOT, "examples", "digits")


def matrix(top, status):
    return helper.execute(
        [sys.executable, os.path.join(helper.ROOT, "tests", "matrix.py"),
         "--target", "c99", "--build", "gcc-O2"], status,
        env=dict(os.environ, TIRC_SHARED=top,
                 XDG_CACHE_HOME=os.path.join(top, "cache"))).stdout


top = helper.work_folder()
folder = os.path.join(top, "models", "digits")
data = os.path.join(folder, "test_data_set_0")
shutil.copytree(os.path.join(DIGITS, "test_data_set_0"), data)
shutil.copy(os.path.join(DIGITS, "digits.onnx"),
            os.path.join(folder, "model.onnx"))
said = matrix(top, 0)
row = said.splitlines()[-1].split()
if row[0] != "digits" or float(row[1]) > 1e-3:
    helper.fail("a model that agrees is not reported so:\n" + said)
again = matrix(top, 0).splitlines()[-1].split()
if again[1] != row[1] + "=" or again[2] != "0.0s":
    helper.fail("a cell that passed is run again: " + " ".join(again))

path = os.path.join(data, "output_0.pb")
wrong = numpy_helper.to_array(onnx.load_tensor(path)) + 1
onnx.save_tensor(numpy_helper.from_array(wrong), path)
said = matrix(top, 1)
if "FAIL digits, c99, gcc-O2:" not in said:
    helper.fail("a model that does not agree is not reported so:\n" + said)
