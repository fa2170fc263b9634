#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""model.py HOW MODEL: a whole model for a device gives what its data sets say.

    cuda_cpu  CUDA on the CPU, threads taking turns in both orders
    nvcc      nvcc takes the sources, for several generations
    opencl    on an OpenCL device; opencl-cpu: as if it were a processor

MODEL: "digits", a module here (MADE), or one of ../shared's (cases.py)."""
import importlib
import os
import re
import shutil
import sys

import asm_calls
import cases
import nvcc
from helper import (DIGITS, QUICK_OPENCL, STRICT_C, compile_model, fail, skip,
                    tirc, work_folder)

MADE = ("shapes", "symbolic", "tensors", "kinds", "rounded",
        "pooled", "groups", "ordered", "scans", "tall")
here = os.path.dirname(os.path.abspath(__file__))
how, name = sys.argv[1:]
made, facts = None, ""
# What cuda_cpu runs, threads in order and backwards.
targets = ["cuda", "cuda"]
if name == "digits":
    model, data, options = DIGITS, [], []
elif name in MADE:
    try:
        made = importlib.import_module(name)
    except ImportError as e:
        skip("this test needs numpy and onnx: %s" % e)
    model, data = made.write(work_folder())
    data = data if isinstance(data, list) else [data]
    options = getattr(made, "OPTIONS", [])
    facts = getattr(made, "FACTS", "")
    targets = getattr(made, "TARGETS", targets)
else:
    case = cases.make(name, work_folder())
    model, data, options = case.model, case.data, case.options


def check_schedules():
    """Each kernel has the kind of schedule that it is there for."""
    out = compile_model(model, "--target", targets[0] + facts, "--name", "net",
                        *options)
    with open(os.path.join(out, "net.cu"), encoding="utf-8") as file:
        source = file.read()
    for text in getattr(made, "TEXTS", []):
        if text not in source:
            fail("no '%s' in the source" % text)
    for text in getattr(made, "ABSENT", []):
        if text in source:
            fail("'%s' in the source" % text)
    for output, kind in made.SCHEDULES.items():
        found = re.search(r' \*   y +"%s".*\n \*   schedule  '
                          r'(.*(?:\n \*      .*)*)' % output, source)
        if found is None or kind not in found.group(1):
            fail("%s: no schedule of the kind '%s', but '%s'" % (
                output, kind, found and found.group(1)))


def run(*arguments):
    done = tirc("test", model, *data, *options, *arguments, status=None)
    if "status 77" in done.stderr:
        skip("there is no device: " + done.stderr)
    print(done.stdout)
    if done.returncode != 0:
        fail(done.stderr)


if how.startswith("opencl"):
    os.environ["POCL_CACHE_DIR"] = work_folder()
    if not os.path.exists("/usr/include/CL/cl.h"):
        skip("the OpenCL headers are not installed")
    if name in MADE:
        os.environ["POCL_EXTRA_BUILD_FLAGS"] = QUICK_OPENCL
    run("--target", how, *STRICT_C)
elif how == "cuda_cpu":
    if hasattr(made, "SCHEDULES"):
        check_schedules()
    cxx = shutil.which("g++") or shutil.which("clang++") or skip(
        "there is no C++ compiler")
    flags = "-std=c++14 -Wall -I%s -I%s" % (
        here, os.path.join(here, "toolkit"))
    # As nvcc does, products that are added are not rounded before; first what
    # texts are for any device, then PTX.
    ways = [" -O0" if name in MADE else " -O1",
            " -O1 -march=native -ffp-contract=fast "
            "-DEMULATE_BACKWARDS -D" + asm_calls.NATIVE]
    cc = "%s %s %s -x c++" % (sys.executable, asm_calls.__file__, cxx)
    for target, way in zip(targets, ways):
        run("--target", target + facts, "--cc", cc, "--cflags", flags + way)
else:
    nvcc.find()
    generations = {"sm_75": "cuda", "sm_80": "cuda-sm80",
                   "sm_90a": "cuda-sm90"}
    for arch in (getattr(made, "ARCHES", generations)
                 if name in ("digits", *MADE) else ["sm_80"]):
        out = compile_model(model, "--target", generations[arch] + facts,
                            "--name", "net", *options)
        nvcc.accept(os.path.join(out, "net.cu"), arch, "-I", out,
                    host=arch == "sm_90a")
