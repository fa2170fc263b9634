#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models with loops that threads share: any number of threads gives the same
bits, those of one thread, and the results are right. Targets of the test's own
think nothing of starting threads, so that small kernels get them, too; the real
ones leave them alone."""
import json
import os
import re

import cases
import turns
from helper import (DIGITS, ROOT, STRICT, compile_model, execute, fail, need,
                    shared, tirc, work_folder)

need("gcc")
MODELS = ["mnist", "mlperf_tiny/kws_fp32", "mlperf_tiny/resnet8_fp32",
          "mlperf_tiny/vww_int8"]
# What stands in the source for each loop that is shared, and how many threads
# there are.
TARGETS = {"c-openmp": ("#pragma omp parallel for", "OMP_NUM_THREADS"),
           "c-threads": ("_task(const void *shared", "TIRC_THREADS")}


def eager_target(name, folder):
    """Like that one, but each nest is worth its threads."""
    target = {"extends": name}
    while "extends" in target:
        path = os.path.join(ROOT, "templates", "targets",
                            target.pop("extends") + ".json")
        with open(path) as file:
            target = {**json.load(file), **target}
    target["fork_ns"] = 0
    with open(os.path.join(folder, "eager.json"), "w") as file:
        json.dump(target, file)
    return ["--target", "eager", "--dialect-path", folder], target["cflags"]


def source(folder):
    names = [n for n in os.listdir(folder) if re.fullmatch(
        r"\w+\.c", n) and not n.endswith("_weights.c") and n != "harness.c"]
    with open(os.path.join(folder, names[0])) as file:
        return file.read()


def outputs(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith("output_"):
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read()
    return found or fail("there are no outputs in " + folder)


def check(name, shares, variable, models):
    folder = work_folder()
    eager, flags = eager_target(name, folder)
    if shares in source(compile_model(DIGITS, "--target", name)):
        fail("kernels of a microsecond are no work for threads")
    text = source(compile_model(DIGITS, *eager))
    if text.count(shares) < 3:
        fail("the kernels of the example share nothing")
    if "-std=gnu11" not in text.split("*/")[0]:
        fail("the banner does not say which flags the source is for")
    for number, (model, data) in enumerate(models):
        built = os.path.join(folder, "built%d" % number)
        tirc("run", model, *eager, "--keep", built, "-q", "--cflags",
             " ".join([flags] + STRICT))
        if shares not in source(built):
            fail("nothing is shared in " + model)
        expected = None
        for threads in (1, 2, 3, 16):
            execute(["./harness", "3"], cwd=built, env={
                **os.environ, variable: str(threads)})
            have = outputs(built)
            if expected is None:
                expected = have
            elif have != expected:
                fail("%s: %d threads give other bits than one" % (
                    model, threads))
        if data:
            tirc("test", model, *data, *eager, env={
                **os.environ, variable: "3"})


models = [(DIGITS, [])]
for name in turns.some("threads", MODELS) if shared() else []:
    case = cases.make(name, work_folder())
    models.append((case.model, [*case.data, *case.options]))
for name, (shares, variable) in TARGETS.items():
    check(name, shares, variable, models)
