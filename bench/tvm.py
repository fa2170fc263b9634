#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many PrimFuncs of a checkout of TVM's sources tirc reads and emits.

    ./run bench tvm FOLDER [--target T] [--threads T] [--reasons N] [--keep OUT]
                           [--ask-tvm]

Takes each function marked prim_func, and each class marked ir_module, of the Python
files below FOLDER, with the constants, functions and macros that the text around it
defines, as a program of its own: `tirc lower` reads and lowers it, `tirc codegen` emits
it for --target, or, if its loops are bound to threads, for --threads (cuda). The
parameters of a Python function that makes PrimFuncs have the values of its first call
with constants, else their defaults. Functions that TVM must refuse, by what its own
tests say, are counted apart. Prints both numbers and the N most frequent reasons
for those that fail. --keep writes the programs that are not read to the folder OUT.
Nothing of the checkout is executed, unless with --ask-tvm: then the interpreter that
TIRC_TVM_PYTHON names, which has a TVM with tvm.tirx, compiles the functions that tirc
does not read or emit; those that TVM itself compiles for none of its targets are not
counted."""
import argparse
import ast
import builtins
import collections
import concurrent.futures
import json
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
HEAD_NAMES = {"tvm", "te", "tir", "tirx", "I", "T", "Tx", "TIR", "cls"} | \
    set(dir(builtins))
MARKS = {"prim_func": "a function", "ir_module": "a module"}
# what tirc says of a function for threads, which is emitted for another target
THREADS = re.compile("loops are bound to threads of a GPU|has no grids of threads|"
                     "has no memory that threads share")


def mark(node):
    """prim_func or ir_module, if the definition is decorated so."""
    for d in node.decorator_list:
        d = d.func if isinstance(d, ast.Call) else d
        name = d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "")
        if name in MARKS:
            return name
    return None


def is_plain(node, known):
    """Can tirc evaluate the expression, with the names that are known?"""
    if isinstance(node, ast.Name):
        return node.id in known
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float, str, bool))
    return isinstance(node, (ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp,
                             ast.Compare, ast.BoolOp, ast.IfExp)) and \
        all(is_plain(child, known) for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr))


def names_of(node):
    """The names that a definition takes from the text around it."""
    bound, used = set(), set()
    for one in ast.walk(node):
        if isinstance(one, ast.Name):
            (used if isinstance(one.ctx, ast.Load) else bound).add(one.id)
        elif isinstance(one, ast.arg):
            bound.add(one.arg)
        elif isinstance(one, (ast.FunctionDef, ast.ClassDef)):
            bound.add(one.name)
        elif isinstance(one, ast.alias):
            bound.add((one.asname or one.name).split(".")[0])
    return used - bound - HEAD_NAMES


def is_refused(node, name):
    """Does a test below the node say that TVM refuses what has the name: in a `with
    pytest.raises(…)`, or as an argument of check_error()?"""
    for one in ast.walk(node):
        if isinstance(one, ast.With) and any(
                isinstance(i.context_expr, ast.Call) and
                ast.unparse(i.context_expr.func).endswith("raises")
                for i in one.items):
            names = {n.id for s in one.body for n in ast.walk(s)
                     if isinstance(n, ast.Name)}
        elif isinstance(one, ast.Call) and \
                ast.unparse(one.func).endswith("check_error"):
            names = {n.id for n in one.args if isinstance(n, ast.Name)}
        else:
            continue
        if name in names:
            return True
    return False


class Around:
    """What the text around a definition defines: {name: (lines, their tree)}."""

    def __init__(self, tree, text, outer=None):
        self.text = outer.text if outer else text.split("\n")
        self.names = dict(outer.names) if outer else {}
        self.calls = outer.calls if outer else collections.defaultdict(list)
        if not outer:
            for one in ast.walk(tree):
                if isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
                    self.calls[one.func.id].append(one)
        if isinstance(tree, ast.FunctionDef):
            self.parameters(tree)
        self.suite(tree.body)

    def put(self, name, node):
        if is_plain(node, self.names):
            self.names[name] = ("%s = %s" % (name, ast.unparse(node)), node)

    def suite(self, body):
        for node in body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target, value = node.targets[0], node.value
                if isinstance(value, ast.Call) and value.args and \
                        ast.unparse(value.func) == "tvm.testing.parameter":
                    value = value.args[0]  # a test runs with each of them
                if isinstance(target, ast.Name):
                    self.put(target.id, value)
                elif isinstance(target, ast.Tuple) and \
                        isinstance(value, ast.Tuple) and \
                        len(target.elts) == len(value.elts):
                    for one, part in zip(target.elts, value.elts):
                        if isinstance(one, ast.Name):
                            self.put(one.id, part)
            elif isinstance(node, ast.FunctionDef) and \
                    not node.name.startswith("test_"):
                marked = any(re.search("macro|inline", ast.unparse(d))
                             for d in node.decorator_list)
                if marked or not node.decorator_list:
                    first = min([node.lineno] +
                                [d.lineno for d in node.decorator_list])
                    lines = self.text[first - 1:node.end_lineno]
                    self.names[node.name] = (
                        textwrap.dedent("\n".join(lines)), node)

    def parameters(self, def_):
        """Of a function that makes PrimFuncs: the values of its first call with
        constants, of its tests, or its defaults."""
        args = def_.args.args
        values = dict(zip([a.arg for a in args][::-1],
                          def_.args.defaults[::-1]))
        for d in def_.decorator_list:
            if isinstance(d, ast.Call) and len(d.args) >= 2 and \
                    ast.unparse(d.func).endswith("parametrize") and \
                    isinstance(d.args[0], ast.Constant) and \
                    isinstance(d.args[1], (ast.List, ast.Tuple)) and \
                    d.args[1].elts:
                names = [n.strip() for n in str(d.args[0].value).split(",")]
                row = d.args[1].elts[0]
                row = row.elts if len(names) > 1 and \
                    isinstance(row, (ast.List, ast.Tuple)) else [row]
                values.update(zip(names, row))
        for call in self.calls[def_.name]:
            given = dict(zip([a.arg for a in args], call.args))
            given.update({k.arg: k.value for k in call.keywords if k.arg})
            if given and all(is_plain(v, self.names) for v in given.values()):
                values.update(given)
                break
        for a in args:
            self.names.pop(a.arg, None)
            if a.arg in values:
                self.put(a.arg, values[a.arg])

    def lines(self, wanted, seen):
        """The lines that define the names, in order; None if one of the names is a
        value that only running the text gives."""
        all_lines = []
        for name in sorted(wanted):
            if name in seen:
                continue
            seen.add(name)
            if name not in self.names:
                return None
            text, node = self.names[name]
            before = self.lines(names_of(node) - {name}, seen)
            if before is None:
                return None
            all_lines += before + [text]
        return all_lines


REFUSED = "TVM refuses it"


def expects_error(tree):
    """A class of a test whose `expected` is an exception: `before` is refused."""
    return isinstance(tree, ast.ClassDef) and any(
        isinstance(one, ast.Assign) and
        any(isinstance(t, ast.Name) and t.id == "expected"
            for t in one.targets) and
        ast.unparse(one.value).endswith(("Error", "Exception"))
        for one in tree.body)


def definitions(tree, text, around):
    """(name, program) of each marked definition, also inside of others; program is
    None if it needs a value that only running the text around it gives, REFUSED if
    TVM's tests say that TVM refuses it."""
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        first = min([node.lineno] + [d.lineno for d in node.decorator_list])
        own = textwrap.dedent("\n".join(around.text[first - 1:node.end_lineno]))
        if not any(m in own for m in MARKS):
            continue
        if not mark(node):
            yield from definitions(node, text, Around(node, text, around))
            continue
        # relax's functions are no tensor programs
        if re.search(r"@R\.|\bR\.", own):
            continue
        if is_refused(tree, node.name) or expects_error(tree):
            yield node.name, REFUSED
            continue
        before = around.lines(names_of(node), {node.name})
        yield node.name, None if before is None else "%s%s\n%s\n" % (
            HEAD, "\n".join(before), own)


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
                if not any(m in text for m in MARKS):
                    continue
                tree = ast.parse(text)
            except (SyntaxError, UnicodeDecodeError, ValueError, OSError):
                continue
            for one, program in definitions(tree, text, Around(tree, text)):
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
    program, target, threads = task
    tirc = os.environ.get("TIRC", "build/tirc")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "p.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)

        def run(*args):
            try:
                done = subprocess.run([tirc, *args], capture_output=True,
                                      text=True, timeout=60, errors="replace")
            except subprocess.TimeoutExpired:
                return "it takes more than a minute"
            return None if done.returncode == 0 else reason(done.stderr)

        def emit(chosen):
            return run("codegen", path, "-o", folder,
                       *(["--target", chosen] if chosen else []))

        read = run("lower", path)
        if read:
            return read, read
        emitted = emit(target)
        if emitted and THREADS.search(emitted):
            emitted = emit(threads)
        return None, emitted


