#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is plain Python in a program prints what Python prints: the files
given are run both ways."""
import difflib
import os
import subprocess
import sys

failed = False
for path in sys.argv[1:]:
    want = subprocess.run([sys.executable, path], text=True, check=True,
                          capture_output=True).stdout
    got = subprocess.run([os.environ["TIRC"], "lower", path], text=True,
                         capture_output=True)
    sys.stdout.write(got.stderr)
    diff = list(difflib.unified_diff(want.splitlines(True),
                                     got.stdout.splitlines(True),
                                     "python", "tirc"))
    sys.stdout.writelines(diff)
    failed |= bool(diff) or got.returncode != 0
sys.exit(failed)
