#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/operators.md lists exactly the operators of ops.def, by file. With
REGEN=1 the list in the document is rewritten."""
import os
import re
import sys

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "passes", "ops", "ops.def")
DOCUMENT = os.path.join(ROOT, "docs", "operators.md")
BEGIN, END = "<!-- list -->\n", "<!-- end of list -->\n"


def listing():
    with open(TABLE, encoding="utf-8") as file:
        sections = file.read().split("/* -- ")[1:]
    lines = ["| file | operators |\n", "|---|---|\n"]
    for section in sections:
        name = re.match(r"(\w+\.c)", section).group(1)
        rows = [(domain and domain + ".") + row for row, domain in re.findall(
            r'^(?:MAP|OP)\((\w+)(?:, "(\w*)")?', section, re.M)]
        lines.append("| `%s` | %s |\n" % (name, ", ".join(sorted(rows))))
    return "".join(lines)


def main():
    with open(DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    new = "\n" + listing() + "\n"
    if old == new:
        return 0
    if os.environ.get("REGEN") == "1":
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(head + BEGIN + new + END + tail)
        return 0
    print("the list in docs/operators.md is not that of ops.def; "
          "run this test with REGEN=1")
    return 1


sys.exit(main())
