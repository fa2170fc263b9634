#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schedules.py PROPERTY_SCHEDULES OPENCL_RUN FOLDER DIALECT FIRST COUNT: random
programs under random schedules, as a dialect's source: C and CUDA by a compiler
of the machine (CUDA by ../gpu/cuda_on_cpu.h), OpenCL on a device.

Warnings of gcc that are off are guesses that random programs lead astray:
elements that a predicate leaves out (the interpreter knows which were written),
views that begin inside of an array, comparisons that always come out the
same."""
import os
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
gpu = os.path.join(os.path.dirname(here), "gpu")
C = ("-O1 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-maybe-uninitialized"
     " -Wno-stringop-overflow -Wno-stringop-overread -Wno-type-limits ")
# Nothing but what the emulation stands for is asked of C++.
CUDA = ("-x c++ -std=c++14 -O1 -w -I%s -I%s/toolkit -include cuda_on_cpu.h "
        % (gpu, gpu))
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
}


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
        sys.exit("no such dialect here; there are %s, opencl, opencl-cpu"
                 % ", ".join(COMPILERS))
    status = subprocess.call([program, dialect.replace("-backwards", ""),
                              folder, command, first, count])
    shutil.rmtree(os.path.join(folder, "cache"), ignore_errors=True)
    sys.exit(status)


main()
