#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with arrays print what Python prints with NumPy 2, which is to be
installed: the same as as_python.py, else skipped."""
import runpy
import sys

import numpy

if int(numpy.__version__.split(".")[0]) < 2:
    print("skipped: NumPy", numpy.__version__, "prints numbers in other ways")
    sys.exit(77)
runpy.run_path(sys.argv[1].replace("arrays.py", "as_python.py"),
               run_name="__main__")
