#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models whose loops OpenMP's threads share, under ThreadSanitizer: no races,
and the results are right; and one where a race is made is reported. A visible
skip where the OpenMP runtime does not tell ThreadSanitizer of its barriers."""
import os
import re

import cases
import races
import turns
from helper import DIGITS, execute, fail, shared, skip, tirc, work_folder

why = races.missing()
if why:
    skip(why)


def shared_sums():
    """The same threads, but what each keeps for itself is everybody's: must be
    found."""
    folder = os.path.join(work_folder(), "built")
    tirc("run", DIGITS, *races.options("c-openmp"), "--keep", folder, "-q",
         env=races.environment(4))
    path = os.path.join(folder, "digits.c")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    made, n = re.subn(r"(?m)^(\t\t+|(?: {4}){2,})(\w+ acc\[)", r"\1static \2", text)
    if n == 0:
        fail("no sums of a thread's own in " + text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(made)
    sources = [name for name in os.listdir(folder) if name.endswith(".c")]
    execute([races.CC, *races.FLAGS.split(), *sources, "-lm", "-o", "races"],
            cwd=folder)
    for _ in range(5):
        done = execute(["./races", "1"], None, cwd=folder,
                       env=races.environment(4))
        if "data race" in done.stderr:
            return
    fail("a race that was made is not found")


shared_sums()
runs = [(DIGITS, [], threads) for threads in (2, 4)]
WAYS = [(name, threads) for name in ("mlperf_tiny/kws_fp32", "mlperf_tiny/ad01_int8")
        for threads in (2, 4)]
for name, threads in turns.some("races", WAYS) if shared() else []:
    case = cases.make(name, work_folder())
    runs.append((case.model, [*case.data, *case.options], threads))
for model, arguments, threads in runs:
    tirc("test", model, *arguments, *races.options("c-openmp"), "-q",
         env=races.environment(threads))
