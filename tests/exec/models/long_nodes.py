#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long chains and nodes of very many inputs or outputs: they compute what they
say, no kernel is longer than a person reads, and generating them takes memory
that grows as they do. Kernels that take over the schedule of a like one are as if
each were scheduled by itself."""
import json
import os
import sys

import helper
import turns

try:
    import numpy as np
    import long_graphs
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

MOST_NODES = 32
# Then twice and four times as many. Of fewer nodes the tables, which double at once,
# are a large part of what is added.
SMALL = 1000
GROWTH = 3  # of what is added: 2 is linear, 4 is quadratic
# 100,000 nodes in a chain take 600 MB.
BYTES_OF_A_NODE = {"chain": 6000}
# A node that moves through all others is in the list of origins of each.
OF_ALL_ORIGINS = {"turns"}


def check_kernels(model, folder):
    out = os.path.join(folder, "out")
    helper.tirc("compile", model, "-q", "--target", "c99", "--name", "net",
                "-o", out)
    with open(os.path.join(out, "net.json"), encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    longest = max(len(k.get("operators", [])) for k in kernels)
    if longest > MOST_NODES:
        helper.fail("a kernel of %d nodes" % longest)


def check_reuse(model, folder):
    """Where passes are printed, each kernel runs through all of them."""
    files = []
    for options in ([], ["--print-after", "schedule"]):
        out = os.path.join(folder, "reuse%d" % len(options))
        helper.tirc("compile", model, "-q", "--name", "net", "-o", out,
                    *options)
        files.append(helper.contents(out))
    if files[0] != files[1]:
        helper.fail("%s: kernels differ from those that are scheduled by "
                    "themselves" % model)


def peak_of(path, folder):
    """The memory of compiling the model: the least of some runs, as the system
    may give a run more pages than another. Each writes a folder of its own: files
    that are there already are read."""
    return min(helper.measure(helper.TIRC, "compile", path, "-q", "--target",
                              "c99", "-o", os.path.join(
                                  folder, "grown_%d_%d" % (os.path.getsize(path),
                                                           run)))[1]
               for run in range(2))


def check_growth(kind, folder):
    peaks = []
    for times in (1, 2, 4):
        path = os.path.join(folder, "%s.onnx" % kind)
        long_graphs.write(path, kind, SMALL * times)
        peaks.append(peak_of(path, folder))
    first, second = peaks[1] - peaks[0], peaks[2] - peaks[1]
    print("%-10s %s" % (kind, " ".join("%.1f MB" % (p / 1e6)
                                       for p in peaks)))
    if second > GROWTH * max(first, 1 << 21):
        helper.fail("%s: %d, %d and %d nodes take %s bytes" % (
            kind, SMALL, SMALL * 2, SMALL * 4, peaks))
    if second > 2 * SMALL * BYTES_OF_A_NODE.get(kind, second):
        helper.fail("%s: a node takes %d bytes" % (kind, second / (2 * SMALL)))


def main():
    folder = helper.work_folder()
    for kind in long_graphs.KINDS:
        own = os.path.join(folder, kind)
        os.mkdir(own)
        path = os.path.join(own, "model.onnx")
        inputs = long_graphs.write(path, kind, 100)
        if long_graphs.EXPECTED.get(kind):
            rng = np.random.default_rng(3)
            values = [rng.integers(-4, 5, shape).astype(np.float32)
                      for shape in inputs]
            write_data(own, values, long_graphs.EXPECTED[kind](values))
            helper.tirc("test", path, "--target", "c99")
            check_kernels(path, own)
        check_reuse(path, own)
    kinds = sorted(set(long_graphs.KINDS) - OF_ALL_ORIGINS)
    for kind in turns.some("growth", kinds, (len(kinds) + 1) // 2):
        check_growth(kind, folder)


if __name__ == "__main__":
    sys.exit(main())
