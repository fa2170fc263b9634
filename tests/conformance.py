#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests, each by `tirc test`: those of single nodes, and the small
models that the onnx package brings, each with the tolerance of
onnx.backend.test: |a - b| <= atol + rtol |b|, a little more for float16.
Prints those that fail with the first line of what tirc said, those it refuses
by operator or by reason, and the totals. Exit status 1 if one fails.

--report writes the results to tests/conformance.txt and docs/reference/onnx-support.md;
with a PATTERN, those of its tests into what is there. --turn takes one of 40
parts of the tests, another one with a sanitized tirc, others after each commit, and
those of tests/conformance_failed.txt, and fails where a result is not as
tests/conformance.txt says."""
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
import time

import helper

try:
    import ml_dtypes
    import numpy as np
    import onnx
    import onnx_nodes
except ImportError as missing:
    helper.skip(str(missing))

import support
from turns import number_of, this_turn

CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
BROUGHT = os.path.join(os.path.dirname(onnx.__file__), "backend", "test",
                       "data")
# Of the models that the package brings as files: the lengths of parts, which
# must be known.
BROUGHT_OPTIONS = {
    "test_sequence_model8": ["--const-input", "X", "--const-input", "Splits"],
}
FAILED = os.path.join(helper.ROOT, "tests", "conformance_failed.txt")
TURNS = 40  # a run takes a part with the plain tirc, and another sanitized
# Speed is not what these tests are about: a sixth of the time of the target's
# own flags, with the same instructions.
FLAGS = "-std=gnu11 -O0 -march=native -fno-math-errno -fno-trapping-math"


def node_folder():
    """The node tests as files, written once for each set of versions: those of
    onnx, of the packages that compute its results, and of the program that writes
    them."""
    versions = "numpy %s, ml_dtypes %s, " % (
        np.__version__, ml_dtypes.__version__)
    with open(onnx_nodes.__file__, "rb") as file:
        digest = hashlib.sha256(versions.encode() + file.read()).hexdigest()[:8]
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


def collect():
    """{name: folder}, sorted by name."""
    found = {}
    for top in (node_folder(), os.path.join(BROUGHT, "simple"),
                os.path.join(BROUGHT, "pytorch-operator"),
                os.path.join(BROUGHT, "pytorch-converted")):
        for name in os.listdir(top) if os.path.isdir(top) else ():
            path = os.path.join(top, name)
            without = name.startswith("test_ai_onnx_ml_") and not helper.HAS_ML
            if os.path.exists(os.path.join(path, "model.onnx")) and not without:
                found[name] = path
    return dict(sorted(found.items()))


def own_options(folder):
    """Those of the test, a word to a line (onnx_nodes.py)."""
    path = os.path.join(folder, "options")
    if os.path.basename(folder) in BROUGHT_OPTIONS:
        return BROUGHT_OPTIONS[os.path.basename(folder)]
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def load(folder):
    return onnx.load(os.path.join(folder, "model.onnx"),
                     load_external_data=False)


def tolerance(folder, model):
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
    steps = {onnx.TensorProto.BFLOAT16: 2 ** -6,
             onnx.TensorProto.FLOAT16: 2 ** -9}
    return max([rtol] + [steps.get(info.type.tensor_type.elem_type, 0)
                         for info in model.graph.output]), atol


def operators(model):
    """[(name, the operator set since which it is defined so)]"""
    versions = {entry.domain: entry.version for entry in model.opset_import}
    found = set()
    for node in model.graph.node:
        version = versions.get(node.domain, 1)
        name = (node.domain + "." if node.domain else "") + node.op_type
        try:
            version = onnx.defs.get_schema(node.op_type, version,
                                           node.domain).since_version
        except onnx.defs.SchemaError:
            pass
        found.add((name, version))
    return sorted(found)


def reason(text):
    """What tirc refused, without the names."""
    text = (text.splitlines() or [""])[0]
    text = re.sub(r"^error: (\S+: )?(node \d+ )?", "", text)
    return re.sub(r"'[^']*'", "'…'", text)


class Outcome:
    """Of one test: result is passed, failed or refused."""

    def __init__(self, status, text, seconds):
        self.text, self.seconds = text, seconds
        self.unknown = "not supported" in text  # an operator or a type
        if status == 0:
            self.result = "passed"
        elif status == 1 and (self.unknown or text.startswith("error: ")):
            self.result = "refused"
        else:
            self.result = "failed"

    def ulp(self):
        return max([float(word) for word in
                    re.findall(r" (\S+) ulp;", self.text)] + [0])


def run(folder, model, options):
    rtol, atol = tolerance(folder, model)
    begin = time.monotonic()
    command = [helper.TIRC, "test", os.path.join(folder, "model.onnx"),
               "--rtol", repr(rtol), "--atol", repr(atol),
               *own_options(folder), *options]
    is_random = onnx_nodes.is_random(model)
    if is_random:
        command += ["--seed", "1", "--atol", "inf"]
    try:
        done = subprocess.run(command, text=True, capture_output=True,
                              timeout=120, errors="replace",
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return Outcome(None, "took more than 120 s", 120)
    text = done.stdout.strip()
    if done.returncode and done.stderr.strip():
        text = done.stderr.strip()
    elif is_random:
        text = text.replace(" ulp;", ";")  # of numbers that are unrelated
    return Outcome(done.returncode, text, time.monotonic() - begin)


def failed_before():
    with open(FAILED, encoding="utf-8") as file:
        return {line.split()[0] for line in file
                if line.strip() and line[0] != "#"}


def choose_turn(tests):
    turn, why = this_turn()
    turn = (turn + helper.SANITIZED * TURNS // 2) % TURNS
    before = failed_before()
    chosen = {name: folder for name, folder in tests.items()
              if number_of(name) % TURNS == turn or name in before}
    print("part %d of 0 to %d of the tests, by %s, and %d tests that once "
          "failed: %d of %d" % (turn, TURNS - 1, why, len(before & set(tests)),
                                len(chosen), len(tests)))
    return chosen


def base_of(name, tests):
    """The test of the operator whose definition as nodes this test has."""
    base = name.split("_expanded")[0]
    return base if base in tests else name


def update(stored, tests, models, outcomes):
    """Puts the outcomes into the stored results."""
    stored.version, stored.n_tests = onnx.__version__, len(tests)
    keys = {name: operators(models(base_of(name, tests))) for name in tests}
    counts = collections.Counter(key for each in keys.values() for key in each)
    worst = {key: float(value[1]) for key, value in stored.rows.items()}
    stored.left = {name: row for name, row in stored.left.items()
                   if name in tests and name not in outcomes}
    if len(outcomes) == len(tests):
        worst = {}
    for name, outcome in outcomes.items():
        if outcome.result != "passed":
            stored.left[name] = (outcome.result, keys[name],
                                 reason(outcome.text))
            continue
        for key in keys[name]:
            worst[key] = max(worst.get(key, 0), outcome.ulp())
    stored.rows = {key: [count, "%.2g" % worst.get(key, 0)]
                   for key, count in counts.items()}
    stored.write()


def differences(stored, outcomes):
    """Prints the tests whose result is not the stored one; their number. Of
    another version of onnx, which may have new tests, refusals do not count."""
    count = 0
    is_other = stored.version != onnx.__version__
    if is_other:
        print("tests/conformance.txt is of onnx %s, not %s: tests that are "
              "refused are not compared" % (stored.version, onnx.__version__))
    for name, outcome in outcomes.items():
        want = stored.left.get(name, ("passed",))[0]
        if outcome.result != want and not (is_other and
                                           outcome.result == "refused"):
            count += 1
            print("%s: %s, but tests/conformance.txt says %s; `./run "
                  "conformance --report %s` writes its result" % (
                      name, outcome.result, want, name))
    return count


def note_failures(outcomes):
    """Tests that failed are part of every turn from now on."""
    new = {name for name, outcome in outcomes.items()
           if outcome.result == "failed"} - failed_before()
    with open(FAILED, "a", encoding="utf-8") as file:
        for name in sorted(new):
            file.write(name + "\n")


def print_refused(outcomes, models):
    refused = collections.Counter()
    reasons = collections.Counter()
    for name, outcome in outcomes.items():
        if outcome.result == "refused" and outcome.unknown:
            kinds = sorted({node.op_type for node in models(name).graph.node})
            refused[" ".join(kinds[:4])] += 1
        elif outcome.result == "refused":
            reasons[reason(outcome.text)] += 1
    if refused:
        print("operators not supported: " + ", ".join(
            "%s %d" % row for row in sorted(refused.items())))
    for text, count in sorted(reasons.items()):
        print("refused %d: %s" % (count, text))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="*",
                        help="only tests with one of these in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", help="write `NAME result` lines here")
    parser.add_argument("--cflags", default=FLAGS,
                        help="of the C compiler; '' for the target's own")
    parser.add_argument("--target",
                        help="emit source for it; CUDA runs on the CPU")
    parser.add_argument("--option", action="append", default=[],
                        help="one more word for `tirc test` "
                             "(--option=--fp --option=strict)")
    parser.add_argument("--report", action="store_true",
                        help="store the results, and write "
                        "docs/reference/onnx-support.md")
    parser.add_argument("--turn", action="store_true",
                        help="run a part, and compare with the stored results")
    parser.add_argument("--slowest", type=int, default=0, metavar="N",
                        help="print the N tests that took longest")
    args = parser.parse_args()
    options = ["--cflags", args.cflags] if args.cflags else []
    if args.target:
        from answers_model import arguments_of
        options = arguments_of(args.target)
        if options is None:
            parser.error("what the target needs is not here")
    if (args.target or args.option) and (args.report or args.turn):
        parser.error("--report and --turn take neither target nor options")
    options += args.option

    tests = every = collect()
    if args.pattern:
        tests = {name: folder for name, folder in every.items()
                 if any(word in name for word in args.pattern)}
    elif args.turn:
        tests = choose_turn(every)
    loaded = {}

    def models(name):
        if name not in loaded:
            loaded[name] = load(every[name])
        return loaded[name]

    outcomes = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        said = pool.map(lambda name: run(tests[name], load(tests[name]),
                                         options), tests)
        for name, outcome in zip(tests, said):
            outcomes[name] = outcome
            if outcome.result == "failed":
                print("failed: %s: %s" % (name, (
                    outcome.text.splitlines() or [""])[0]), flush=True)
    print_refused(outcomes, models)
    slow = sorted(outcomes, key=lambda name: -outcomes[name].seconds)
    for name in slow[:args.slowest]:
        print("%.1f s: %s" % (outcomes[name].seconds, name))
    if args.list:
        with open(args.list, "w", encoding="utf-8") as file:
            for name, outcome in outcomes.items():
                file.write("%s %s\n" % (name, outcome.result))
    stored = support.read()
    wrong = 0
    if args.report:
        note_failures(outcomes)
        update(stored, every, models, outcomes)
    elif args.turn:
        wrong = differences(stored, outcomes)
    count = collections.Counter(o.result for o in outcomes.values())
    print("%d passed, %d failed, %d refused" % (
        count["passed"], count["failed"], count["refused"]))
    return 1 if count["failed"] or wrong or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
