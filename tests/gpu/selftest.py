#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""selftest.py cuda_cpu|nvcc|opencl: the pack of `tirc dialect selftest` for a
device, whose cells are kernels, passes where CUDA runs on the CPU, and a dialect
that adds wrongly fails in just those cells; nvcc takes it without a warning. Of
that for OpenCL one part runs on the first device."""
import json
import os
import re
import shutil
import sys

import nvcc
from helper import STRICT, execute, fail, need, skip, tirc, work_folder

# The compiler takes seconds for each: types that differ between devices.
NVCC_PARTS = {"cuda": ("_i32.cu", "_f16.cu", "main.cu"),
              "cuda-sm80": ("_bf16.cu",)}
here = os.path.dirname(os.path.abspath(__file__))
folder = work_folder()


def pack_of(dialect, name, only=None):
    """All of it, or the cells that start from one type."""
    pack = os.path.join(folder, name)
    tirc("dialect", "selftest", dialect, "-o", pack)
    sources = sorted(os.path.join(pack, n) for n in os.listdir(pack)
                     if n.endswith(".cu"))
    if only:
        sources = [n for n in sources if n.endswith(
            ("selftest_%s.cu" % only, "main.cu"))]
        with open(sources[0], encoding="utf-8") as file:
            text = file.read().replace("\tselftest();",
                                       "\tselftest_%s();" % only)
        with open(sources[0], "w", encoding="utf-8") as file:
            file.write(text)
    return pack, sources


def on_cpu(dialect, name, status, only=None):
    cxx = shutil.which("g++") or shutil.which("clang++") or skip(
        "there is no C++ compiler")
    pack, sources = pack_of(dialect, name, only)
    launches = 0
    for source in sources:
        with open(source, encoding="utf-8") as file:
            text, n = re.subn(r"(\w+)<<<(.*?)>>>\(", r"emulate(\1, \2)(",
                              file.read(), flags=re.DOTALL)
        launches += n
        with open(source, "w", encoding="utf-8") as file:
            file.write('#include "cuda_on_cpu.h"\n' + text)
    exe = os.path.join(pack, "selftest")
    execute([cxx, "-x", "c++", "-std=c++14", "-O0", "-w", "-I", here, "-I",
             os.path.join(here, "toolkit"), *sources, "-o", exe])
    said = execute([exe], status).stdout
    cells = int(re.search(r"^(\d+) cells", said, re.MULTILINE)[1])
    if cells < (50 if only else 500) or launches != cells:
        fail("%d cells, %d launches" % (cells, launches))
    print(said)
    return said


def wrong_dialect(base, expressions):
    mine = os.path.join(folder, "wrong")
    os.mkdir(mine)
    with open(os.path.join(mine, "dialect.json"), "w",
              encoding="utf-8") as file:
        json.dump({"extends": base, "description": "computes wrongly",
                   "expressions": expressions}, file)
    return mine


def on_opencl():
    """A device's compiler takes a second for ten kernels, so that one part has
    to tell both what is right and what is wrong."""
    cc = need("gcc")
    pack = os.path.join(folder, "pack")
    tirc("dialect", "selftest", wrong_dialect("opencl", {
        "bitwise_xor": {"infix": "|", "at": "bit_or"}}), "-o", pack)
    exe = os.path.join(pack, "selftest")
    execute([cc, *STRICT, os.path.join(pack, "main.c"), "-lOpenCL", "-o", exe])
    os.environ["POCL_CACHE_DIR"] = os.path.join(folder, "cache")
    done = execute([exe, pack, "selftest_i32.cl"], None)
    if done.returncode == 77:
        skip("there is no OpenCL device")
    said = done.stdout + done.stderr
    cells = re.search(r"^(\d+) cells, 1 failed", said, re.MULTILINE)
    if done.returncode != 1 or cells is None or int(cells[1]) < 40 or \
            "FAILED bitwise_xor_i32\n" not in said:
        fail(said)


if sys.argv[1] == "opencl":
    on_opencl()
    sys.exit(0)
if sys.argv[1] == "nvcc":
    nvcc.find()
    for dialect, arch in (("cuda", "sm_75"), ("cuda-sm80", "sm_80")):
        pack, sources = pack_of(dialect, dialect)
        for source in sources:
            if source.endswith(NVCC_PARTS[dialect]):
                nvcc.accept(source, arch,
                            host=source.endswith(("_i32.cu", "main.cu")))
    sys.exit(0)
on_cpu("cuda", "pack", 0)
on_cpu("cuda-sm80", "pack80", 0, "bf16")
mine = wrong_dialect("cuda", {"add": {"infix": "-", "at": "additive"}})
wrong = set(re.findall(r"^FAILED (\w+)", on_cpu(mine, "pack2", 1, "f32"),
                       re.MULTILINE))
if "add_f32" not in wrong or "sub_f32" in wrong:
    fail("wrong cells: %s" % sorted(wrong))
