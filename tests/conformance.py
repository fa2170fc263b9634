#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests, each by `tirc test`: those of single nodes, and the small
models that the onnx package brings. Prints those that fail with the first
line of what tirc said, those it refuses by operator or by reason, and the
totals. Exit status 1 if one fails."""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

import onnx

import helper
import onnx_nodes

CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
BROUGHT = os.path.join(os.path.dirname(onnx.__file__), "backend", "test",
                       "data")


def node_folder():
    """The node tests as files, written once per version of onnx."""
    top = os.path.join(CACHE, "tirc", "onnx-known-" + onnx.__version__)
    if not os.path.isdir(top):
        part = "%s.%d" % (top, os.getpid())
        onnx_nodes.write_all(part)
        try:
            os.rename(part, top)
        except OSError:  # another run was faster
            shutil.rmtree(part)
    return top


def collect(pattern):
    """{name: folder}, sorted by name."""
    found = {}
    for top in (node_folder(), os.path.join(BROUGHT, "simple"),
                os.path.join(BROUGHT, "pytorch-operator"),
                os.path.join(BROUGHT, "pytorch-converted")):
        for name in os.listdir(top) if os.path.isdir(top) else ():
            path = os.path.join(top, name)
            if pattern in name and os.path.exists(
                    os.path.join(path, "model.onnx")):
                found[name] = path
    return dict(sorted(found.items()))


def run(folder):
    """Gives the exit status (None: took too long) and what tirc said."""
    command = [helper.TIRC, "test", os.path.join(folder, "model.onnx")]
    tolerance = os.path.join(folder, "tolerance")
    if os.path.exists(tolerance):
        with open(tolerance) as file:
            rtol, atol = file.read().split()
        command += ["--rtol", rtol, "--atol", atol]
    try:
        done = subprocess.run(command, text=True, capture_output=True,
                              timeout=120, errors="replace",
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, "took more than 120 s"
    return done.returncode, done.stderr.strip() or done.stdout.strip()


def operators(folder):
    model = onnx.load(os.path.join(folder, "model.onnx"),
                      load_external_data=False)
    return sorted({node.op_type for node in model.graph.node})


def reason(text):
    """What tirc refused, without the names."""
    text = text.splitlines()[0]
    text = re.sub(r"^error: (\S+: )?(node \d+ )?", "", text)
    return re.sub(r"'[^']*'", "'…'", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="",
                        help="only tests with this in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", help="write `NAME result` lines here")
    args = parser.parse_args()

    tests = collect(args.pattern)
    results = {}
    refused = collections.Counter()
    reasons = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        said = pool.map(run, tests.values())
        for (name, folder), (status, text) in zip(tests.items(), said):
            if status == 0:
                results[name] = "passed"
            elif status == 1 and "not supported" in text:
                results[name] = "refused"
                refused[" ".join(operators(folder)[:4])] += 1
            elif status == 1 and text.startswith("error: "):
                results[name] = "refused"
                reasons[reason(text)] += 1
            else:
                results[name] = "failed"
                print("failed: %s (%s): %s" % (
                    name, status, text.splitlines()[0] if text else ""),
                    flush=True)
    if refused:
        print("operators not supported: " + ", ".join(
            "%s %d" % row for row in sorted(refused.items())))
    for text, count in sorted(reasons.items()):
        print("refused %d: %s" % (count, text))
    if args.list:
        with open(args.list, "w", encoding="utf-8") as file:
            for name, result in results.items():
                file.write("%s %s\n" % (name, result))
    count = collections.Counter(results.values())
    print("%d passed, %d failed, %d refused" % (
        count["passed"], count["failed"], count["refused"]))
    return 1 if count["failed"] or not tests else 0


sys.exit(main())
