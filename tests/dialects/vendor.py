#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dialect of a vendor whose compiler is not here: its pragmas are in the
text where its manual wants them, with the trip counts of the loops, and gcc
and clang, which do not know them, make a model of the rest that gives what it
must."""
import json
import os
import re

import proto
from helper import (DIGITS, STRICT, compile_model, compilers, execute, fail,
                    tirc, work_folder)

folder = work_folder()
shim = os.path.join(folder, "no_pragmas.h")
with open(shim, "w") as file:
    file.write('#pragma GCC diagnostic ignored "-Wunknown-pragmas"\n')


def text_of(where, name):
    with open(os.path.join(where, name), encoding="utf-8") as file:
        return file.read()


out = compile_model(DIGITS, "--target", "c6000", "-q", "--weights", "section",
                    "--section", ".far:model")
lines = text_of(out, "digits.c").splitlines()
loops = unrolled = 0
for i, line in enumerate(lines):
    loop = re.match(r"\s+for \(int32_t (\w+) = (\d+); \1 < (\d+);", line)
    if not loop:
        continue
    loops += 1
    trips = int(loop[3]) - int(loop[2])
    want = "#pragma MUST_ITERATE(%d, %d, %d)" % (trips, trips, trips)
    if lines[i - 1].strip() != want:
        fail("'%s' before '%s'" % (lines[i - 1].strip(), line.strip()))
    if lines[i - 2].strip().startswith("#pragma UNROLL"):
        unrolled += 1
        if lines[i - 2].strip() != "#pragma UNROLL(%d)" % trips:
            fail("'%s' before '%s'" % (lines[i - 2], line))
if loops < 20 or unrolled < 2:
    fail("%d loops, %d unrolled" % (loops, unrolled))
weights = text_of(out, "digits_weights.c")
for name in re.findall(r"^const float (\w+)", weights, re.MULTILINE):
    want = ('#pragma DATA_ALIGN(%s, 8)\n#pragma DATA_SECTION(%s, '
            '".far:model")\nconst float %s[' % (name, name, name))
    if want not in weights:
        fail("%s is not placed" % name)
if "restrict" not in text_of(out, "digits.c"):
    fail("no restrict")
for cc in compilers():
    for name in ("digits.c", "digits_weights.c"):
        execute([cc, "-std=c99", *STRICT, "-include", shim, "-c",
                 os.path.join(out, name), "-o", os.path.join(out, "x.o")])
    print(tirc("test", DIGITS, "--target", "c6000", "--cc", cc, "--cflags",
               "-std=c99 -O2 -include " + shim).stdout)

# A size that is not known has bounds.
model = os.path.join(folder, "some.onnx")
with open(model, "wb") as file:
    file.write(proto.simple([proto.node("Sin", ["x"], ["y"])],
                            dims=("n", 10), out=("n", 10)))
out = compile_model(model, "--target", "c6000", "-q", "--dim", "n=2..64",
                    "--name", "some")
if not re.search(r"#pragma MUST_ITERATE\((2, 64|20, 640), 1\)\n\s+for ",
                 text_of(out, "some.c")):
    fail("no bounds:\n" + text_of(out, "some.c"))

# Pragmas that hold for a whole file stand once, behind its headers and before
# its first function; they are no templates.
mine = work_folder()
os.mkdir(os.path.join(mine, "mine"))
PRAGMA = "#pragma diag_suppress 179"


def put(path, what):
    with open(os.path.join(mine, path), "w") as file:
        json.dump(what, file)


put("mine.json", {"extends": "c99", "description": "m", "dialect": "mine"})
put("mine/dialect.json", {"extends": "c99", "description": "m",
                          "source_before": [PRAGMA]})
out = compile_model(DIGITS, "--target", "mine", "-q", "--dialect-path", mine)
text = text_of(out, "digits.c")
if text.count(PRAGMA + "\n") != 1 or \
        not text.rindex("#include") < text.index(PRAGMA) < text.index("\n{"):
    fail("'%s' is not behind the headers:\n%s" % (PRAGMA, text[:2000]))
put("mine/dialect.json", {"extends": "c99", "description": "m",
                          "source_before": ["{{name}}"]})
said = tirc("dialect", "check", os.path.join(mine, "mine"), status=1).stderr
if "/source_before/0: unknown placeholder 'name'" not in said:
    fail("a placeholder in source_before: " + said)
