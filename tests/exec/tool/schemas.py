#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas say what the loader says: both take the dialects and
targets that ship, and both refuse each of these mistakes."""
import copy
import json
import os
import shutil

from helper import DIGITS, ROOT, fail, tirc, work_folder
from schema_check import errors

TEMPLATES = os.path.join(ROOT, "templates")


def load(*path):
    with open(os.path.join(TEMPLATES, *path), encoding="utf-8") as file:
        return json.load(file)


dialect_schema = load("schema", "dialect.schema.json")
target_schema = load("schema", "target.schema.json")
dialects = sorted(os.listdir(os.path.join(TEMPLATES, "dialects")))
for name in dialects:
    wrong = errors(load("dialects", name, "dialect.json"), dialect_schema,
                   dialect_schema)
    if wrong:
        fail("the schema refuses %s: %s" % (name, wrong))
for name in sorted(os.listdir(os.path.join(TEMPLATES, "targets"))):
    wrong = errors(load("targets", name), target_schema, target_schema)
    if wrong:
        fail("the schema refuses target %s: %s" % (name, wrong))

folder = work_folder()
os.mkdir(os.path.join(folder, "mine"))


def loader_refuses(dialect, target):
    with open(os.path.join(folder, "mine", "dialect.json"), "w") as file:
        json.dump(dialect, file)
    with open(os.path.join(folder, "mine.json"), "w") as file:
        json.dump(target, file)
    out = os.path.join(folder, "out")
    done = tirc("compile", DIGITS, "-o", out, "--dialect-path", folder,
                "--target", "mine", "-q", status=None)
    left = os.path.isdir(out) and os.listdir(out)
    shutil.rmtree(out, True)
    if done.returncode not in (0, 1) or (done.returncode == 1 and left):
        fail("status %d, files %s" % (done.returncode, left))
    return done.returncode == 1


DIALECT = {"extends": "c99", "description": "mine"}
TARGET = dict(load("targets", "c99.json"), dialect="mine")
TARGET.pop("default", None)
if loader_refuses(DIALECT, TARGET):
    fail("the loader refuses a dialect that only extends")

MISTAKES = [
    ("limits", {"int_bits": 12}), ("limits", {"colour": 1}),
    ("limits", {"line_columns": "80"}), ("limits", []),
    ("precedence", []), ("precedence", [{"name": "a", "associates": "up"}]),
    ("precedence", [{"break": "before"}]), ("precedence", {}),
    ("types", {"i33": {}}), ("types", {"i32": {"spelling": 1}}),
    ("types", {"i32": {"needs": "stdint.h"}}),
    ("types", {"i8": {"short_is_int": "yes"}}),
    ("expressions", {"addd": {"infix": "+"}}),
    ("expressions", {"add": {"infix": "+", "at": 3}}),
    ("expressions", {"add": {"postfix": "+"}}),
    ("expressions", {"exp": {"f31": {"call": "e"}}}),
    ("access", {"element": 1}), ("access", {"other": ""}),
    ("statements", {"store": {"line": 1}}), ("statements", {"swap": {}}),
    ("functions", {"kernel": "void"}), ("functions", {"main": ""}),
    ("device", []), ("device", {"indices": {"blockIdx.w": "x"}}),
    ("device", {"launch": "go"}), ("device", {"barriers": {"warp": "x"}}),
    ("helpers", {"min": {"names": "x"}}),
    ("vectors", {"colour": 1}), ("vectors", {"name": 1}),
    ("weights", {"large": "huge"}), ("weights", {"forms": ["d"]}),
    ("weights", {"in_source_bytes": -1}),
    ("templates", {"footer": "f.tmpl"}), ("files", {"header": 1}),
    ("reserved", "int"), ("reserved", [1]), ("colour", "red"),
    ("description", 1), ("fp", {"exact": {}}), ("fp", {"fast": {"line": ""}}),
    ("fp", {"strict": {"before": 1}}),
]
for key, value in MISTAKES:
    dialect = copy.deepcopy(DIALECT)
    dialect[key] = value
    if not errors(dialect, dialect_schema, dialect_schema):
        fail("the schema takes %s: %s" % (key, value))
    if not loader_refuses(dialect, TARGET):
        fail("the loader takes %s: %s" % (key, value))
for key, value in [("align_bytes", 0), ("l1_bytes", "32k"), ("cc", 1),
                   ("colour", "red"), ("cflags", None),
                   ("vector_bytes", 5000), ("fp_cflags", {"slow": ""}),
                   ("fp_cflags", {"fast": 1}), ("products", "amx"),
                   ("products", ["dot_16x4_vnni"]),
                   ("products", [{"fill": "amx_zero_i32"}]),
                   ("products", [{"multiply": "amx_dot_u8s8",
                                  "fill": "amx_zero_i32"}]),
                   ("products", [{"multiply": "amx_dot_u8s8",
                                  "fill": "amx_zero_i32",
                                  "store": "amx_store_i32",
                                  "load": ["amx_zero_i32"]}]),
                   ("products", [{"multiply": "dot_16x4_vnni",
                                  "threads": 1}]),
                   ("shift_zero_points", 1), ("max_blocks", -1),
                   ("block_threads", 0), ("copy_ahead_registers", "many"),
                   ("byte_dot", "dot_16x4_vnni"), ("unsigned_bytes", True)]:
    target = dict(TARGET)
    target[key] = value
    if not errors(target, target_schema, target_schema):
        fail("the schema takes target's %s: %s" % (key, value))
    if not loader_refuses(DIALECT, target):
        fail("the loader takes target's %s: %s" % (key, value))

# Targets that extend others: what they add is checked as if it stood in one.
OVER = {"extends": "c99", "description": "mine", "dialect": "mine"}
if errors(OVER, target_schema, target_schema):
    fail("the schema refuses a target that extends")
if loader_refuses(DIALECT, OVER):
    fail("the loader refuses a target that extends")
for key, value in [("vector_bytes", -1), ("colour", "red"), ("cc", 1),
                   ("extends", 1), ("description", None)]:
    target = dict(OVER)
    target[key] = value
    if not errors(target, target_schema, target_schema):
        fail("the schema takes target's %s: %s" % (key, value))
    if not loader_refuses(DIALECT, target):
        fail("the loader takes target's %s: %s" % (key, value))
for other, message in [("mine", "extend each other in a circle"),
                       ("nothing", "there is no such target"),
                       ("../mine", "there is no such target")]:
    with open(os.path.join(folder, "mine.json"), "w") as file:
        json.dump(dict(OVER, extends=other), file)
    done = tirc("compile", DIGITS, "-o", os.path.join(folder, "out"),
                "--dialect-path", folder, "--target", "mine", "-q", status=1)
    if message not in done.stderr or "/extends" not in done.stderr:
        fail("a target that extends %s: %s" % (other, done.stderr))
