#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of tensor intrinsics says what the loader says: both take
those that ship, and both refuse each of these mistakes, of a folder that is an
intrinsic and of one that is a family. argv: the program that loads them
(intrinsics.c)."""
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


def write_family(type_name):
    """Two intrinsics of one folder; what the script and the twin name."""
    for name in ("intrinsic.py", "twin.tmpl"):
        with open(os.path.join(TEMPLATES, "intrinsics", "dot_2_smlad", name),
                  encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(own, "mine", name), "w",
                  encoding="utf-8") as file:
            file.write(text.replace('"int16"', '"{{%s}}"' % type_name).replace(
                "tirc_dot_2_smlad", "tirc_{{intrinsic}}"))


def intrinsic_refused(value, said="mine/intrinsic.json: /"):
    with open(os.path.join(own, "mine", "intrinsic.json"), "w",
              encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value))
    done = subprocess.run([sys.argv[1], "load", own],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        fail("status %d: %s" % (done.returncode, done.stderr))
    if done.returncode == 1 and said not in done.stderr:
        fail("no '%s': %s" % (said, done.stderr))
    return done.returncode == 1


INTRINSIC = load("intrinsics", "dot_2_smlad", "intrinsic.json")
SYMBOL = INTRINSIC["symbols"]["tirc_dot_2_smlad"]
if intrinsic_refused(INTRINSIC):
    fail("the loader refuses an intrinsic of one's own")
TEXT = {"function": "void", "file": "twin.tmpl"}
MISTAKES = [
        (("description",), 1), (("description",), None),
        (("script",), None), (("script",), ["intrinsic.py"]),
        (("requires",), "simd32"), (("requires",), [1]),
        (("threads",), 0), (("threads",), "32"), (("rounds_to",), 1),
        (("limits",), ["n"]), (("limits",), {"n": 0}),
        (("colour",), "red"), (("symbols",), []),
        (("symbols", "a"), {"twin": "twin.tmpl"}),
        (("symbols", "a"), dict(SYMBOL, twin=1)),
        (("symbols", "a"), dict(SYMBOL, dialects=["c99"])),
        (("symbols", "a"), dict(SYMBOL, other=1)),
        (("symbols", "a"), dict(SYMBOL, dialects={"c99": {}})),
        (("symbols", "a"), dict(SYMBOL, dialects={
            "c99": dict(TEXT, needs="string.h")})),
        (("symbols", "a"), dict(SYMBOL, dialects={
            "c99": dict(TEXT, flags="-O2")}))]


def changed(intrinsic, path, value):
    intrinsic = copy.deepcopy(intrinsic)
    at = intrinsic
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    if value is None:
        del at[path[-1]]
    return intrinsic


def check_mistakes(right, mistakes):
    for path, value in mistakes:
        intrinsic = changed(right, path, value)
        if not errors(intrinsic, intrinsic_schema, intrinsic_schema):
            fail("the schema takes %s: %s" % (path, value))
        if not intrinsic_refused(intrinsic):
            fail("the loader takes %s: %s" % (path, value))


check_mistakes(INTRINSIC, MISTAKES)
# What only the loader can know.
for value in [dict(INTRINSIC, script="none.py"),
              dict(INTRINSIC, rounds_to="bf8"),
              dict(INTRINSIC, script="../mine/intrinsic.py"),
              dict(INTRINSIC, symbols={"a b": SYMBOL}),
              dict(INTRINSIC, symbols={"a": dict(SYMBOL, twin="no.tmpl")})]:
    if not intrinsic_refused(value):
        fail("the loader takes %s" % value)
if not intrinsic_refused(dict(INTRINSIC, limits={"rows": 4}),
                         "intrinsic.py: no buffer of desc has the size 'rows'"):
    fail("the loader takes a limit of no variable")

# A family.
FAMILY = dict(
    INTRINSIC, description="of {{type}}",
    symbols={"tirc_{{intrinsic}}": dict(SYMBOL, dialects={
        "c99": dict(TEXT, needs=["{{header}}", "stdint.h"])})},
    values={"s16": {"type": "int16", "header": "", "rows": 2, "wide": True},
            "s8": {"type": "int8", "header": "a.h", "rows": 4, "wide": False},
            "more": {"extra": "1"}, "kind": {"type": "int16"}},
    members={"mine_s16": ["s16"], "mine_s8": ["s8"]})
write_family("type")
if errors(FAMILY, intrinsic_schema, intrinsic_schema):
    fail("the schema refuses a family")
if intrinsic_refused(FAMILY):
    fail("the loader refuses a family")
check_mistakes(FAMILY, [
    (("members",), []), (("members",), {}), (("members", "mine_s8"), "s8"),
    (("members", "mine_s8"), [1]), (("values",), []), (("values", "s8"), []),
    (("values", "s8", "rows"), 1.5), (("values", "s8", "type"), ["int8"])])
# What only the loader can know, and where it says that.
AT = "mine/intrinsic.json: "
for path, value, place in [
        (("members", "mine_s8"), ["s32"], "/members/mine_s8/0: "),
        (("members", "mine_s8"), ["s8", "kind"], "/members/mine_s8/1: "),
        (("members", "mine_s8"), ["s8", "more"], "/members/mine_s16: "),
        (("members", "mine_s16"), ["s16", "more"], "/members/mine_s8: "),
        (("members", "other_s8"), ["s8"], "/members/other_s8: "),
        (("members", "mine-s8"), ["s8"], "/members/mine-s8: "),
        (("members",), None, "/values: "),
        (("values", "s8", "function"), "void", "/values/s8/function: "),
        (("values", "s8", "a b"), "void", "/values/s8/a b: "),
        (("description",), "of {{kind}}", "/description: "),
        (("requires",), ["{{#type}}a"], "/requires/0: "),
        (("symbols",), {"tirc_x": SYMBOL}, "/symbols/tirc_x: ")]:
    if not intrinsic_refused(changed(FAMILY, path, value), AT + place):
        fail("the loader takes %s: %s" % (path, value))
# Two members of one name.
if not intrinsic_refused(json.dumps(FAMILY).replace(
        '"mine_s8": [', '"mine_s16": ['), AT + "/members/mine_s16: "):
    fail("the loader takes two members of one name")
# A member that is a folder, too.
shutil.copytree(os.path.join(TEMPLATES, "intrinsics", "dot_2_smlad"),
                os.path.join(own, "mine_s8"))
if not intrinsic_refused(FAMILY, "mine_s8/intrinsic.json: /"):
    fail("the loader takes a member of a folder's name")
shutil.rmtree(os.path.join(own, "mine_s8"))
# Scripts: which member, and where.
write_family("kind")
if not intrinsic_refused(FAMILY, "intrinsic.py:10: "):
    fail("a script asks for what no member has")
write_family("header")
if not intrinsic_refused(FAMILY, "intrinsic.py (mine_s16):10:"):
    fail("a script is no script")
