#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""turn_of_tests.py BUILD [--without SUITE] SUITE...: the names of the tests that a
run takes. Of the tests of a SUITE it is a third, another third after each commit;
of the others it is each one. With TIRC_TURNS=all it is each test."""
import argparse
import json
import os

import turns

PARTS = 3

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--without", metavar="SUITE")
parser.add_argument("suites", metavar="SUITE", nargs="+")
given = parser.parse_args()
with open(os.path.join(given.build, "meson-info", "intro-tests.json"),
          encoding="utf-8") as file:
    tests = json.load(file)
taken = {}
for test in tests:
    suites = {name.rpartition(":")[2] for name in test["suite"]}
    name = test["name"]
    if given.without in suites:
        continue
    if not suites & set(given.suites) or turns.is_turn_of(name, PARTS):
        taken[name] = True
print("\n".join(taken))
