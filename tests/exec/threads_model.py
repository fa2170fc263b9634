#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models with loops that threads share: any number of threads gives the same
bits, those of one thread, and the results are right. A target of the test's own
thinks nothing of starting threads, so that small kernels get them, too; the
real one leaves them alone."""
import json
import os
import re

import cases
from helper import (DIGITS, ROOT, compile_model, execute, fail, need, shared,
                    tirc, work_folder)

need("gcc")
MODELS = ["mnist", "mlperf_tiny/kws_fp32", "mlperf_tiny/resnet8_fp32",
          "mlperf_tiny/vww_int8"]
TARGET = "c-openmp"
SHARES = "#pragma omp parallel for"


def eager_target(folder):
    """Like TARGET, but each nest is worth its threads, and the stack small."""
    path = os.path.join(ROOT, "templates", "targets", TARGET + ".json")
    with open(path) as file:
        target = json.load(file)
    target["fork_ns"] = 0
    with open(os.path.join(folder, "eager.json"), "w") as file:
        json.dump(target, file)
    return ["--target", "eager", "--dialect-path", folder]


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


folder = work_folder()
eager = eager_target(folder)
if SHARES in source(compile_model(DIGITS, "--target", TARGET)):
    fail("kernels of a microsecond are no work for threads")
text = source(compile_model(DIGITS, *eager))
if text.count(SHARES) < 3:
    fail("the kernels of the example share nothing")
if "-fopenmp" not in text.split("*/")[0]:
    fail("the banner does not say which flags the source is for")

models = [(DIGITS, [])]
top = shared()
for name in MODELS if top else []:
    case = cases.make(name, work_folder())
    models.append((case.model, [*case.data, *case.options]))
for number, (model, data) in enumerate(models):
    built = os.path.join(folder, "built%d" % number)
    tirc("run", model, *eager, "--keep", built, "-q")
    if SHARES not in source(built):
        fail("nothing is shared in " + model)
    expected = None
    for threads in (1, 2, 3, 16):
        execute(["./harness", "3"], cwd=built, env=dict(
            os.environ, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false"))
        have = outputs(built)
        if expected is None:
            expected = have
        elif have != expected:
            fail("%s: %d threads give other bits than one" % (model, threads))
    if data:
        tirc("test", model, *data, *eager, env=dict(
            os.environ, OMP_NUM_THREADS="3"))
