#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""topi_texts.py FOLDER OUT.c OUT.d: the definitions of topi, FOLDER/*.py, as a C
table (topi_text.h), and a make-style list of the files, so that an added, changed
or removed one makes the table again. The module of a text is its name with dots:
topi_nn.py is tvm.topi.nn. Docstrings and comments become empty lines, so that the
table is small and lines keep their numbers."""
import ast
import glob
import io
import os
import sys
import tokenize


def docstrings(text):
    """The numbers of the lines that are docstrings."""
    lines = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(
                    first.value, ast.Constant):
                lines.update(range(first.lineno, first.end_lineno + 1))
    return lines


def plain(text):
    """The text with comments and docstrings replaced by empty lines."""
    lines = text.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    gone = docstrings(text)
    return "\n".join("" if i in gone else line
                     for i, line in enumerate(lines, 1))


def c_array(text):
    """The text as numbers, because C limits the length of string literals."""
    numbers = list(text.encode("ascii")) + [0]
    return "\n".join("\t" + ",".join(map(str, numbers[at:at + 20])) + ","
                     for at in range(0, len(numbers), 20))


def main():
    folder, out_path, dep_path = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(folder, "*.py")))
    arrays, rows = [], []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = plain(file.read())
        name = os.path.basename(path)[:-len(".py")]
        arrays.append("static const char text_%s[] = {\n%s\n};" % (
            name, c_array(text)))
        rows.append("\t{ IN_%s, { \"%s\", text_%s, sizeof text_%s - 1 } }," % (
            name.upper(), name.replace("_", "."), name, name))
    with open(out_path, "w", encoding="utf-8") as file:
        file.write("""/* Written by topi_texts.py; do not edit. */
#include "topi_text.h"

extern const struct topi_text topi_text_table[];
extern const int topi_text_count;

%s

const struct topi_text topi_text_table[] = {
%s
};
const int topi_text_count = %d;
""" % ("\n".join(arrays), "\n".join(rows), len(rows)))
    with open(dep_path, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (out_path, " ".join(
            p.replace(" ", "\\ ") for p in paths + [folder])))


if __name__ == "__main__":
    main()
