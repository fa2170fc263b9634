#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the README shows as output is what is printed, to the letter."""
import os
import re

from helper import DIGITS, ROOT, TIRC, execute, fail, work_folder

with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
    readme = f.read()
folder = work_folder()


def compiled(out, *options):
    """What `tirc compile` says of the example, and the source."""
    out = os.path.join(folder, out)
    said = execute([TIRC, "compile", os.path.relpath(DIGITS, ROOT), "-o", out,
                    *options], cwd=ROOT).stdout
    with open(os.path.join(out, "digits.c"), encoding="utf-8") as f:
        return said.replace(folder + "/", ""), f.read()


said, source = compiled("out")
_, with_cblas = compiled("cblas", "--byoc", "cblas")
shown = re.findall(r"(--byoc cblas` prints\n\n)?^```c\n(.*?)^```", readme,
                   re.M | re.S)
if len(shown) < 3 or not any(by_cblas for by_cblas, _ in shown):
    fail("the README shows no kernel, no call, or none of a library")
for by_cblas, text in shown:
    if text not in (with_cblas if by_cblas else source):
        fail("tests: the README shows what is not emitted:\n" + text)
program = re.search(r"^```python\n(.*?)^```\n\n`tirc lower (\S+)` prints\n\n"
                    r"^```\n(.*?)^```", readme, re.M | re.S)
if not program:
    fail("the README shows no tensor program")
path = os.path.join(folder, program[2])
with open(path, "w", encoding="utf-8") as f:
    f.write(program[1])
lowered = execute([TIRC, "lower", path]).stdout
if lowered.rstrip("\n") != program[3].rstrip("\n"):
    fail("the README's program prints something else:\n" + lowered)
printed = re.search(r"^\$ tirc compile [^\n]*\n(.*?)^```", readme,
                    re.M | re.S)
if not printed or printed[1] != said:
    fail("the README's summary is not what is printed:\n" + said)
