#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""conformance.py [PATTERN] [--jobs N] [--list FILE]: ONNX's own node tests,
as the onnx package brings them, each by `tirc test`. Prints those that fail
with the first line of what tirc said, those it refuses by operator, and the
totals. PATTERN is part of the tests' names. Exit status 1 if one fails."""
import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys

import onnx

import helper

NODES = os.path.join(os.path.dirname(onnx.__file__), "backend", "test",
                     "data", "node")


def run(name):
    model = os.path.join(NODES, name, "model.onnx")
    try:
        done = subprocess.run([helper.TIRC, "test", model], text=True,
                              capture_output=True, timeout=120,
                              errors="replace", stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return name, None, "took more than 120 s"
    text = done.stderr.strip() or done.stdout.strip()
    return name, done.returncode, text


def operators(name):
    graph = onnx.load(os.path.join(NODES, name, "model.onnx"),
                      load_external_data=False).graph
    return sorted({node.op_type for node in graph.node})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", help="write `NAME result` lines here")
    args = parser.parse_args()
    if not os.path.isdir(NODES):
        sys.exit("this onnx package brings no node tests: " + NODES)
    names = sorted(n for n in os.listdir(NODES) if args.pattern in n)

    passed, failed, refused = [], [], []
    results = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, status, text in pool.map(run, names):
            lines = [line for line in text.splitlines() if line.strip()]
            first = lines[0] if lines else ""
            if status == 0:
                passed.append(name)
                results[name] = "passed"
            elif status == 1 and "not supported" in text:
                refused.append(name)
                results[name] = "refused"
            else:
                failed.append(name)
                results[name] = "failed"
                print("failed: %s (%s): %s" % (name, status, first),
                      flush=True)
    by_operator = collections.Counter()
    for name in refused:
        by_operator[" ".join(operators(name)[:4])] += 1
    if by_operator:
        print("refused: " + ", ".join(
            "%s %d" % row for row in sorted(by_operator.items())))
    if args.list:
        with open(args.list, "w", encoding="utf-8") as file:
            for name in names:
                file.write("%s %s\n" % (name, results[name]))
    print("%d passed, %d failed, %d refused as not supported"
          % (len(passed), len(failed), len(refused)))
    return 1 if failed else 0


sys.exit(main())
