# SPDX-License-Identifier: Apache-2.0
"""Texts in the language of programs as C tables."""
import ast
import glob
import io
import os
import tokenize


def docstrings(text):
    """The numbers of the lines that are docstrings."""
    lines = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef)) or (
                isinstance(node, ast.ClassDef) and len(node.body) > 1):
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


def c_array(name, text):
    """The text as numbers, because C limits the length of string literals."""
    numbers = list(text.encode("ascii")) + [0]
    return "static const char text_%s[] = {\n%s\n};" % (name, "\n".join(
        "\t" + ",".join(map(str, numbers[at:at + 20])) + ","
        for at in range(0, len(numbers), 20)))


def read(folder):
    """The texts of the files FOLDER/*.py, by their names without .py."""
    texts = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.py"))):
        with open(path, encoding="utf-8") as file:
            texts[os.path.basename(path)[:-len(".py")]] = plain(file.read())
    return texts


def write(out_path, dep_path, folder, text):
    """The table, and a make-style list of the files, so that an added, changed or
    removed one makes the table again."""
    with open(out_path, "w", encoding="utf-8") as file:
        file.write(text)
    paths = sorted(glob.glob(os.path.join(folder, "*.py"))) + [folder]
    with open(dep_path, "w", encoding="utf-8") as file:
        file.write("%s: %s\n" % (out_path, " ".join(
            p.replace(" ", "\\ ") for p in paths)))
