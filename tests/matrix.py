#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every reference model through `tirc test` with every dialect, compiler and
set of flags; a table of the results. With threads, 1, 2 and 4 must give the
same bits, and ThreadSanitizer must find no race; OpenCL runs on the first device
there is (PoCL is one), CUDA on the CPU, by tests/gpu/cuda_on_cpu.h.

    matrix.py [--only TEXT]... [--target NAME]... [--build NAME]...
              [--jobs N] [--timeout SECONDS] [--runs N] [--fresh]
              [--byoc [BACKEND[,BACKEND]...]...]

--byoc tries backends instead, alone and together unless they are named, in
gnu-c, and each of their regions; those whose library is not installed are left
out, and said to be. Builds are those of BUILDS below; graph: as a graph, whose
bits are those of the other form; two, two-address, two-thread, two-valgrind: two
contexts in two threads, each --runs times (100), without a checker or under one
(exec/interface/contexts.py). --only keeps the models with TEXT in their name. Weights
whose text is larger than half a gigabyte, which takes a compiler up to 20 GB of
memory, are built by gcc-O2 alone; the other cells are "large". Those above a
quarter of a gigabyte are built one at a time. A cell (a model,
a dialect, a build) that takes longer than --timeout, 20 minutes unless said,
fails. A cell that passed before is not run again while the emitted files,
the data, the compiler and the flags are the same: its word gets a = behind it;
--fresh runs it nevertheless. Exit status 1 if anything fails, 77 where the
reference models are not."""
import argparse
import concurrent.futures
import contextlib
import functools
import glob
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing

import cases
import helper
import races

HERE = os.path.dirname(os.path.abspath(__file__))
GPU = os.path.join(HERE, "gpu")


class Build(typing.NamedTuple):
    """Compiler and flags (None: what the target says), the targets whose code
    is built so, and what runs the program."""
    cc: str
    flags: str
    targets: tuple = ("c99", "c99-avx512", "gnu-c", "misra")
    runner: str = ""


BUILDS = {
    "gcc-O2": Build("gcc", "-O2"),
    "gcc-O3": Build("gcc", "-O3"),
    "clang-O2": Build("clang", "-O2"),
    "clang-O3": Build("clang", "-O3"),
    # Checked code at -O1: at -O2 gcc takes up to ten minutes for unrolled loops
    # with checks, and so does clang where it unrolls as it is told.
    "gcc-san": Build("gcc", "-O1 -g -fsanitize=address,undefined "
                            "-fno-sanitize-recover=all"),
    "clang-san": Build("clang", "-O1 -g -fsanitize=address,undefined "
                                "-fno-sanitize-recover=all "
                                "-mllvm -pragma-unroll-threshold=1 "
                                "-Wno-pass-failed"),
    "1,2,4": Build("gcc", "-O2 -fopenmp -pthread", ("c-openmp", "c-threads"),
                   os.path.join(HERE, "each_count.sh") + " 1 2 4 --"),
    "races": Build(races.CC, races.FLAGS, ("c-openmp", "c-threads")),
    "device": Build("cc", None, ("opencl", "opencl-cpu")),
    "on-cpu": Build("g++", "-x c++ -std=c++14 -O2 -I%s -I%s" % (
        GPU, os.path.join(GPU, "toolkit")), ("cuda",)),
}
TARGETS = ["c99", "c99-avx512", "c99-avx2", "gnu-c", "misra", "c-openmp", "c-threads",
           "opencl", "opencl-cpu", "cuda"]
GRAPH_TARGETS = ["c99", "gnu-c"]
# As exec/interface/contexts.py calls the checkers.
CONTEXTS = {"two": "none", "two-address": "address", "two-thread": "thread",
            "two-valgrind": "valgrind"}
BYOC = ["dnnl", "cblas", "dnnl,cblas"]
LARGE_TEXT = 512 << 20  # bytes of weights in C
BIG = threading.Lock()  # held where a compiler takes much memory
BYOC_BUILDS = ["gcc-O2", "gcc-san", *CONTEXTS]


def call(command, limit, environment=None):
    """(what was said; exit status, or None after `limit` seconds)"""
    child = subprocess.Popen(
        command, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True, env=environment)
    try:
        return child.communicate(timeout=limit)[0], child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # the compiler and the model, too
        return child.communicate()[0], None


def memory_folder():
    top = os.environ.get("XDG_CACHE_HOME") or os.path.join(
        os.path.expanduser("~"), ".cache")
    path = os.path.join(top, "tirc", "matrix")
    os.makedirs(path, exist_ok=True)
    return path


@functools.lru_cache(maxsize=None)
def version(compiler):
    return call([compiler, "--version"], 60)[0]


def add_files(digest, top):
    for path in sorted(glob.glob(os.path.join(top, "**"), recursive=True)):
        if os.path.isfile(path):
            digest.update(os.path.relpath(path, top).encode())
            with open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())


def data_sets(case, build):
    """The data sets that the cell runs: sanitized code, ten times as slow, runs
    the first two of those that a case brings for its sizes."""
    return case.data[:2] if build.endswith("-san") else case.data


def weights_text(folder):
    """The bytes of the weights in C."""
    return sum(os.path.getsize(path) for path in
               glob.glob(os.path.join(folder, "*_weights.c*")))


def cell_key(case, target, build):
    """A digest of everything that the cell's result depends on: the emitted
    files, the data, the compiler, the flags, and the headers that stand for the
    devices; and the bytes of the weights in C. None where tirc does not compile
    the model."""
    text = 0
    how = BUILDS.get(build)
    digest = hashlib.sha256(repr((target, build, how and how.flags, how and
                                  version(how.cc))).encode())
    forms = ["aot", "graph"] if build == "graph" else ["aot"]
    for form in forms:
        with tempfile.TemporaryDirectory(prefix="tirc-matrix-") as folder:
            if call([helper.TIRC, "compile", case.model, "-q", "-o", folder,
                     "--name", "m", "--target", target, "--form", form,
                     *case.options], 600)[1] != 0:
                return None, 0
            text = max(text, weights_text(folder))
            add_files(digest, folder)
    for data in data_sets(case, build) or glob.glob(os.path.join(
            os.path.dirname(case.model), "test_data_set_*")):
        add_files(digest, data)
    add_files(digest, GPU)
    return digest.hexdigest(), text


def remembered(case, target, build, byoc, args):
    """The same as run(), unless the cell passed before."""
    key, text = (None, 0) if byoc or build in CONTEXTS else \
        cell_key(case, target, build)
    path = key and os.path.join(memory_folder(), key)
    if path and not args.fresh and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return True, json.load(file) + "=", 0.0, ""
    if text > LARGE_TEXT and build in BUILDS and build != "gcc-O2":
        return True, "large", 0.0, ""
    with BIG if text > LARGE_TEXT / 2 else contextlib.nullcontext():
        result = run(case, target, build, byoc, args)
    if path and result[0]:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result[1], file)
    return result


def run(case, target, build, byoc, args):
    """One cell: (whether it passed, what to print, seconds, what was said).
    A cell that takes more than args.timeout seconds fails."""
    backends = [word for name in filter(None, byoc.split(","))
                for word in ("--byoc", name)]
    if build == "graph":
        return run_script(case, target, args.timeout, "graph_form.py",
                          ["--cflags", "-O2"], "same")
    if build in CONTEXTS:
        return run_script(case, target, args.timeout, "contexts.py",
                          ["--under", CONTEXTS[build], "--runs",
                           str(args.runs), *backends], "clean")
    how, environment = BUILDS[build], None
    start = time.monotonic()
    command = [helper.TIRC, "test", case.model, *data_sets(case, build),
               *case.options, *backends]
    if build == "races":
        command += races.options(target)
        environment = races.environment(4)
    else:
        command += ["--target", target, "--cc", how.cc]
        if how.flags is not None:
            command += ["--cflags", how.flags]
    if how.runner:
        command += ["--runner", how.runner]
    said, status = call(command, args.timeout, environment)
    if byoc and status == 0:
        more, status = call(command + ["--each-region"], args.timeout)
        said += more
    seconds = time.monotonic() - start
    if status is None:
        return False, "TIMEOUT", seconds, said
    errors = [float(error) for error in
              re.findall(r"max abs ([^,]+),", said)]
    errors += [0.0] * len(re.findall(r" elements? equal$", said, re.M))
    if status != 0 or not errors:
        return False, "FAIL", seconds, said
    word = "%.1e" % max(errors) if any(errors) else "exact"
    return True, word, seconds, said


def installed(byoc):
    """The sets of backends whose libraries there are. What fails with one that
    is there is the cells' to show."""
    kept = []
    for names in byoc:
        missing = [name for name, library in helper.LIBRARIES.items()
                   if name in names.split(",")
                   and not helper.has_library(*library)]
        if missing:
            print("left out: %s: no library for %s" % (
                names, ", ".join(missing)))
        else:
            kept.append(names)
    return kept


