#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels of a model one by one: time, GFLOP/s and GB/s of each.

A copy of the emitted file gets a clock read around each call of the entry
function; what tirc writes stays as it is. Floating-point operations and bytes
are those of NAME.json. For each call the least time of the rounds counts."""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import cpu
import cpu_driver

CLOCK = r"""
#include <stdio.h>
#include <time.h>
static double profile_least[@CALLS@], profile_start;
static double
profile_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void
profile_stop(int i)
{
	double seconds = profile_now() - profile_start;

	if (profile_least[i] == 0 || seconds < profile_least[i])
		profile_least[i] = seconds;
}
__attribute__((destructor)) static void
profile_print(void)
{
	for (int i = 0; i < @CALLS@; i++)
		fprintf(stderr, "%.9g\n", profile_least[i]);
}
"""


def with_clock(text, kernels):
    """The file with a clock around each call, and the calls' kernels."""
    calls = []

    def wrap(match):
        if match.group(1) not in kernels:
            return match.group(0)
        calls.append(match.group(1))
        return "\tprofile_start = profile_now();\n%s\n\tprofile_stop(%d);" % (
            match.group(0), len(calls) - 1)

    at = re.search(r"^model_run\(struct model \*m,.*?^}", text, re.S | re.M)
    body = re.sub(r"^\t(\w+)\([^;{}]*\);", wrap, at.group(0), flags=re.M)
    clock = CLOCK.replace("@CALLS@", str(max(1, len(calls))))
    return clock + text[:at.start()] + body + text[at.end():], calls


def profile(path, args, folder):
    built = os.path.join(folder, "built")
    program, facts, _ = cpu_driver.build(path, built, args.target, args.cc,
                                         args.option)
    kernels = {k["name"]: k for k in facts["kernels"]}
    source = os.path.join(built, "model.c")
    with open(source) as file:
        text, calls = with_clock(file.read(), kernels)
    if set(calls) != set(kernels):
        sys.exit("not found in the entry function: %s" % ", ".join(
            sorted(set(kernels) - set(calls))))
    with open(source, "w") as file:
        file.write("#define _POSIX_C_SOURCE 200809L\n" + text)
    words = shlex.split(facts["cc"])
    subprocess.run([args.cc, *words[1:]], cwd=built, check=True)
    objects = [f for f in sorted(os.listdir(built)) if f.endswith(".o")]
    subprocess.run([args.cc, "-std=gnu11", "-O2", "-o", "program", "driver.c",
                    *objects, "-lm"], cwd=built, check=True)
    inputs = cpu.make_inputs(path, folder)
    out = subprocess.run([program, built] + [i[0] for i in inputs.values()],
                         input="%d\n" % args.rounds, text=True, check=True,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    rows = []
    for name, seconds in zip(calls, map(float, out.stderr.split())):
        kernel = kernels[name]
        size = kernel["read_bytes"] + kernel["write_bytes"]
        rows.append({"name": name, "title": kernel["title"],
                     "schedule": kernel["schedule"], "ms": seconds * 1e3,
                     "gflops": kernel["flops"] / seconds * 1e-9,
                     "gbytes": size / seconds * 1e-9})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a file, or a name of `bench cpu`")
    parser.add_argument("--target", default="gnu-c")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--top", type=int, default=30)
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    path = args.model
    for name, below, is_random in cpu.TABLE:
        if name == path:
            path = cpu.find_model(cpu.shared_models(), below, is_random)
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        peak = cpu_driver.Peak(folder, [args.cc])
        rows = profile(path, args, folder)
        peak.again()
    total = sum(r["ms"] for r in rows)
    print("%9s %5s %8s %6s %7s  %s" % ("ms", "time", "GFLOP/s", "peak", "GB/s",
                                       "kernel"))
    for row in sorted(rows, key=lambda r: -r["ms"])[:args.top]:
        print("%9.4f %4.0f%% %8.1f %5.0f%% %7.1f  %s  [%s]" % (
            row["ms"], 100 * row["ms"] / total, row["gflops"],
            100 * row["gflops"] / peak.gflops, row["gbytes"], row["title"],
            row["schedule"]))
    print("%d calls, %.4f ms; peak of a core %.1f GFLOP/s" % (
        len(rows), total, peak.gflops))
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"peak_gflops": peak.gflops, "kernels": rows}, file,
                      indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
