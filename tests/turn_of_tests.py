#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""turn_of_tests.py BUILD [--without SUITE] SUITE[:PARTS]...: the names of the tests
that a run takes. Of the tests of a SUITE it is one in PARTS (3), others after each
commit; of the tests of several, by the largest PARTS; of the others it is each one.
With TIRC_TURNS=all it is each test."""
import argparse
import json
import os

import turns

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--without", metavar="SUITE")
parser.add_argument("suites", metavar="SUITE[:PARTS]", nargs="+")
given = parser.parse_args()
with open(os.path.join(given.build, "meson-info", "intro-tests.json"),
          encoding="utf-8") as file:
    tests = json.load(file)
parts = {}
for suite in given.suites:
    name, _, count = suite.partition(":")
    parts[name] = int(count or 3)
taken = {}
for test in tests:
    suites = {name.rpartition(":")[2] for name in test["suite"]}
    name = test["name"]
    if given.without in suites:
        continue
    if turns.is_turn_of(name, max(parts.get(suite, 1) for suite in suites)):
        taken[name] = True
print("\n".join(taken))
