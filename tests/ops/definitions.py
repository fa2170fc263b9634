#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators' definitions against ONNX's own node tests: each model with its
inputs as initializers goes through evaluate_model, and what it computes is
compared with what the test expects. Prints the failures and, by operator,
what is refused. --list FILE writes `NAME result` lines; a PATTERN selects
by name. tests/ops/expected_failures.txt lists what may fail, and why."""
import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import helper
import turns

try:
    import numpy as np
    import onnx
    import onnx_nodes
    from onnx import numpy_helper
except ImportError as missing:
    helper.skip(str(missing))

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ.get("EVALUATE_MODEL")


def closed_model(case, inputs):
    """The test's model with its inputs as initializers, or None where one is
    not a plain tensor."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    graph = model.graph
    infos = list(graph.input)
    for info in infos + list(graph.output):
        kind = info.type.tensor_type.elem_type
        if not info.type.HasField("tensor_type") or \
                kind == onnx.TensorProto.STRING:
            return None
    for info, value in zip(infos, inputs):
        tensor = onnx.TensorProto()
        tensor.CopyFrom(value if isinstance(value, onnx.TensorProto)
                        else numpy_helper.from_array(value, info.name))
        tensor.name = info.name
        graph.initializer.append(tensor)
    del graph.input[:]
    return model


def as_array(value):
    return numpy_helper.to_array(value) \
        if isinstance(value, onnx.TensorProto) else np.asarray(value)


# Two units in the last place of types whose intermediate results the
# reference rounds at other steps than we do.
LEAST_RTOL = {"float16": 2e-3, "bfloat16": 1.6e-2}


def difference(got, want, rtol, atol):
    """None, or what is different."""
    rtol = max(rtol, LEAST_RTOL.get(want.dtype.name, 0))
    if got.shape != want.shape:
        return "shape %s, not %s" % (got.shape, want.shape)
    if got.dtype != want.dtype:
        return "type %s, not %s" % (got.dtype, want.dtype)
    if got.dtype == bool or np.issubdtype(got.dtype, np.integer):
        wrong = got != want
    else:
        wide_got = got.astype(np.float64)
        wide_want = want.astype(np.float64)
        wrong = ~np.isclose(wide_got, wide_want, rtol, atol, equal_nan=True)
    if not wrong.any():
        return None
    at = tuple(index[0] for index in np.nonzero(np.atleast_1d(wrong)))
    return "%d of %d elements, first at %s: %s, not %s" % (
        wrong.sum(), wrong.size, at, np.atleast_1d(got)[at],
        np.atleast_1d(want)[at])


def check(case, top):
    """(result, text): passed, failed, refused or skipped."""
    folder = os.path.join(top, case.name)
    os.mkdir(folder)
    for inputs, outputs in case.data_sets:
        model = closed_model(case, inputs)
        if model is None:
            return "skipped", "not plain tensors"
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        try:
            done = subprocess.run([PROGRAM, path, folder], text=True,
                                  capture_output=True, timeout=120)
        except subprocess.TimeoutExpired:
            return "failed", "took more than 120 s"
        if done.returncode == 1 and ("not supported" in done.stderr or
                                     "versions 1 to" in done.stderr):
            return "refused", done.stderr
        if done.returncode != 0:
            return "failed", "status %d: %s" % (
                done.returncode, done.stderr.replace(folder, "")[-300:])
        for index, want in enumerate(outputs):
            result = onnx.TensorProto()
            name = os.path.join(folder, "output_%d.pb" % index)
            with open(name, "rb") as file:
                result.ParseFromString(file.read())
            got, want = numpy_helper.to_array(result), as_array(want)
            if onnx_nodes.is_random(case.model) and got.shape == want.shape:
                want = got.astype(want.dtype)
            wrong = difference(got, want, case.rtol, case.atol)
            if wrong:
                return "failed", "output %d: %s" % (index, wrong)
    return "passed", ""


def expected_failures():
    path = os.path.join(HERE, "expected_failures.txt")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        return {line.split()[0] for line in file
                if line.strip() and not line.startswith("#")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list")
    args = parser.parse_args()

    # Functions written out as nodes consist of operators that have cases of
    # their own: a third of them by turns, and none for the memory errors that
    # sanitizers find.
    sanitized = "TIRC_SANITIZED" in os.environ
    cases = [c for c in onnx_nodes.cases() if args.pattern in c.name
             and c.data_sets and ("_expanded" not in c.name or
                                  not sanitized and turns.is_turn_of(c.name, 3))]
    may_fail = expected_failures()
    results = {}
    refused = collections.Counter()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="tirc-ops-") as top, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, (result, text) in zip(
                cases, pool.map(lambda c: check(c, top), cases)):
            results[case.name] = result
            if result == "refused":
                refused[" ".join(sorted({
                    n.op_type for n in case.model.graph.node})[:3])] += 1
            if result == "failed":
                expected = case.name in may_fail
                wrong += not expected
                print("%s: %s: %s" % ("may fail" if expected else "failed",
                                      case.name, text.strip()), flush=True)
            elif result == "passed" and case.name in may_fail:
                wrong += 1
                print("passed, but listed as failing: " + case.name)
    if refused:
        print("refused: " + ", ".join(
            "%s %d" % row for row in sorted(refused.items())))
    if args.list:
        with open(args.list, "w", encoding="utf-8") as file:
            for name, result in results.items():
                file.write("%s %s\n" % (name, result))
    count = collections.Counter(results.values())
    print("%d passed, %d failed, %d refused as not supported, %d skipped" % (
        count["passed"], count["failed"], count["refused"],
        count["skipped"]))
    return 1 if wrong or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