def builds_target(build, target):
    """Is the target's code built so? That of targets in C which no build names,
    and by those that are tests of exec/, as c99's is."""
    if build == "graph":
        return False  # a column by itself
    named = any(target in how.targets for how in BUILDS.values())
    how = BUILDS.get(build, BUILDS["gcc-O2"])
    return (target if named else "c99") in how.targets


def can_build(build, targets):
    """Is there all that it takes? What is left out for lack of it is told."""
    if not any(builds_target(build, target) for target in targets):
        return False
    needed = BUILDS[build].cc if build in BUILDS else \
        "valgrind" if build == "two-valgrind" else "gcc"
    why = None
    if shutil.which(needed) is None:
        why = needed + " is not installed"
    elif build == "races":
        why = races.missing()
    elif build == "device" and not os.path.exists("/usr/include/CL/cl.h"):
        why = "the OpenCL headers are not installed"
    if why:
        print("left out: %s: %s" % (build, why))
    return why is None


def run_script(case, target, limit, name, options, good):
    """The same, by a test of exec/interface/: `good` is the word for that it
    passed."""
    start = time.monotonic()
    tests = os.path.dirname(os.path.abspath(__file__))
    said, status = call(
        ["env", "PYTHONPATH=" + tests, sys.executable,
         os.path.join(tests, "exec", "interface", name), case.name,
         "--target", target, *options], limit)
    word = "TIMEOUT" if status is None else good if status == 0 else "FAIL"
    return status == 0, word, time.monotonic() - start, said


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--build", action="append", default=[],
                        choices=[*BUILDS, "graph", *CONTEXTS])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1200)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--byoc", nargs="*")
    args = parser.parse_args()
    targets = args.target or (TARGETS if args.byoc is None else ["gnu-c"])
    builds = [name for name in args.build or
              (BUILDS if args.byoc is None else BYOC_BUILDS)
              if can_build(name, targets)]
    columns = [(target, build, "") for target in targets for build in builds
               if builds_target(build, target)]
    if args.byoc is not None:
        columns = [(target, build, byoc) for byoc in
                   installed(args.byoc or BYOC)
                   for target, build, _ in columns]
    elif shutil.which("gcc") and (not args.build or "graph" in args.build):
        columns += [(target, "graph", "") for target in targets
                    if target in GRAPH_TARGETS]
    # What OpenCL's compilers keep of kernels.
    os.environ["POCL_CACHE_DIR"] = helper.work_folder()
    print("Errors are the largest absolute errors of the outputs.")
    print("%-28s" % "" + " ".join("%16s" % (n or t) for t, _, n in columns))
    print("%-28s" % "model" + " ".join("%16s" % b for _, b, _ in columns),
          flush=True)
    bad = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case in cases.all_cases(args.only):
            cells = list(pool.map(
                lambda c: remembered(case, *c, args), columns))
            print("%-28s" % case.name + " ".join(
                "%9s %5.1fs" % (word, seconds)
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
