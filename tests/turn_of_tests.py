#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""turn_of_tests.py BUILD [--without SUITE] SUITE...: prints the names of the tests that
a run takes: a sixth of the tests that are in one of the SUITEs, another sixth after
each commit, and all other tests. With TIRC_TURNS=all it prints all tests. Tests of the
suite behind --without are left out."""
import argparse
import json
import os

import turns

PARTS = 6

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
    if suites.isdisjoint(given.suites) or turns.is_turn_of(name, PARTS):
        taken[name] = True
print("\n".join(taken))
