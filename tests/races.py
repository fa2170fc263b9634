# SPDX-License-Identifier: Apache-2.0
"""Clang's ThreadSanitizer over models whose loops threads share, by OpenMP
(whose runtime then needs Archer, which tells of its barriers) or by the pool.

    run("test", model, *races.options("c-openmp"), env=races.environment(4))"""
import os
import shutil
import subprocess

import helper

CC = "clang"
# Accesses of more than 16 bytes are not looked at: registers are no longer.
FLAGS = ("-std=gnu11 -w -O1 -g -march=x86-64-v2 -fsanitize=thread "
         "-fopenmp -pthread")
# Every loop that can be shared is, however short.
TARGET = "x86-64-v2 -dialect=%s -cores=16 -fork_ns=0"

# Each thread reads what others wrote before a barrier, or without one.
PROBE = """
#include <stdio.h>
int a[4], b[4];

int
main(void)
{
#pragma omp parallel num_threads(4)
	{
#pragma omp for schedule(static)%s
		for (int i = 0; i < 4; i++) {
			a[i] = i;
		}
#pragma omp for schedule(static)
		for (int i = 0; i < 4; i++) {
			b[i] = a[3 - i];
		}
	}
	return b[0] < 0;
}
"""


def options(dialect):
    """What tirc is told: target, compiler, flags."""
    return ["--target", TARGET % dialect, "--cc", CC, "--cflags", FLAGS]


def environment(threads):
    return {**os.environ, "OMP_NUM_THREADS": str(threads),
            "TIRC_THREADS": str(threads),
            "TSAN_OPTIONS": "halt_on_error=1 exitcode=66 "
                            "ignore_noninstrumented_modules=1"}


def missing():
    """Why races of OpenMP's threads cannot be told from none, or None."""
    if shutil.which(CC) is None:
        return "clang is not installed"
    if os.uname().machine != "x86_64":
        return "the target for it is one of x86-64"
    folder = helper.work_folder()
    for clause, found in (("", False), (" nowait", True)):
        source = os.path.join(folder, "probe.c")
        program = os.path.join(folder, "probe")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROBE % clause)
        built = subprocess.run([CC, *FLAGS.split(), source, "-o", program],
                               capture_output=True, text=True)
        if built.returncode != 0:
            return "clang has no OpenMP or no ThreadSanitizer:\n" + built.stderr
        # A race shows in some runs; none in any.
        seen = [subprocess.run([program], capture_output=True, text=True,
                               env=environment(4)) for _ in range(5)]
        if not found and any(done.returncode != 0 for done in seen):
            return ("the OpenMP runtime has no Archer (libarcher.so), or "
                    "ThreadSanitizer does not run here:\n" + seen[0].stderr)
        if found and all(done.returncode == 0 for done in seen):
            return "a race is not found"
    return None
