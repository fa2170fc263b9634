#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random graphs through tirc, compared with onnxruntime:

    graphs.py [COUNT [SEED [TARGET[,TARGET]...]]] [--only INDEX] [--jobs N]
              [--keep FOLDER] [--no-shrink]

Graph number i of a seed is the same in every run; with several targets it is
compiled for the target i modulo their number. A graph that fails is reduced
to its smallest form, printed, and left with its data in FOLDER. What tirc
refuses with a message is counted by message. Exit status 1 if a graph fails."""
import argparse
import collections
import concurrent.futures
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import traceback

import helper

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    helper.skip(str(missing))

import native
import reference
import rules
import shrink
from maker import SYMBOL, random_graph

TARGETS = ["c99", "gnu-c"]


class Result:
    """Of one graph: what (passed, refused or failed), text, operators, the
    elements that were compared and those that are not determined."""

    def __init__(self, what, text="", operators=(), elements=0, loose=0):
        self.what, self.text, self.operators = what, text, list(operators)
        self.elements, self.loose = elements, loose


def given_at(graph, size):
    """The inputs of a graph at a symbolic size: the first rows of those of
    SYMBOL rows, or these again."""
    given = {}
    for tensor in graph.tensors.values():
        if tensor.kind == "input":
            value = tensor.value
            for axis, n in enumerate(value.shape):
                if graph.symbolic and n == SYMBOL:
                    value = np.take(value, np.arange(size) % SYMBOL, axis)
            given[tensor.name] = np.ascontiguousarray(value).reshape(
                value.shape)
    return given


def is_symbolic(graph):
    return graph.symbolic and any(
        SYMBOL in t.value.shape for t in graph.tensors.values()
        if t.kind == "input")


def try_graph(graph, target, evaluator, folder=None):
    """A Result. Symbolic graphs run at three sizes, where the references
    compute them."""
    with tempfile.TemporaryDirectory(prefix="tirc-graph-") as made:
        folder = folder or made
        graph.symbolic = is_symbolic(graph)
        operators = [node.op_type for node in graph.nodes]
        loose = elements = 0
        try:
            source = native.Native(graph, target, folder, options(graph))
            sizes = [SYMBOL, 1, 16] if graph.symbolic else [SYMBOL]
            for size in sizes:
                given = given_at(graph, size)
                try:
                    expected = reference.Expected(evaluator, graph, given)
                except reference.Rejected:
                    continue
                want = {n: expected.want[n] for n in graph.outputs}
                got = source.run(given, want, size)
                for name in graph.outputs:
                    wrong, open_ones = expected.check(name, got[name])
                    loose += open_ones
                    elements += want[name].size
                    if wrong:
                        return Result("failed", "%s%s: %s" % (
                            name, " at n=%d" % size if graph.symbolic
                            else "", wrong), operators)
        except native.Refused as error:
            return Result("refused", str(error), operators)
        except native.Broken as error:
            return Result("failed", str(error), operators)
        return Result("passed", "", operators, elements, loose)


def options(graph):
    """Convolutions by tiles spread NaN and infinities to their neighbours, as
    docs/output.md says: such graphs get sums as ONNX writes them."""
    for node in graph.nodes:
        if node.op_type == "Conv":
            for name in node.input[:2]:
                value = graph.tensors[name].value.astype(np.float64)
                if not np.abs(value).max(initial=0) < 1e6:
                    return ["--conv", "direct"]
    return []


def one(job):
    """(index, target, Result, the graph as text)"""
    try:
        return attempt(*job)
    except Exception:  # a mistake of ours, which must not end the others
        return job[0], job[2], Result("failed", traceback.format_exc()), ""


def attempt(index, seed, target, reduce, keep):
    evaluator = one.evaluator
    graph = random_graph([seed, index], rules.LIST, evaluator)
    if not graph.nodes or not graph.outputs:
        return index, target, Result("empty"), ""
    result = try_graph(graph, target, evaluator)
    shown = ""
    if result.what == "failed":
        if reduce:
            graph, result = shrink.smallest(
                graph, result, lambda g: try_graph(g, target, evaluator))
        shown = shrink.text(graph)
        if keep:
            folder = os.path.join(keep, "%d_%d_%s" % (seed, index, target))
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            shrink.write(graph, folder, reference.Expected(
                evaluator, graph, given_at(graph, SYMBOL)).want,
                given_at(graph, SYMBOL))
    return index, target, result, shown


def start():
    one.evaluator = reference.Evaluator()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=1000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("target", nargs="?", default=",".join(TARGETS))
    parser.add_argument("--only", type=int, action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep")
    parser.add_argument("--refused", action="store_true",
                        help="print each graph that is refused")
    parser.add_argument("--no-shrink", action="store_true")
    args = parser.parse_args()
    targets = args.target.split(",")
    for target in targets:
        if target not in list(native.BUILDS) + list(native.DEVICES):
            parser.error("no such target: %s; there are %s" % (
                target, ", ".join([*native.BUILDS, *native.DEVICES])))
        if native.missing(target):
            helper.skip(native.missing(target) + " is not installed")
    jobs = [(i, args.seed, targets[i % len(targets)], not args.no_shrink,
             args.keep) for i in args.only or range(args.count)]
    count = collections.Counter()
    refused, operators = collections.Counter(), collections.Counter()
    elements = loose = 0
    with concurrent.futures.ProcessPoolExecutor(
            args.jobs, multiprocessing.get_context("spawn"), start) as pool:
        for index, target, result, shown in pool.map(one, jobs, chunksize=4):
            count[result.what] += 1
            elements += result.elements
            loose += result.loose
            if result.what == "passed":
                operators.update(set(result.operators))
            elif result.what == "refused":
                if args.refused:
                    print("refused: graph %d, %s: %s" % (
                        index, target, result.text))
                refused[re.sub(r"'[^']*'|#?\b\d+\b", "…", result.text)] += 1
            elif result.what == "failed":
                print("failed: graph %d of seed %d, %s: %s\n%s" % (
                    index, args.seed, target, result.text, shown), flush=True)
    for text, n in refused.most_common():
        print("refused %d: %s" % (n, text))
    print("operators computed: %d; elements compared: %d, not determined: "
          "%d" % (len(operators), elements, loose))
    print("%d passed, %d failed, %d refused" % (
        count["passed"], count["failed"], count["refused"]))
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
