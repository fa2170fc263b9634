#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long `tirc compile` takes and how much memory, on

    a ResNet-50 with random weights (beside a ../shared with reference models,
    also the one there, weights randomised): under 1 s, and under twice the
    model's size;
    3.2 GB of external weights, a sparse file, kept in a file: under 400 MB.

Exit status 1 if a limit is broken. --repeat N takes the best of N runs.

    --grow [KIND,…]  instead: seconds of the processor and MB for graphs of
                     1,000, 4,000 and 16,000 nodes (or inputs) of each kind
                     (tests/long_graphs.py), and by how much time and memory
                     grow for four times as many: from 4,000 to 16,000 by 4.8
                     at most;
    --long KIND,…    100,000 nodes of each of these kinds, which have only to
                     end."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "tests"))
import helper  # noqa: E402
import models  # noqa: E402

MB = 1e6
MOST_GROWTH = 4.8  # for 4 times as many nodes


def bench(name, model, limit_seconds, limit_bytes, repeat, *arguments):
    """Prints one row; whether the limits hold."""
    best, peak = float("inf"), 0
    for _ in range(repeat):
        out = tempfile.mkdtemp(prefix="tirc-bench-", dir=os.path.dirname(model))
        seconds, peak_bytes = helper.measure(
            helper.TIRC, "compile", model, "-o", out, "-q", *arguments)
        best, peak = min(best, seconds), max(peak, peak_bytes)
        shutil.rmtree(out)
    holds = peak < limit_bytes and (limit_seconds is None
                                    or best < limit_seconds)
    print("%-26s %8.2f s %8s   %8.1f MB  < %6.1f MB   %s" % (
        name, best, "< %g s" % limit_seconds if limit_seconds else "",
        peak / MB, limit_bytes / MB, "ok" if holds else "TOO MUCH"),
        flush=True)
    return holds


def measure_graph(folder, kind, n):
    """Seconds of the processor, and MB."""
    import long_graphs
    path = os.path.join(folder, "model.onnx")
    out = os.path.join(folder, "out")
    long_graphs.write(path, kind, n)
    seconds, peak = helper.measure(helper.TIRC, "compile", path, "--target",
                                   "c99", "-q", "-o", out,
                                   clock="cpu_seconds")
    shutil.rmtree(out)
    return seconds, peak / MB


def grow(kinds):
    """Whether time and memory grow as the graphs do."""
    import long_graphs
    holds = True
    print("%-10s %20s %20s %20s   time, memory for 4 times as many" % (
        "", "1,000", "4,000", "16,000"))
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        for kind in kinds.split(",") if kinds else long_graphs.KINDS:
            rows = [measure_graph(folder, kind, n)
                    for n in (1000, 4000, 16000)]
            factors = [b[i] / a[i] for i in (0, 1)
                       for a, b in zip(rows, rows[1:])]
            linear = max(factors[1], factors[3]) <= MOST_GROWTH
            print("%-10s %s   %5.1f %5.1f, %5.1f %5.1f   %s" % (
                kind, " ".join("%8.2f s %7.0f MB" % row for row in rows),
                *factors, "ok" if linear else "TOO MUCH"), flush=True)
            holds &= linear
    return 0 if holds else 1


def long(kinds):
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        for kind in kinds.split(","):
            print("%-10s %8.2f s %7.0f MB for 100,000" % (
                kind, *measure_graph(folder, kind, 100000)), flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--grow", nargs="?", const="")
    parser.add_argument("--long")
    args = parser.parse_args()
    if args.grow is not None:
        return grow(args.grow)
    if args.long is not None:
        return long(args.long)
    holds = True
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        path = os.path.join(folder, "resnet50.onnx")
        models.resnet50(path)
        holds &= bench("resnet50, random", path, 1.0,
                       2 * os.path.getsize(path), args.repeat)
        os.remove(path)

        top = helper.shared()
        light = top and os.path.join(top, "models", "light_resnet50",
                                     "model.onnx")
        if light and os.path.exists(light):
            path = os.path.join(folder, "light_resnet50.onnx")
            subprocess.run([sys.executable,
                            os.path.join(top, "models", "randomize.py"),
                            light, path], check=True)
            holds &= bench("light_resnet50, random", path, 1.0,
                           2 * os.path.getsize(path), args.repeat)
            os.remove(path)

        holds &= bench("3.2 GB of external data",
                       models.external_3gb(folder), None, 400 * MB, 1,
                       "--weights", "file")
    return 0 if holds else 1


sys.exit(main())
