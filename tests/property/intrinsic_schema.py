#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of tensor intrinsics says what the loader says: both take
those that ship, and both refuse each of these mistakes. argv: the program
that loads them (intrinsics.c)."""
import copy
import json
import os
import shutil
import subprocess
import sys

from helper import ROOT, fail, work_folder
from schema_check import errors

TEMPLATES = os.path.join(ROOT, "templates")


def load(*path):
    with open(os.path.join(TEMPLATES, *path), encoding="utf-8") as file:
        return json.load(file)


intrinsic_schema = load("schema", "intrinsic.schema.json")
for name in sorted(os.listdir(os.path.join(TEMPLATES, "intrinsics"))):
    wrong = errors(load("intrinsics", name, "intrinsic.json"),
                   intrinsic_schema, intrinsic_schema)
    if wrong:
        fail("the schema refuses intrinsic %s: %s" % (name, wrong))

own = os.path.join(work_folder(), "own")
shutil.copytree(os.path.join(TEMPLATES, "intrinsics", "dot_2_smlad"),
                os.path.join(own, "mine"))


def intrinsic_refused(value):
    with open(os.path.join(own, "mine", "intrinsic.json"), "w",
              encoding="utf-8") as file:
        json.dump(value, file)
    done = subprocess.run([sys.argv[1], "load", own],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        fail("status %d: %s" % (done.returncode, done.stderr))
    if done.returncode == 1 and "mine/intrinsic.json: /" not in done.stderr:
        fail("no file and pointer: " + done.stderr)
    return done.returncode == 1


INTRINSIC = load("intrinsics", "dot_2_smlad", "intrinsic.json")
SYMBOL = INTRINSIC["symbols"]["tirc_dot_2_smlad"]
if intrinsic_refused(INTRINSIC):
    fail("the loader refuses an intrinsic of one's own")
TEXT = {"function": "void", "file": "twin.tmpl"}
for path, value in [
        (("description",), 1), (("description",), None),
        (("script",), None), (("script",), ["intrinsic.py"]),
        (("requires",), "simd32"), (("requires",), [1]),
        (("colour",), "red"), (("symbols",), []),
        (("symbols", "a"), {"twin": "twin.tmpl"}),
        (("symbols", "a"), dict(SYMBOL, twin=1)),
        (("symbols", "a"), dict(SYMBOL, dialects=["c99"])),
        (("symbols", "a"), dict(SYMBOL, other=1)),
        (("symbols", "a"), dict(SYMBOL, dialects={"c99": {}})),
        (("symbols", "a"), dict(SYMBOL, dialects={
            "c99": dict(TEXT, needs="string.h")})),
        (("symbols", "a"), dict(SYMBOL, dialects={
            "c99": dict(TEXT, flags="-O2")}))]:
    intrinsic = copy.deepcopy(INTRINSIC)
    at = intrinsic
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    if value is None:
        del at[path[-1]]
    if not errors(intrinsic, intrinsic_schema, intrinsic_schema):
        fail("the schema takes %s: %s" % (path, value))
    if not intrinsic_refused(intrinsic):
        fail("the loader takes %s: %s" % (path, value))
# What only the loader can know.
for value in [dict(INTRINSIC, script="none.py"),
              dict(INTRINSIC, script="../mine/intrinsic.py"),
              dict(INTRINSIC, symbols={"a b": SYMBOL}),
              dict(INTRINSIC, symbols={"a": dict(SYMBOL, twin="no.tmpl")})]:
    if not intrinsic_refused(value):
        fail("the loader takes %s" % value)
