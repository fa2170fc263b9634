#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""execute_shared.py EXECUTE FOLDER CC [TARGET]: runs the programs beside the
repository as execute.c does. Skips where they are absent."""
import glob
import os
import subprocess
import sys

import helper

HERE = os.path.dirname(os.path.abspath(__file__))
programs = os.environ.get("TIRC_PROGRAMS", os.path.join(
    HERE, "..", "..", "..", "shared", "programs"))
paths = [path for path in sorted(glob.glob(os.path.join(programs, "*.py")))
         if not helper.lacks_target(path)]
if not paths:
    print("skipped: there are no programs in " + os.path.normpath(programs))
    sys.exit(77)
execute, folder, cc, *target = sys.argv[1:]
failed = 0
for path in paths:
    name = os.path.basename(path)[:-3]
    failed += subprocess.run([os.path.abspath(execute),
                              os.path.join(folder, name), cc, path, *target],
                             check=False).returncode != 0
sys.exit(failed != 0)
