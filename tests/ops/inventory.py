#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/operators.md lists exactly the operators of ops.def and the
compositions of compose.def, strings.def and compositions/, by file, and
docs/develop/operators.md shows one operator as it is in the sources. With REGEN=1
these parts are rewritten."""
import glob
import os
import re
import sys

ROOT = os.environ.get("TIRC_ROOT") or os.path.dirname(os.path.dirname(
    os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "gen", "onnx", "compose"))
from compositions import functions  # noqa: E402
REFERENCE = os.path.join(ROOT, "docs", "reference", "operators.md")
DEVELOP = os.path.join(ROOT, "docs", "develop", "operators.md")
TEXTS = os.path.join("gen", "onnx", "compose", "compositions")
# Where a table stands in the document, its file, and a row of it; a row has
# groups "name" and "domain".
TABLES = [
    ("list", os.path.join("passes", "ops", "core", "ops.def"),
     r'^(?:MAP|OP)\((?P<name>\w+)(?:, "(?P<domain>[\w.]*)")?'),
    ("list of compositions", os.path.join("gen", "onnx", "compose", "compose.def"),
     r'^COMPOSE\("(?P<domain>[\w.]*)", (?P<name>\w+)'),
    ("list of operators on strings",
     os.path.join("gen", "onnx", "compose", "strings.def"),
     r'^COMPOSE\("(?P<domain>[\w.]*)", (?P<name>\w+)'),
]
# The operator that is shown: its file, its name there, its row's beginning.
EXAMPLE = (os.path.join("passes", "ops", "movement", "shape.c"), "eye_like", "OP(EyeLike,")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def function(source, name):
    """The function with the comment before it, if there is one."""
    return re.search(r"(/\*(?:[^*]|\*(?!/))*\*/\n)?bool\n%s\(.*?^}\n" % name,
                     source, re.M | re.S).group(0)


def example():
    """The operator as the lines that its change added."""
    path, name, row = EXAMPLE
    table = os.path.join("passes", "ops", "core", "ops.def")
    source = read(path)
    parts = [(table, re.search(re.escape(row) + r"[^)]*\)\n",
                               read(table)).group(0)),
             (path, function(source, "infer_" + name) + "\n" +
              function(source, "define_" + name))]
    return "```diff\n%s```\n" % "".join(
        "+++ %s\n" % file + "".join("+" + line for line in
                                    text.splitlines(keepends=True))
        for file, text in parts)


def listing(path, row):
    sections = read(path).split("/* -- ")[1:]
    lines = ["| file | operators |\n", "|---|---|\n"]
    if path.endswith("strings.def"):
        lines.append("| `strings.onnxtxt` | %s |\n" % ", ".join(sorted(
            name[len("String"):] for _, name, _ in functions(os.path.join(
                ROOT, TEXTS, "strings.onnxtxt")) if name.startswith("String"))))
    for section in sections:
        name = re.match(r"(\w+\.c)", section).group(1)
        rows = sorted((found["domain"] + "." if found["domain"] else "") +
                      found["name"]
                      for found in re.finditer(row, section, re.M))
        lines.append("| `%s` | %s |\n" % (name, ", ".join(rows)))
    return "".join(lines)


def texts():
    """The compositions that are texts; those of the domain tirc are pieces."""
    lines = ["| file | operators |\n", "|---|---|\n"]
    for path in sorted(glob.glob(os.path.join(ROOT, TEXTS, "*.onnxtxt"))):
        names = sorted((domain + "." if domain else "") + name
                       for domain, name, _ in functions(path)
                       if domain != "tirc")
        if names:
            lines.append("| `%s` | %s |\n" % (os.path.basename(path),
                                             ", ".join(names)))
    return "".join(lines)


def replaced(document, parts):
    """Writes the parts into the document, if told so; is it as it was?"""
    text = new = read(document)
    for mark, part in parts:
        head, rest = new.split("<!-- %s -->\n" % mark)
        tail = rest.split("<!-- end of %s -->\n" % mark)[1]
        new = "%s<!-- %s -->\n\n%s\n<!-- end of %s -->\n%s" % (
            head, mark, part, mark, tail)
    if text != new and os.environ.get("REGEN") == "1":
        with open(document, "w", encoding="utf-8") as file:
            file.write(new)
        return True
    return text == new


def main():
    tables = [(mark, listing(path, row)) for mark, path, row in TABLES]
    tables.append(("list of written compositions", texts()))
    if replaced(REFERENCE, tables) & replaced(DEVELOP, [("example", example())]):
        return 0
    print("the lists in docs/reference/operators.md are not those of ops.def, "
          "compose.def, strings.def and compositions/, or the example in "
          "docs/develop/operators.md is not as in the sources; run this test "
          "with REGEN=1")
    return 1



sys.exit(main())
