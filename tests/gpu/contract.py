#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""contract.py HOW: what a model on a device promises its caller (contract.c,
contract_cuda.cpp), and of one whose sizes make grids that 32 bits do not hold
(contract_wide.cpp)."""
import os
import shutil
import sys

import proto
from helper import (DIGITS, STRICT, compile_model, compilers, execute, fail,
                    skip, work_folder)



def wide_model(target):
    """Its folder; a size of a million by a million is allowed."""
    path = os.path.join(work_folder(), "wide.onnx")
    graph = proto.graph([proto.node("Mul", ["x", "x"], ["y"])],
                        [proto.value_info("x", ["n", "m", 64])],
                        [proto.value_info("y", ["n", "m", 64])])
    with open(path, "wb") as file:
        file.write(proto.model(graph))
    return compile_model(path, "--target", target, "--name", "wide", "--dim",
                         "n=1..1000000", "--dim", "m=1..1000000")


here = os.path.dirname(os.path.abspath(__file__))
how = sys.argv[1]
if how == "opencl":
    if not os.path.exists("/usr/include/CL/cl.h"):
        skip("the OpenCL headers are not installed")
    os.environ["POCL_CACHE_DIR"] = work_folder()
    out = compile_model(DIGITS, "--target", "opencl")
    sources = [os.path.join(out, f) for f in sorted(os.listdir(out))
               if f.endswith(".c")]
    exe = os.path.join(out, "contract")
    for cc in compilers():
        execute([cc, "-std=c99", *STRICT, "-O1", "-I", out, *sources, "-c"],
                cwd=out)
        execute([cc, "-O1", "-w", "-I", out,
                 os.path.join(here, "contract.c"), *sources, "-o", exe,
                 "-lOpenCL"])
    out = wide_model("opencl")
    execute([compilers()[0], "-std=c99", *STRICT, "-O1", "-I", out,
             os.path.join(out, "wide.c"), "-c"], cwd=out)
    with open(os.path.join(out, "wide.c"), encoding="utf-8") as file:
        if "{ grid_extent_i64((" not in file.read():
            fail("an extent of 64 bits becomes a size as it is")
    done = execute([exe], None)
    if done.returncode == 77:
        skip("there is no OpenCL device")
    if done.returncode != 0:
        fail(done.stdout)
else:
    cxx = shutil.which("g++") or shutil.which("clang++") or skip(
        "there is no C++ compiler")
    out = compile_model(DIGITS, "--target", "cuda")
    exe = os.path.join(out, "contract")
    execute([cxx, "-x", "c++", "-std=c++14", "-O1", "-Wall", "-I", here, "-I",
             os.path.join(here, "toolkit"), "-I", out,
             os.path.join(here, "contract_cuda.cpp"),
             os.path.join(out, "digits_weights.c"), "-o", exe])
    print(execute([exe]).stdout)
    out = wide_model("cuda")
    execute([cxx, "-x", "c++", "-std=c++14", "-O1", "-Wall", "-I", here, "-I",
             os.path.join(here, "toolkit"), "-I", out,
             os.path.join(here, "contract_wide.cpp"), "-o", exe])
    print(execute([exe]).stdout)
