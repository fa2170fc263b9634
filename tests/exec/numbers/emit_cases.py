#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""emit_cases.py PROGRAM DIALECT [--once] FLAGS...: every operation of every type that
the dialect spells, as a function; compiled without a warning, it gives what
the interpreter gives, also under UBSan; tcc takes it where the dialect is
plain C."""
import os
import shutil
import subprocess
import sys

from helper import STRICT, compilers, execute, fail, work_folder

program, dialect, *flags = sys.argv[1:]
once = "--once" in flags  # only under UBSan
if once:
    flags.remove("--once")
folder = work_folder()


source = os.path.join(folder, "cases.c")
done = subprocess.run([program, dialect], capture_output=True, text=True)
if done.returncode != 0:
    fail(done.stderr)
with open(source, "w", encoding="utf-8") as file:
    file.write(done.stdout)
for cc in [] if once else compilers():
    exe = os.path.join(folder, cc)
    # One of them optimises: clang would take eight times as long.
    level = "-O0" if cc == "clang" else "-O1"
    execute([cc, *flags, *STRICT, level, source, "-o", exe, "-lm"])
    execute([exe])
gcc = shutil.which("gcc")
if gcc:
    exe = os.path.join(folder, "ubsan")
    # What is instrumented looks like other types to gcc's warnings.
    execute([gcc, *flags, *(STRICT if once else ["-w"]), "-O0",
             "-fsanitize=undefined,float-cast-overflow",
             "-fno-sanitize-recover=all", source, "-o", exe, "-lm"])
    execute([exe])
if dialect == "c99" and shutil.which("tcc"):
    exe = os.path.join(folder, "tcc")
    execute(["tcc", source, "-o", exe, "-lm"])
    execute([exe])
