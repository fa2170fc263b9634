#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random graphs through tirc, compared with onnxruntime:

    graphs.py [COUNT [SEED [TARGET[,TARGET]...]]] [--only INDEX] [--jobs N]
              [--keep FOLDER] [--no-shrink] [--turn] [--nnsmith | --ranges]

Graph number i of a seed is the same in every run; with several targets it is
compiled for the target i modulo their number. A graph that fails is reduced
to its smallest form, printed with what `tirc bisect` says about it, and left
with its data and the smallest model that is wrong in FOLDER. What tirc
refuses with a message is counted by message. Exit status 1 if a graph fails.
With --nnsmith the graphs are those that nnsmith makes and PyTorch exports, with
--ranges those of rules_ranges.py, whose results are compared with ranges."""
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
import turns

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    helper.skip(str(missing))

import features
import native
import nnsmith_graphs
import ranges
import reference
import rules
import rules_ranges
import shrink
from maker import SYMBOL, random_graph, rows

TARGETS = ["c99", "gnu-c"]


class Result:
    """The outcome of one graph. `what` is passed, refused, failed or empty, and
    `text` says why. `elements` were compared, of which `loose` are not
    determined. `rows` are the operators in its kernels, `features` its rare
    features. `opened` counts, by reason, the elements of tensors that ONNX
    leaves open. `lost` counts the runs for the tolerance that no reference
    computes. `size`: the symbolic size in the last run."""

    def __init__(self, what, text=""):
        self.what, self.text = what, text
        self.elements = self.loose = self.lost = 0
        self.size = SYMBOL
        self.rows, self.features = set(), set()
        self.opened = collections.Counter()

    def become(self, what, text=""):
        self.what, self.text = what, text
        return self


def given_at(graph, size):
    """The inputs of a graph for one value of the symbolic size: of each axis of
    SYMBOL rows the first `size`, repeated where that is more."""
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


def changes_rank(graph, want):
    """Whether Squeeze without axes drops a symbolic size, which is 1 in this
    run. tirc, whose ranks are those of all runs, keeps it and says so."""
    return any(
        node.op_type == "Squeeze" and len(node.input) == 1 and
        want[node.output[0]].ndim != graph.tensors[node.output[0]].value.ndim
        for node in graph.nodes)


def try_graph(graph, target, evaluator, folder=None):
    """The Result of a graph. A symbolic one runs at three sizes, or at those of
    them that the references compute."""
    with tempfile.TemporaryDirectory(prefix="tirc-graph-") as made:
        folder = folder or made
        graph.symbolic = is_symbolic(graph)
        graph.opencl = target.startswith("opencl")
        result = Result("passed")
        result.features = features.of(graph)
        try:
            source = native.Native(graph, target, folder,
                                   options(graph, target))
            result.rows = source.rows
            sizes = [SYMBOL, 1, 16] if graph.symbolic else [SYMBOL]
            for size in sizes:
                given = given_at(graph, size)
                result.size = size
                try:
                    expected = ranges.Ranges(graph, given) \
                        if graph.ranges else \
                        reference.Expected(evaluator, graph, given)
                except reference.Rejected:
                    continue
                if changes_rank(graph, expected.want):
                    continue
                result.opened += expected.opened
                result.lost += expected.lost
                wrong = compare(result, graph, expected,
                                source.run(given, {
                                    n: expected.want[n]
                                    for n in graph.outputs}, size))
                if wrong:
                    return result.become("failed", wrong if not graph.symbolic
                                         else "at n=%d: %s" % (size, wrong))
        except native.Refused as error:
            # Graphs of ranges are valid, and of operators that tirc has.
            return result.become("failed" if graph.ranges else "refused",
                                 "refused: %s" % error)
        except native.Broken as error:
            return result.become("failed", str(error))
        return result if result.elements else result.become(
            "empty" if any(graph.tensors[n].value.size
                           for n in graph.outputs) else "passed")


def compare(result, graph, expected, got):
    """A description of the first difference, or None; adds to the counts of
    the result."""
    for name in graph.outputs:
        wrong, loose = expected.check(name, got[name])
        result.loose += loose
        result.elements += expected.want[name].size
        if wrong:
            return "%s: %s" % (name, wrong)
    return None


def options(graph, target):
    """The graph's options for tirc. Convolutions by tiles spread NaN,
    infinities and huge numbers to neighbouring results, as docs/reference/results.md
    says: a Conv of them gets --conv direct. Devices have no --fp strict."""
    pairs = dict(zip(graph.options[::2], graph.options[1::2]))
    if target in native.DEVICES:
        pairs.pop("--fp", None)
    for node in graph.nodes:
        if node.op_type == "Conv" and not graph.ranges:
            for name in node.input[:2]:
                value = graph.tensors[name].value.astype(np.float64)
                if not np.abs(value).max(initial=0) < 1e6:
                    pairs["--conv"] = "direct"
    return [word for pair in pairs.items() for word in pair]


def one(job):
    """(index, target, Result, the graph as text)"""
    try:
        return attempt(*job)
    except Exception:  # an error of the tests, which must not end the run
        return job[0], job[2], Result("failed", traceback.format_exc()), ""


def attempt(index, seed, target, reduce, keep, kind):
    evaluator = one.evaluator
    # nnsmith takes seeds of 32 bits.
    if kind == "nnsmith":
        graph = one.nnsmith.graph((100000 * seed + index) % 2 ** 32,
                                  evaluator)
    elif kind == "ranges":
        graph = rules_ranges.random_graph([seed, index])
    else:
        graph = random_graph([seed, index], rules.LIST, evaluator)
    if not graph or not graph.nodes or not graph.outputs:
        return index, target, Result("empty"), ""
    result = try_graph(graph, target, evaluator)
    shown = ""
    if result.what == "failed":
        if reduce:
            graph, result = shrink.smallest(
                graph, result, lambda g: try_graph(g, target, evaluator))
        with tempfile.TemporaryDirectory(prefix="tirc-graph-") as made:
            folder = os.path.join(keep or made,
                                  "%d_%d_%s" % (seed, index, target))
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            shown = explained(graph, result, target, evaluator, folder)
    return index, target, result, shown


def explained(graph, result, target, evaluator, folder):
    """A graph that fails as text, with what `tirc bisect` says about it. The model,
    its data and the smallest model that is wrong are left in the folder."""
    given = given_at(graph, result.size)
    expected = ranges.Ranges(graph, given) if graph.ranges else \
        reference.Expected(evaluator, graph, given)
    shrink.write(graph, folder, expected.want, given)
    text = shrink.text(graph)
    try:
        sentence, path = native.bisect(graph, target, folder,
                                       options(graph, target))
    except native.Broken as error:
        return "%s\n  bisect: %s" % (text, error)
    return "%s\n  bisect: %s%s" % (text, sentence,
                                  path and "\n  smallest: " + path or "")


def start():
    one.evaluator = reference.Evaluator()
    one.nnsmith = nnsmith_graphs.Maker()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=1000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("target", nargs="?", default=",".join(TARGETS))
    parser.add_argument("--turn", action="store_true",
                        help="a third of them, another one after each commit")
    parser.add_argument("--only", type=int, action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep")
    parser.add_argument("--refused", action="store_true",
                        help="print each graph that is refused")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--nnsmith", dest="kind", action="store_const",
                        const="nnsmith", default="onnx")
    parser.add_argument("--ranges", dest="kind", action="store_const",
                        const="ranges")
    args = parser.parse_args()
    targets = args.target.split(",")
    for target in targets:
        if target not in list(native.BUILDS) + list(native.DEVICES):
            parser.error("no such target: %s; there are %s" % (
                target, ", ".join([*native.BUILDS, *native.DEVICES])))
        if native.missing(target):
            helper.skip(native.missing(target) + " is not installed")
    numbers = args.only or range(args.count)
    if args.turn:
        mine = turns.some("graphs", range(3))
        numbers = [i for i in numbers if i // len(targets) % 3 in mine]
    jobs = [(i, args.seed, targets[i % len(targets)], not args.no_shrink,
             args.keep, args.kind) for i in numbers]
    total = Total(args)
    with concurrent.futures.ProcessPoolExecutor(
            args.jobs, multiprocessing.get_context("spawn"), start) as pool:
        for answer in pool.map(one, jobs, chunksize=4):
            total.add(*answer)
    total.show()
    return 1 if total.count["failed"] or not total.count["passed"] else 0


class Total:
    """The counts of a run."""

    def __init__(self, args):
        self.args = args
        self.count, self.refused = collections.Counter(), collections.Counter()
        self.rows, self.features = collections.Counter(), collections.Counter()
        self.opened = collections.Counter()
        self.elements = self.loose = self.lost = 0

    def add(self, index, target, result, shown):
        self.count[result.what] += 1
        self.elements += result.elements
        self.loose += result.loose
        self.lost += result.lost
        self.opened += result.opened
        if result.what == "passed":
            self.rows.update(result.rows)
            self.features.update(result.features)
        elif result.what == "refused":
            if self.args.refused:
                print("refused: graph %d, %s: %s" % (
                    index, target, result.text))
            self.refused[re.sub(r"'[^']*'|#?\b\d+\b", "…",
                                result.text)] += 1
        elif result.what == "failed":
            print("failed: graph %d of seed %d, %s: %s\n%s" % (
                index, self.args.seed, target, result.text, shown),
                flush=True)

    def show(self):
        for text, n in self.refused.most_common():
            print("refused %d: %s" % (n, text))
        for title, found in (("graphs with", self.features),
                             ("elements of tensors left open by",
                              self.opened)):
            print("%s: %s" % (title, ", ".join(
                "%s %d" % pair for pair in found.most_common())))
        table = set(rows()) - set(rules.FOLDED) - set(rules.STRINGS)
        print("rows of ops.def in kernels: %d of %d; never: %s" % (
            len(table & set(self.rows)), len(table),
            " ".join(sorted(table - set(self.rows))) or "none"))
        print("elements compared: %d, not determined: %d; runs lost: %d" % (
            self.elements, self.loose, self.lost))
        print("%d passed, %d failed, %d refused, %d without a reference" % (
            self.count["passed"], self.count["failed"],
            self.count["refused"], self.count["empty"]))


if __name__ == "__main__":
    sys.exit(main())
