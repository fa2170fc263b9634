#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operators.md lists exactly the operators of ops.def and the compositions
of compose.def and strings.def, by file. With REGEN=1 the lists in the document are
rewritten."""
import os
import re
import sys

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
DOCUMENT = os.path.join(ROOT, "docs", "operators.md")
# Where a table stands in the document, its file, and a row of it; a row has
# groups "name" and "domain".
TABLES = [
    ("list", os.path.join("passes", "ops", "ops.def"),
     r'^(?:MAP|OP)\((?P<name>\w+)(?:, "(?P<domain>[\w.]*)")?'),
    ("list of compositions", os.path.join("gen", "onnx", "compose.def"),
     r'^COMPOSE\("(?P<domain>[\w.]*)", (?P<name>\w+)'),
    ("list of operators on strings",
     os.path.join("gen", "onnx", "strings.def"),
     r'^COMPOSE\("(?P<domain>[\w.]*)", (?P<name>\w+)'),
]


def listing(path, row):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        sections = file.read().split("/* -- ")[1:]
    lines = ["| file | operators |\n", "|---|---|\n"]
    for section in sections:
        name = re.match(r"(\w+\.c)", section).group(1)
        rows = sorted((found["domain"] + "." if found["domain"] else "") +
                      found["name"]
                      for found in re.finditer(row, section, re.M))
        lines.append("| `%s` | %s |\n" % (name, ", ".join(rows)))
    return "".join(lines)


def main():
    with open(DOCUMENT, encoding="utf-8") as file:
        text = new = file.read()
    for mark, path, row in TABLES:
        head, rest = new.split("<!-- %s -->\n" % mark)
        tail = rest.split("<!-- end of %s -->\n" % mark)[1]
        new = "%s<!-- %s -->\n\n%s\n<!-- end of %s -->\n%s" % (
            head, mark, listing(path, row), mark, tail)
    if text == new:
        return 0
    if os.environ.get("REGEN") == "1":
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(new)
        return 0
    print("the lists in docs/operators.md are not those of ops.def, "
          "compose.def and strings.def; run this test with REGEN=1")
    return 1


sys.exit(main())
