#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generated.py PRINT_KEYS [--write]: the JSON Schemas in templates/schema and
the tables in docs/ between

    <!-- keys of FILE.json: PLACE... -->
    <!-- end of keys -->

are as the tables of keys (gen/dialect/dialect.def and others) say, no key is
left out, and each example is a value that its schema takes; --write writes
them."""
import glob
import json
import os
import re
import subprocess
import sys

from schema_check import errors

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
KINDS = ("backend", "dialect", "intrinsic", "target")
BLOCK = re.compile(r"(<!-- keys of (\w+)\.json: (.*?) -->\n).*?"
                   r"(<!-- end of keys -->)", re.DOTALL)
PRINT_KEYS = sys.argv[1]
write = sys.argv[2:] == ["--write"]
stale, shown = [], {kind: set() for kind in KINDS}


def print_keys(*arguments):
    return subprocess.run([PRINT_KEYS, *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def compare(path, text):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        old = file.read()
    if old == text:
        return
    stale.append(path)
    if write:
        with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
            file.write(text)


def table(found):
    kind, places = found[2], found[3]
    text = print_keys(kind, "manual", places)
    shown[kind].update(places.split())
    return found[1] + "\n" + text + "\n" + found[4]


def place_of(pointer):
    """The place of whose table the key is a row."""
    place = pointer.rsplit("/", 1)[0]
    while place.endswith("/*"):
        place = place[:-2]
    return place or "/"


def check_examples(part, root, where):
    """Of a schema, or of a part of one."""
    if isinstance(part, list):
        part = dict(enumerate(part))
    if not isinstance(part, dict):
        return
    for example in part.get("examples", []):
        if example is None or errors(example, part, root):
            sys.exit("%s: its schema refuses the example %s"
                     % (where, json.dumps(example)))
    for key, inner in part.items():
        check_examples(inner, root, "%s/%s" % (where, key))


for kind in KINDS:
    schema = json.loads(print_keys(kind, "schema"))
    check_examples(schema, schema, kind)
    compare("templates/schema/%s.schema.json" % kind,
            print_keys(kind, "schema"))
for path in sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"),
                             recursive=True)):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if BLOCK.search(text):
        compare(os.path.relpath(path, ROOT), BLOCK.sub(table, text))
for kind in KINDS:
    for pointer in print_keys(kind, "places").split():
        if place_of(pointer) not in shown[kind]:
            sys.exit("no table in docs/ has %s of %s.json: add its place %s "
                     "to a <!-- keys of %s.json: ... -->"
                     % (pointer, kind, place_of(pointer), kind))
if stale and not write:
    sys.exit("not as the tables of keys say: %s\n./run docs writes them"
             % " ".join(stale))
