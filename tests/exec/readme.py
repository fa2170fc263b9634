#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the README shows as output is what is printed, to the letter."""
import os
import re

from helper import DIGITS, ROOT, TIRC, execute, fail, work_folder

with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
    readme = f.read()
folder = work_folder()
said = execute([TIRC, "compile", os.path.relpath(DIGITS, ROOT), "-o",
                os.path.join(folder, "out")], cwd=ROOT).stdout
said = said.replace(folder + "/", "")
with open(os.path.join(folder, "out", "digits.c"), encoding="utf-8") as f:
    source = f.read()
shown = re.findall(r"^```c\n(.*?)^```", readme, re.M | re.S)
if len(shown) < 2:
    fail("the README shows no kernel and no call")
for text in shown:
    if text not in source:
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
