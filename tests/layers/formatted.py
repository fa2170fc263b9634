#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""formatted.py [--write]: every C file lies as .clang-format says; --write
formats those that do not. Versions of clang-format differ in details: the
files are held against that of Debian 12."""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
VERSION = "14."
FOLDERS = ("ir", "passes", "gen", "runtime-c", "examples", "tests")
# Emitted files that a test compares with are kept as tirc prints them.
EMITTED = re.compile(r"(^|/)(golden/[^/]+|expected)(/|$)")


def c_files():
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            inside = os.path.relpath(where, ROOT)
            if not EMITTED.search(inside):
                for name in names:
                    if name.endswith((".c", ".h")):
                        yield os.path.join(inside, name)


def main():
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    found = tool and re.search(r"version (\S+)", subprocess.run(
        [tool, "--version"], text=True, capture_output=True).stdout)
    if not found or not found[1].startswith(VERSION):
        print("skipped: needs clang-format %sx, found %s"
              % (VERSION, found[1] if found else "none"))
        return 77
    how = ["-i"] if "--write" in sys.argv[1:] else ["--dry-run", "--Werror"]
    files = sorted(c_files())
    chunks = [files[i:i + 40] for i in range(0, len(files), 40)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda chunk: subprocess.run(
            [tool] + how + chunk, cwd=ROOT, text=True, capture_output=True),
            chunks))
    wrong = sorted({line.split(":")[0] for one in done
                    for line in one.stderr.splitlines()
                    if "clang-format-violations" in line})
    if wrong:
        print("not formatted (./run format mends it): " + " ".join(wrong))
    return 1 if any(one.returncode for one in done) else 0


sys.exit(main())
