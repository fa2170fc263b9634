#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pool of runtime-c, and models whose loops it shares, under
ThreadSanitizer: no races. Once with threads that look for work, once with
threads that sleep at once."""
import json
import os
import shutil

import turns
from helper import (DIGITS, ROOT, compilers, execute, fail, shared, skip, tirc,
                    work_folder)

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(ROOT, "runtime-c")
folder = work_folder()
warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow",
            "-Werror"]

for cc in compilers():
    for looks in ("5000", "0"):
        program = os.path.join(folder, "pool-%s-%s" % (cc, looks))
        execute([cc, "-std=c11", "-O2", *warnings, "-I" + RUNTIME,
                 "-D_POSIX_C_SOURCE=200809L", "-DTIRC_POOL_LOOKS=" + looks,
                 "-o", program, os.path.join(HERE, "pool.c"), "-pthread"])
        execute([program])

cc = "gcc" if shutil.which("gcc") else compilers()[0]
races = ["-g", "-O0", "-fsanitize=thread"]
program = os.path.join(folder, "pool-races")
execute([cc, "-std=c11", *races, "-I" + RUNTIME, "-D_POSIX_C_SOURCE=200809L",
         "-o", program, os.path.join(HERE, "pool.c"), "-pthread"])
done = execute([program], status=None)
if "unexpected memory mapping" in done.stderr:
    skip("ThreadSanitizer does not run here")
if done.returncode != 0:
    fail("races in the pool:\n" + done.stderr)

path = os.path.join(ROOT, "templates", "targets", "c-threads.json")
with open(path) as file:
    target = json.load(file)
target["fork_ns"] = 0
with open(os.path.join(folder, "eager.json"), "w") as file:
    json.dump(target, file)
models = [DIGITS]
if shared():
    models += [os.path.join(shared(), "models", "mlperf_tiny", name,
                            "model.onnx") for name in turns.some(
                                "pool", ("kws_fp32", "ad01_int8"))]
for model in models:
    tirc("run", model, "--target", "eager", "--dialect-path", folder, "--cc",
         cc, "--cflags", "-std=gnu11 " + " ".join(races),
         "--repeat", "3", "-q", env=dict(
             os.environ, TIRC_THREADS="4",
             TSAN_OPTIONS="halt_on_error=1 exitcode=66"))
