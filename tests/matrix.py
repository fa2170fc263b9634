#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every reference model through `tirc test` with every dialect, compiler and
set of flags; a table of the results.

    matrix.py [--only TEXT]... [--target NAME]... [--build NAME|graph]...
              [--jobs N] [--timeout SECONDS]
              [--byoc [BACKEND[,BACKEND]...]...]

--byoc tries backends instead, alone and together unless they are named, in
gnu-c, and each of their regions; those whose library is not installed are left
out, and said to be. --only keeps the models with TEXT in their name. A cell (a model, a dialect, a
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
import tempfile
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
# As graphs, whose bits are those of the other form.
GRAPH_TARGETS = ["c99", "gnu-c"]
BYOC = ["dnnl", "cblas", "dnnl,cblas"]
BYOC_BUILDS = ["gcc-O2", "gcc-san"]


def call(command, limit):
    """(what was said; exit status, or None after `limit` seconds)"""
    child = subprocess.Popen(
        command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return child.communicate(timeout=limit)[0], child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # the compiler and the model, too
        return child.communicate()[0], None


def run(case, target, build, limit, byoc=""):
    """One cell: (whether it passed, what to print, seconds, what was said).
    A cell that takes more than `limit` seconds fails."""
    if build == "graph":
        return run_graph(case, target, limit)
    cc, flags = BUILDS[build]
    start = time.monotonic()
    command = [helper.TIRC, "test", case.model, *case.data, *case.options,
               "--target", target, "--cc", cc, "--cflags", flags]
    for name in filter(None, byoc.split(",")):
        command += ["--byoc", name]
    said, status = call(command, limit)
    if byoc and status == 0:
        more, status = call(command + ["--each-region"], limit)
        said += more
    seconds = time.monotonic() - start
    if status is None:
        return False, "TIMEOUT", seconds, said
    errors = [(float(error), float(most)) for error, most in re.findall(
        r"max abs ([^,]+),.*\(largest ([^)]+)\)", said)]
    if status != 0 or not errors:
        return False, "FAIL", seconds, said
    error, most = max(errors, key=lambda e: e[0] / e[1] if e[1] else e[0])
    word = "exact" if error == 0 else "%.1e" % (error / most if most else error)
    return True, word, seconds, said


# What a program that uses a backend's library begins with.
LIBRARIES = {"dnnl": ("oneapi/dnnl/dnnl.h", "-ldnnl"),
             "cblas": ("cblas.h", "-lblas")}


def installed(byoc):
    """The sets of backends whose libraries there are. What fails with one that
    is there is the cells' to show."""
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "main.c")
        for names in byoc:
            missing = []
            for name in set(names.split(",")) & set(LIBRARIES):
                header, library = LIBRARIES[name]
                with open(source, "w", encoding="utf-8") as file:
                    file.write("#include <%s>\nint main(void) { return 0; }\n"
                               % header)
                said, status = call(["cc", source, library, "-o",
                                     os.path.join(folder, "main")], 60)
                if status != 0:
                    missing.append(name)
            if missing:
                print("left out: %s: no library for %s" % (
                    names, ", ".join(missing)))
            else:
                kept.append(names)
    return kept


def run_graph(case, target, limit):
    """The same: do both forms give the same bits?"""
    start = time.monotonic()
    tests = os.path.dirname(os.path.abspath(__file__))
    said, status = call(
        ["env", "PYTHONPATH=" + tests, sys.executable,
         os.path.join(tests, "exec", "graph_form.py"), case.name, "--target",
         target, "--cflags", "-O2"], limit)
    word = "TIMEOUT" if status is None else "same" if status == 0 else "FAIL"
    return status == 0, word, time.monotonic() - start, said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--build", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1200)
    parser.add_argument("--byoc", nargs="*")
    args = parser.parse_args()
    targets = args.target or (TARGETS if args.byoc is None else ["gnu-c"])
    builds = [name for name in args.build or
              (BUILDS if args.byoc is None else BYOC_BUILDS)
              if name in BUILDS and shutil.which(BUILDS[name][0])]
    columns = [(target, build, "") for target in targets for build in builds]
    if args.byoc is not None:
        columns = [(target, build, byoc) for byoc in
                   installed(args.byoc or BYOC)
                   for target, build, _ in columns]
    elif shutil.which("gcc") and (not args.build or "graph" in args.build):
        columns += [(target, "graph", "") for target in targets
                    if target in GRAPH_TARGETS]
    print("Errors are relative to the largest output.")
    print("%-28s" % "" + " ".join("%15s" % (n or t) for t, _, n in columns))
    print("%-28s" % "model" + " ".join("%15s" % b for _, b, _ in columns),
          flush=True)
    bad = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case in cases.all_cases(args.only):
            cells = list(pool.map(
                lambda c: run(case, c[0], c[1], args.timeout, c[2]),
                columns))
            print("%-28s" % case.name + " ".join(
                "%8s %5.1fs" % (word, seconds)
                for _, word, seconds, _ in cells), flush=True)
            bad += [(case.name, *column, said)
                    for column, (passed, _, _, said) in zip(columns, cells)
                    if not passed]
            case.close()
    for name, target, build, byoc, said in bad:
        print("\nFAIL %s, %s, %s%s:\n%s" % (
            name, target, build, ", " + byoc if byoc else "", said))
    return 1 if bad else 0


sys.exit(main())
