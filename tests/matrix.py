#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every reference model through `tirc test` with every dialect, compiler and
set of flags; a table of the results.

    matrix.py [--only TEXT]... [--target NAME]... [--build NAME]... [--jobs N]
              [--timeout SECONDS]

--only keeps the models with TEXT in their name. A cell (a model, a dialect, a
build) that takes longer than --timeout, 20 minutes unless said, fails. Exit
status 1 if anything fails, 77 where the reference models are not."""
import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import cases
import helper

# What emitted code is built with: compiler and flags.
BUILDS = {
    "gcc-O2": ("gcc", "-O2"),
    "gcc-O3": ("gcc", "-O3"),
    "clang-O2": ("clang", "-O2"),
    "clang-O3": ("clang", "-O3"),
    "gcc-san": ("gcc", "-O2 -g -fsanitize=address,undefined "
                       "-fno-sanitize-recover=all"),
    # It takes minutes to optimise checked code that it unrolls as it is told.
    "clang-san": ("clang", "-O1 -g -fsanitize=address,undefined "
                           "-fno-sanitize-recover=all "
                           "-mllvm -pragma-unroll-threshold=1 "
                           "-Wno-pass-failed"),
}
TARGETS = ["c99", "c99-avx512", "gnu-c", "misra"]


def run(case, target, build, limit):
    """One cell: (whether it passed, what to print, seconds, what was said).
    A cell that takes more than `limit` seconds fails."""
    cc, flags = BUILDS[build]
    start = time.monotonic()
    child = subprocess.Popen(
        [helper.TIRC, "test", case.model, *case.data, *case.options,
         "--target", target, "--cc", cc, "--cflags", flags],
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    try:
        said = child.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # the compiler and the model, too
        said = child.communicate()[0]
        return False, "TIMEOUT", time.monotonic() - start, said
    seconds = time.monotonic() - start
    errors = [(float(error), float(most)) for error, most in re.findall(
        r"max abs ([^,]+),.*\(largest ([^)]+)\)", said)]
    if child.returncode != 0 or not errors:
        return False, "FAIL", seconds, said
    error, most = max(errors, key=lambda e: e[0] / e[1] if e[1] else e[0])
    word = "exact" if error == 0 else "%.1e" % (error / most if most else error)
    return True, word, seconds, said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1200)
    args = parser.parse_args()
    targets = args.target or TARGETS
    builds = [name for name in args.build or BUILDS
              if shutil.which(BUILDS[name][0])]
    columns = [(target, build) for target in targets for build in builds]
    print("Errors are relative to the largest output.")
    print("%-28s" % "" + " ".join("%15s" % t for t, _ in columns))
    print("%-28s" % "model" + " ".join("%15s" % b for _, b in columns),
          flush=True)
    bad = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case in cases.all_cases(args.only):
            cells = list(pool.map(
                lambda c: run(case, *c, args.timeout), columns))
            print("%-28s" % case.name + " ".join(
                "%8s %5.1fs" % (word, seconds)
                for _, word, seconds, _ in cells), flush=True)
            bad += [(case.name, *column, said)
                    for column, (passed, _, _, said) in zip(columns, cells)
                    if not passed]
            case.close()
    for name, target, build, said in bad:
        print("\nFAIL %s, %s, %s:\n%s" % (name, target, build, said))
    return 1 if bad else 0


sys.exit(main())
