# SPDX-License-Identifier: Apache-2.0
"""bench/cpu.py --beside: the source of one target beside that of another, by
the compilers and options that are asked for. Nothing else takes part.

All programs of a model are measured in turn, in the processor time of the process. A
time is the least of the batches' medians; a ratio is that to the other target's
with its own options and the first compiler."""
import os
import subprocess
import tempfile

import numpy as np

import alike
import cpu_driver

STRICT = ["-O3 -march=native", "-O2"]  # after -std=c99


def code_bytes(folder):
    """The bytes of the instructions of the model's functions."""
    out = subprocess.run(["size", "-A", os.path.join(folder, "model.o")], check=True,
                         text=True, stdout=subprocess.PIPE).stdout
    return sum(int(line.split()[1]) for line in out.splitlines()
               if line.startswith(".text"))


def outputs(facts, folder):
    for index, output in enumerate(facts["outputs"]):
        yield np.fromfile(os.path.join(folder, "output_%d" % index), output["dtype"])


def off(ours, theirs):
    """The largest difference of the outputs of two programs, as bench/cpu.py's
    off_by() has it, with a few rounding errors of the larger elements."""
    worst = 0.0
    for have, want in zip(outputs(*ours), outputs(*theirs)):
        scale = np.abs(want).max() if want.dtype.kind == "f" else 0
        worst = max(worst, alike.off(have, want, np.full(
            want.shape, 1e-6 * scale)))
    return worst


def variants(args, compilers):
    """Columns: name, target, compiler, options of the compiler."""
    yield args.beside, args.beside, compilers[0], None
    for cflags in args.cflags or STRICT:
        for cc in compilers:
            yield "%s %s" % (cc, cflags), args.target, cc, "-std=c99 " + cflags


def measure(path, args, compilers, tools):
    """A row: for each variant its least time, code bytes and what it is off by."""
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        inputs = tools.make_inputs(path, folder)
        built, processes = [], []
        for index, (_, target, cc, cflags) in enumerate(variants(args, compilers)):
            where = os.path.join(folder, "built_%d" % index)
            program, facts, _ = cpu_driver.build(
                path, where, target, cc, args.option, cflags=cflags,
                clock="CLOCK_PROCESS_CPUTIME_ID")
            built.append((facts, where))
            processes.append(tools.Process(
                [program, where] + [file for file, _, _ in inputs.values()], 1))
        times = tools.alternate(processes, args.rounds, 1, min)
        for process in processes:
            process.stop()
        return [{"ms": 1e3 * seconds, "code": code_bytes(where),
                 "workspace": facts["memory"]["workspace_bytes"],
                 "off": off((facts, where), built[0])}
                for seconds, (facts, where) in zip(times, built)]


def main(args, compilers, models, tools):
    """models: pairs of a name and what gives the model's file."""
    columns = list(variants(args, compilers))
    print("times of %s in units of %s's" % (args.target, args.beside))
    print("%-22s %9s  %s" % ("model", "ms", "  ".join(
        name for name, *_ in columns[1:])))
    rows = {}
    for name, find in models:
        row = rows[name] = measure(find(), args, compilers, tools)
        print("%-22s %9.4f  %s   code %s, workspace %d and %d%s" % (
            name, row[0]["ms"], "  ".join(
                "%*.2f" % (len(column[0]), one["ms"] / row[0]["ms"])
                for column, one in zip(columns[1:], row[1:])),
            "/".join("%d" % (one["code"] // 1024) for one in row),
            row[0]["workspace"], row[1]["workspace"],
            "".join("; off by %.3g" % one["off"] for one in row
                    if one["off"] > tools.TOLERANCE)), flush=True)
    print("%-22s %9s  %s" % ("geometric mean", "", "  ".join(
        "%*.2f" % (len(column[0]), tools.geomean(
            [row[index]["ms"] / row[0]["ms"] for row in rows.values()]))
        for index, column in enumerate(columns) if index > 0)))
    return {name: [dict(one, by=column[0]) for column, one in zip(columns, row)]
            for name, row in rows.items()}
