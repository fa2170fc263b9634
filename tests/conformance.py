#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests, each by `tirc test`: those of single nodes, and the small
models that the onnx package brings, each with the tolerance of
onnx.backend.test: |a - b| <= atol + rtol |b|, a little more for float16.
Prints those that fail with the first line of what tirc said, those it refuses
by operator or by reason, and the totals. Exit status 1 if one fails."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
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
    """The node tests as files, written once per version of onnx and of the
    program that writes them."""
    with open(onnx_nodes.__file__, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:8]
    top = os.path.join(CACHE, "tirc", "onnx-known-%s-%s" % (
        onnx.__version__, digest))
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


def tolerance(folder):
    """(rtol, atol) of onnx.backend.test for this test: a case of its own says
    them (write_case in onnx_nodes.py), a folder may in data.json, and bfloat16
    gets two units in the last place. So does float16 here: results inside of a
    kernel are float32, which the reference rounds to float16 one by one."""
    rtol, atol = 1e-3, 1e-7
    own = os.path.join(folder, "tolerance")
    brought = os.path.join(folder, "data.json")
    if os.path.exists(own):
        with open(own, encoding="utf-8") as file:
            rtol, atol = (float(word) for word in file.read().split())
    elif os.path.exists(brought):
        with open(brought, encoding="utf-8") as file:
            data = json.load(file)
        rtol, atol = data.get("rtol", rtol), data.get("atol", atol)
    model = onnx.load(os.path.join(folder, "model.onnx"),
                      load_external_data=False)
    steps = {onnx.TensorProto.BFLOAT16: 2 ** -6,
             onnx.TensorProto.FLOAT16: 2 ** -9}
    return max([rtol] + [steps.get(info.type.tensor_type.elem_type, 0)
                         for info in model.graph.output]), atol


def run(folder):
    """Gives the exit status (None: took too long) and what tirc said."""
    rtol, atol = tolerance(folder)
    command = [helper.TIRC, "test", os.path.join(folder, "model.onnx"),
               "--rtol", repr(rtol), "--atol", repr(atol)]
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
