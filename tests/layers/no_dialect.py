#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No source of gen/ or passes/ names a dialect, and none holds target syntax
in a string: what a target looks like is said in templates/ alone."""
import os
import re
import sys

from compile_command import ROOT, sources

shipped = {"c99", "gnu-c", "c-openmp", "misra", "cuda", "opencl"}
folder = os.path.join(ROOT, "templates", "dialects")
if os.path.isdir(folder):
    shipped |= {n for n in os.listdir(folder)
                if os.path.isdir(os.path.join(folder, n))}
NAME = re.compile(r"(?<![\w-])(%s)(?![\w-])" % "|".join(
    sorted(re.escape(n).replace("\\-", "[-_]") for n in shipped)),
    re.IGNORECASE)
# Names that programs (Python) use, whole.
PROGRAMS = {'"extern"', '"__future__"', '"__name__"', '"__main__"',
            '"__file__"'}
# Lines with names of devices in TVM, which programs use.
DEVICES = {'DEVICE("cpu") DEVICE("cuda") DEVICE("gpu") DEVICE("opencl") '
           'DEVICE("metal")', 'ALIAS(TOPI_GENERIC, "tvm.topi.cuda")'}
# The names of Python's special methods, which classes of programs may have.
SPECIAL = re.compile(
    r"__(?:r?(?:add|sub|mul|truediv|floordiv|mod|pow|and|or|xor|lshift|rshift)|"
    r"neg|abs|eq|ne|lt|gt|le|ge|str|repr|len|iter|next|call|class|name|main|init|"
    r"bool|hash|contains|getitem|setitem|enter|exit|version)__")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
SYNTAX = re.compile(
    r"#\s*(pragma|include|define|ifn?def|endif)\b|__\w+__|"
    r"\b(restrict|_Alignas|typedef|sizeof|extern|volatile)\b|"
    r"\b(for|while|switch) \(|\bstatic (const|inline|void|int|float)\b|"
    r"\bconst (void|float|double|int|unsigned|char)\b|"
    r"\b(float|double|int|void|char) ?\*|[;{]\\n")


def without_comments(text):
    """Comments become blanks; lines stay where they are."""
    def blank(match):
        word = match.group(0)
        if word.startswith("/"):
            return "\n" * word.count("\n")
        return word
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', blank, text,
                  flags=re.DOTALL)


failed = []
for layer in ("passes", "gen"):
    for path in sources(layer, (".c", ".h", ".def")):
        name = os.path.relpath(path, ROOT)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for number, line in enumerate(text.splitlines(), 1):
            found = NAME.search(line)
            if found and line not in DEVICES:
                failed.append("%s:%d: names the dialect %s"
                              % (name, number, found[0]))
        code = without_comments(text)
        for number, line in enumerate(code.splitlines(), 1):
            if re.match(r"\s*#\s*include", line):
                continue
            for string in STRING.findall(line):
                if name.startswith("gen/program/"):
                    string = SPECIAL.sub("", string)
                found = SYNTAX.search(string)
                if found and string not in PROGRAMS:
                    failed.append("%s:%d: target syntax %s in %s"
                                  % (name, number, found[0], string))
if failed:
    sys.exit("\n".join(failed))
