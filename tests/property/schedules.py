#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schedules.py PROPERTY_SCHEDULES OPENCL_RUN FOLDER TARGET FIRST COUNT: random
programs under random schedules and by the rules of a target, as its dialect's
source: C and CUDA by a compiler of the machine (CUDA by ../gpu/cuda_on_cpu.h),
OpenCL on a device.

Warnings of gcc that are off are guesses that random programs lead astray:
elements that a predicate leaves out (the interpreter knows which were written),
views that begin inside of an array, comparisons that always come out the
same."""
import os
import re
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
gpu = os.path.join(os.path.dirname(here), "gpu")
sys.path.insert(0, gpu)
from asm_calls import NATIVE
# Targets are for processors that this machine need not have.
C = ("-O1 -DTIRC_ANY_PROCESSOR -Wall -Wextra -Werror -Wno-unused-parameter -Wno-maybe-uninitialized"
     " -Wno-stringop-overflow -Wno-stringop-overread -Wno-type-limits ")
# Nothing but what the emulation stands for is asked of C++.
CUDA = ("-x c++ -std=c++14 -O1 -w -I%s -I%s/toolkit -include cuda_on_cpu.h "
        % (gpu, gpu))
# The instructions themselves, where texts have them for one generation alone.
PTX = "%s %s/asm_calls.py g++ -D%s " % (sys.executable, gpu, NATIVE) + CUDA
COMPILERS = {
    "c99": "gcc -std=c99 " + C,
    "gnu-c": "gcc -std=gnu11 -fopenmp-simd " + C,
    "c-openmp": "gcc -std=gnu11 -fopenmp " + C,
    "c-threads": "gcc -std=gnu11 -fopenmp-simd " + C,
    "misra": "gcc -std=c99 " + C,
    "c6000": "gcc -std=c99 -Wno-unknown-pragmas " + C,
    "cuda": "g++ " + CUDA,
    # Threads of a block take turns from the last to the first.
    "cuda-backwards": "g++ -DEMULATE_BACKWARDS " + CUDA,
    "cuda-sm80": "g++ " + CUDA,
    "cuda-sm90": "g++ " + CUDA,
    "cuda-sm90-backwards": PTX + "-DEMULATE_BACKWARDS ",
    # What this machine has, for texts that ask the compiler.
    "x86-64-v4-native": "gcc -std=gnu11 -fopenmp-simd -march=native " + C,
    "x86-64-v3": "gcc -std=gnu11 -fopenmp-simd -march=x86-64-v3 " + C,
    "x86-64-amx": "gcc -std=gnu11 -fopenmp-simd -march=x86-64-v4 " + C,
}
# Where tiles are as if there were many for each unit, for most programs.
DEVICES = ("cuda", "opencl")


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def main():
    program, opencl_run, folder, dialect, first, count = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "3"
    if dialect.startswith("opencl"):
        if not os.path.exists(opencl_run):
            skip("the OpenCL headers or the loader are not installed")
        os.environ["POCL_CACHE_DIR"] = os.path.join(folder, "cache")
        # Without the passes of its compiler that take longest.
        os.environ["POCL_EXTRA_BUILD_FLAGS"] = "-cl-opt-disable"
        # Nothing to run: is there a device?
        with open(os.path.join(folder, "plan"), "w", encoding="utf-8"):
            pass
        if subprocess.call([opencl_run, folder],
                           stdout=subprocess.DEVNULL) == 77:
            skip("there is no OpenCL device")
        command = opencl_run
    elif dialect in COMPILERS:
        command = COMPILERS[dialect]
        if not shutil.which(command.split()[0]):
            skip("there is no " + command.split()[0])
    else:
        sys.exit("no such target here; there are %s, opencl, opencl-cpu"
                 % ", ".join(COMPILERS))
    target = re.sub("-backwards|-native", "", dialect)
    if target.startswith(DEVICES):
        target += " -units=1"
    status = subprocess.call([program, target, folder, command, first, count])
    shutil.rmtree(os.path.join(folder, "cache"), ignore_errors=True)
    sys.exit(status)


main()
