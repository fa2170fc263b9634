#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many PrimFuncs of a checkout of TVM's sources tirc reads and emits.

    ./run bench tvm FOLDER [--target T] [--reasons N] [--keep OUT]

Takes each function marked prim_func, and each class marked ir_module, of the Python
files below FOLDER, with the constants that the text around it defines, as a program of
its own: `tirc lower` reads and lowers it, `tirc codegen` emits it. Prints both numbers
and the N most frequent reasons for those that fail. Nothing of the checkout is
executed. --keep writes the programs that are not read to the folder OUT."""
import argparse
import ast
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import textwrap

HEAD = """import tvm
from tvm import te, tir
from tvm.script import ir as I
from tvm.script import tir as T
"""
MARKS = {"prim_func": "a function", "ir_module": "a module"}


def mark(node):
    """prim_func or ir_module, if the definition is decorated so."""
    for d in node.decorator_list:
        d = d.func if isinstance(d, ast.Call) else d
        name = d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "")
        if name in MARKS:
            return name
    return None


def constants(body):
    """{name: line} of the assignments of literals in a suite."""
    found = {}
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and \
                isinstance(node.targets[0], ast.Name):
            try:
                value = ast.literal_eval(node.value)
            except (ValueError, TypeError, SyntaxError, MemoryError):
                continue
            if isinstance(value, (int, float, str, bool)):
                name = node.targets[0].id
                found[name] = "%s = %r" % (name, value)
    return found


def definitions(tree, text, outer):
    """(name, program) of each marked definition, also inside of others."""
    known = dict(outer)
    known.update(constants(tree.body))
    macros = [ast.get_source_segment(text, n, padded=True) for n in tree.body
              if isinstance(n, ast.FunctionDef) and any(
                  "macro" in ast.dump(d) for d in n.decorator_list)]
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        kind = mark(node)
        if not kind:
            yield from definitions(node, text, known)
            continue
        first = min([node.lineno] + [d.lineno for d in node.decorator_list])
        lines = text.split("\n")[first - 1:node.end_lineno]
        own = textwrap.dedent("\n".join(lines))
        used = [line for name, line in known.items()
                if re.search(r"\b%s\b" % re.escape(name), own)]
        # relax's functions are no tensor programs
        if re.search(r"@R\.|\bR\.", own):
            continue
        yield node.name, "%s%s\n%s\n%s\n" % (
            HEAD, "\n".join(used),
            "\n".join(textwrap.dedent(m) for m in macros if m), own)


def programs(folder):
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            whole = os.path.join(path, name)
            try:
                with open(whole, encoding="utf-8") as file:
                    text = file.read()
                tree = ast.parse(text)
            except (SyntaxError, UnicodeDecodeError, ValueError, OSError):
                continue
            for one, program in definitions(tree, text, {}):
                yield os.path.relpath(whole, folder), one, program


def reason(message):
    """A message without its place, names and numbers."""
    for line in message.split("\n"):
        found = re.match(r"error: (?:.*?\.py:\d+:\d+: )?(.*)", line)
        if found:
            text = re.sub(r"'[^']*'", "'…'", found[1])
            # the function's name, and the dialect's file
            text = re.sub(r"^(dialects/\S+: )?\w+: ", "", text)
            return re.sub(r"\b\d+\b", "N", text).split(";")[0][:110]
    return message.strip().split("\n")[-1][:110] or "it ended without a message"


def attempt(task):
    """(reason why it is not read or None, reason why it is not emitted or None)"""
    program, target = task
    tirc = os.environ.get("TIRC", "build/tirc")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        why = []
        for args in (["lower", path], ["codegen", path, "-o", folder] +
                     (["--target", target] if target else [])):
            try:
                done = subprocess.run([tirc] + args, capture_output=True,
                                      text=True, timeout=60, errors="replace")
                why.append(None if done.returncode == 0
                           else reason(done.stderr))
            except subprocess.TimeoutExpired:
                why.append("it takes more than a minute")
            if why[0]:
                return why[0], why[0]
    return why


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--target")
    parser.add_argument("--reasons", type=int, default=15)
    parser.add_argument("--keep")
    args = parser.parse_args()
    tasks = list(programs(args.folder))
    if not tasks:
        sys.exit("%s: no PrimFuncs below; give the folder of TVM's sources" %
                 args.folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(attempt, [(t[2], args.target) for t in tasks]))
    reads, emits = collections.Counter(), collections.Counter()
    for (path, name, program), (read, emitted) in zip(tasks, results):
        reads[read] += 1
        emits[emitted if not read else "not read"] += 1
        if read and args.keep:
            os.makedirs(args.keep, exist_ok=True)
            file_name = "%s_%s.py" % (re.sub(r"\W", "_", path), name)
            with open(os.path.join(args.keep, file_name), "w",
                      encoding="utf-8") as file:
                file.write("# %s\n%s" % (read, program))
    n = len(tasks)
    print("%d functions and modules: %d read and lowered (%.1f%%), %d emitted "
          "(%.1f%%)" % (n, reads[None], 100 * reads[None] / n, emits[None],
                        100 * emits[None] / n))
    try:
        show(reads, emits, args.reasons)
    except BrokenPipeError:
        pass  # the reader has seen enough


def show(reads, emits, most):
    """The most frequent reasons."""
    for title, counts in (("not read", reads), ("read, not emitted", emits)):
        rows = [(k, v) for k, v in counts.most_common()
                if k not in (None, "not read")]
        for text, count in rows[:most]:
            print("%6d  %s: %s" % (count, title, text))


if __name__ == "__main__":
    main()
