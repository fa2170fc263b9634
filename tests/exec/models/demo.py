#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo, as a visitor sees it: at least nine in ten digits are right, each
is drawn, and the files it names exist."""
import os
import re

from helper import ROOT, TIRC, execute, fail, need, tirc, work_folder

need("cc")
out = os.path.join(work_folder(), "demo")
text = execute([os.path.join(ROOT, "examples", "digits", "demo.sh"), TIRC, out,
                "native" if "gnu-c" in tirc("dialect", "list").stdout
                else "c99"]).stdout
score = re.search(r"(\d+) of (\d+) right", text)
if not score or int(score[2]) != 20 or int(score[1]) < 18:
    fail("too few are right:\n" + text)
if len(re.findall(r"\d \(\s*\d+ %\), is \d", text)) != 20:
    fail("not every digit has a prediction and a label:\n" + text)
named = re.findall(r"^  (\S+)", text[text.index("to read:"):], re.M)
if len(named) < 4:
    fail("it names no files:\n" + text)
for path in named:
    if not os.path.isfile(path):
        fail("it names a file that is not there: " + path)