def ask_tvm(tasks, results):
    """The programs that tirc does not emit and that TVM compiles for no target."""
    python = os.environ.get("TIRC_TVM_PYTHON")
    if not python:
        sys.exit("--ask-tvm: name an interpreter with TVM in TIRC_TVM_PYTHON")
    asked = [t[2] for t, (_, emitted) in zip(tasks, results) if emitted]
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "tvm_compiles.py")
    done = subprocess.run([python, beside], input=json.dumps(asked), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True)
    return {program for program, line in zip(asked, done.stdout.splitlines())
            if json.loads(line) is False}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--target")
    parser.add_argument("--threads", default="cuda")
    parser.add_argument("--reasons", type=int, default=15)
    parser.add_argument("--keep")
    parser.add_argument("--ask-tvm", action="store_true")
    args = parser.parse_args()
    found = list(programs(args.folder))
    refused = [t for t in found if t[2] == REFUSED]
    tasks = [t for t in found if t[2] and t[2] != REFUSED]
    if not tasks:
        sys.exit("%s: no PrimFuncs below; give the folder of TVM's sources" %
                 args.folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(attempt, [(t[2], args.target, args.threads)
                                          for t in tasks]))
    impossible = set()
    if args.ask_tvm:
        impossible = ask_tvm(tasks, results)
    reads, emits = collections.Counter(), collections.Counter()
    for (path, name, program), (read, emitted) in zip(tasks, results):
        if program in impossible:
            continue
        reads[read] += 1
        emits[emitted if not read else "not read"] += 1
        if read and args.keep:
            os.makedirs(args.keep, exist_ok=True)
            file_name = "%s_%s.py" % (re.sub(r"\W", "_", path), name)
            with open(os.path.join(args.keep, file_name), "w",
                      encoding="utf-8") as file:
                file.write("# %s\n%s" % (read, program))
    n = sum(reads.values())
    print("%d functions and modules: %d read and lowered (%.1f%%), %d emitted "
          "(%.1f%%)" % (n, reads[None], 100 * reads[None] / n, emits[None],
                        100 * emits[None] / n))
    print("%d more are not counted: TVM's tests say that TVM refuses them" %
          len(refused))
    if args.ask_tvm:
        print("%d more are not counted: TVM compiles them for none of its targets" %
              (len(tasks) - n))
    print("%d more need values that only running the Python code around them "
          "gives; they are not counted" % (len(found) - n - len(refused)))
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
