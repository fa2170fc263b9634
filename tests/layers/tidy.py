#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py BUILD: clang-tidy, that of Debian 12, has nothing to say about the
sources of ir, passes and gen, a third of them after each commit; .clang-tidy lists
the checks."""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import turns
from compile_command import ROOT, sources

VERSION = "14."
PARTS = 3  # of which a run takes one


def main():
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    found = tool and re.search(r"version (\S+)", subprocess.run(
        [tool, "--version"], text=True, capture_output=True).stdout)
    if not found or not found[1].startswith(VERSION):
        print("skipped: needs clang-tidy %sx, found %s"
              % (VERSION, found[1] if found else "none"))
        return 77
    files = [path for layer in ("ir", "passes", "gen")
             for path in sources(layer, (".c",))
             if 0 in turns.some(path, range(PARTS))]
    chunks = [files[i:i + 30] for i in range(0, len(files), 30)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda chunk: subprocess.run(
            [tool, "--quiet", "-p", sys.argv[1]] + chunk, cwd=ROOT,
            text=True, capture_output=True), chunks))
    for one in done:
        if one.returncode != 0:
            print(one.stdout + one.stderr)
    return 1 if any(one.returncode for one in done) else 0


sys.exit(main())
