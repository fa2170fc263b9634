#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""selftest.py DIALECT FLAGS...: the pack that `tirc dialect selftest` writes
compiles without a warning under every compiler here, by turns, and passes, also
under UBSan; it asks for nothing but the report and what the dialect's own functions
need; and a dialect that extends c99 and adds wrongly fails in just
those cells."""
import json
import os
import shutil
import subprocess
import sys

import turns
from helper import STRICT, compilers, execute, fail, tirc, work_folder

dialect, *flags = sys.argv[1:]


def sources(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.endswith(".c"))


def run(folder, *command, status=0):
    exe = os.path.join(folder, "a.out")
    execute([*command, *sources(folder), "-o", exe, "-lm"], cwd=folder)
    return execute([exe], status).stdout


pack = os.path.join(work_folder(), "pack")
# The first target of gnu-c has no vectors.
tirc("dialect", "selftest", dialect, "-o", pack,
     *(["--target", "gnu-c"] if dialect == "gnu-c" else []))
shown = json.loads(tirc("dialect", "show", dialect, "--json").stdout)
parts = [name for name, row in shown["types"].items()
         if "spelling" in row and name not in ("void", "ptr")]
parts += [t.replace("float", "f").replace("int", "i")
          for t in shown["vectors"].split()] \
    if isinstance(shown["vectors"], str) else []
for part in parts:
    if not os.path.exists(os.path.join(pack, "selftest_%s.c" % part)):
        fail("no part for " + part)

for cc in turns.some(dialect, compilers()) if dialect == "c99" \
        else compilers()[:1]:
    # Vectors of 64 bytes are passed inside of one file only: notes, no
    # warnings.
    said = run(pack, cc, *flags, *STRICT, "-O1" if cc == "gcc" else "-O0")
    cells = int(said.split()[0])
    if cells < 40 * 10 or " 0 failed" not in said:
        fail("%s says: %s" % (cc, said))
if shutil.which("gcc"):
    run(pack, "gcc", *flags, "-O0",
        "-fsanitize=undefined,float-cast-overflow",
        "-fno-sanitize-recover=all")
if dialect == "c99" and shutil.which("tcc"):
    run(pack, "tcc")

# Nothing from outside but functions of floats and copies of bytes.
if dialect == "c99" and shutil.which("nm"):
    defined, wanted = {"report"}, set()
    for source in sources(pack):
        if os.path.basename(source) == "main.c":
            continue
        execute([compilers()[0], *flags, "-O0", "-ffreestanding", "-c",
                 source, "-o", source + ".o"])
        for line in execute(["nm", source + ".o"]).stdout.splitlines():
            kind, name = line.split()[-2:]
            (wanted if kind == "U" else defined).add(name)
    known = set(shown["operations"]) | {"fabs", "memcpy", "memset"}
    strange = {name for name in wanted - defined
               if name not in known and
               not (name.endswith("f") and name[:-1] in known)}
    if strange:
        fail("the pack needs %s" % sorted(strange))

# One that is wrong is found out: once, for what others extend.
if dialect != "c99":
    sys.exit(0)
mine = os.path.join(work_folder(), "wrong")
os.mkdir(mine)
with open(os.path.join(mine, "dialect.json"), "w") as file:
    json.dump({"extends": dialect, "description": "adds wrongly",
               "expressions": {"add": {"infix": "-", "at": "additive"}}},
              file)
tirc("dialect", "selftest", mine, "-o", pack + "2")
said = run(pack + "2", shutil.which("tcc") or compilers()[0], *flags, "-w",
           status=1)
wrong = {line.split()[1] for line in said.splitlines()
         if line.startswith("FAILED")}
if "add_f32" not in wrong or "sub_f32" in wrong or "add_i32" in wrong:
    fail("wrong cells: %s" % sorted(wrong))
