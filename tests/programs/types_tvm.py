#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs with operands of mixed types, in TVM and in tirc: the types
and the values of what they compute. Programs of te, of topi and in TVMScript;
their text is the same for both. TVM gives the types; the values are those of
TVM's expressions (tvm_values.py) and, where no integer overflows, of TVM's own
code. tirc's are those of its C, compiled.

    types_tvm.py FIRST COUNT [FOLDER]

Runs with an interpreter that has TVM: this one, or the one that TIRC_TVM_PYTHON
names; without one the test is skipped. FOLDER keeps programs that differ."""
import contextlib
import ctypes
import io
import os
import random
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import tvm
    from tvm import te, tirx, topi
    from tvm.script import from_source
    from tvm.script import tirx as script
except ImportError:
    import tvm_python
    tvm_python.start()

from tvm_values import Evaluator, is_float, key, limits

INTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
        "uint64"]
TYPES = INTS * 3 + ["bool", "float16", "float32", "float32"]
LITERALS = [0, 1, 2, 3, 5, 7, 31, 100, 127, 128, 200, 255, 256, 1000, 40000,
            70000, 3000000000, -1, -2, -3, -128, -129, -40000]
# What tirc refuses by its documentation, and TVM computes: sums of bools as bools,
# and numbers of which operators of bits take the low 32 bits.
REFUSED = re.compile("there is no arithmetic on bool|of bool is not defined|"
                     "TVM cuts numbers")
# TVMScript's parser in TVM does not compare two constants, so that a choice by them
# is no constant, which its type need not hold.
COMPARED = re.compile(r"\((T\.\w+\()?-?\d+\)* [<>=!]+ \((T\.\w+\()?-?\d+\)")
FRACTIONS = ["0.5", "1.5", "-2.25", "3.0", "100.0"]
SHAPE = (3, 4)


def stored_type(rng, name):
    """A type in which TVMScript stores a value of that type."""
    if is_float(name):
        return rng.choice(["float16", "float32", "float64"])
    return "bool" if name == "bool" else rng.choice(INTS)


def quiet(function):
    """Without what TVM prints."""
    def call(*args, **named):
        with contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            return function(*args, **named)
    return call


class Writer:
    """Makes the lines of one program; a line that TVM refuses is not taken."""

    def __init__(self, seed, again):
        self.seed = seed
        self.random = random.Random("%d %d" % (seed, again))
        self.lines = []
        self.space = {"te": te, "tir": tirx, "topi": topi, "T": script}
        self.inputs = []

    def pick(self, *choices):
        return self.random.choice(choices)

    def literal(self):
        if self.random.random() < 0.15:
            return self.random.choice(FRACTIONS)
        return "%d" % self.random.choice(LITERALS)

    def leaf(self, leaves):
        roll = self.random.random()
        if roll < 0.62:
            return self.random.choice(leaves)
        if roll < 0.92:
            return self.literal()
        return '%s.const(%d, "%s")' % ("tir", self.random.randrange(0, 100),
                                       self.random.choice(INTS))

    def condition(self, leaves, depth):
        roll = self.random.random()
        if depth > 0 and roll < 0.15:
            return "tir.%s(%s, %s)" % (self.pick("all", "any"),
                                       self.condition(leaves, depth - 1),
                                       self.condition(leaves, depth - 1))
        x, y = (self.value(leaves, depth - 1) for _ in "xy")
        if x == y:  # a constant for tirc, which it may refuse, but not for TVM
            return self.condition(leaves, depth)
        return "(%s) %s (%s)" % (x, self.pick("<", "<=", ">", ">=", "==", "!="),
                                 y)

    def value(self, leaves, depth):
        if depth <= 0:
            return self.leaf(leaves)
        x = self.value(leaves, depth - 1)
        roll = self.random.random()
        if roll < 0.33:
            return "(%s) %s (%s)" % (x, self.pick("+", "-", "*"),
                                     self.value(leaves, depth - 1))
        if roll < 0.43:
            return "(%s) %s %s" % (x, self.pick("//", "%"),
                                   self.pick("2", "3", "7", "16", "-3"))
        if roll < 0.48:
            return "tir.%s(%s, %s)" % (
                self.pick("truncdiv", "truncmod", "floordiv", "floormod"), x,
                self.pick("2", "5", "-7"))
        if roll < 0.58:
            return "tir.%s(%s, %s)" % (self.pick("max", "min"), x,
                                       self.value(leaves, depth - 1))
        if roll < 0.70:
            return "tir.if_then_else(%s, %s, %s)" % (
                self.condition(leaves, depth - 1), x,
                self.value(leaves, depth - 1))
        if roll < 0.74:
            return "tir.Select(%s, %s, %s)" % (
                self.condition(leaves, depth - 1), x, x)
        if roll < 0.80:
            return "(%s) %s %s" % (x, self.pick("<<", ">>"),
                                   self.pick("1", "3", "6"))
        if roll < 0.86:
            return "(%s) %s (%s)" % (x, self.pick("&", "|", "^"),
                                     self.value(leaves, depth - 1))
        if roll < 0.90:
            return "-(%s)" % x
        if roll < 0.92:
            return "~(%s)" % x
        if roll < 0.95:
            return "(%s) / %s" % (x, self.random.choice(FRACTIONS))
        return '(%s).astype("%s")' % (x, self.random.choice(TYPES))

    def run(self, line):
        """Takes the line, if TVM does."""
        try:
            exec(line, self.space)
        except Exception:  # any of TVM's
            return False
        self.lines.append(line)
        return True

    def placeholders(self, shapes):
        for name in "ABC":
            self.run('%s = te.placeholder(%r, "%s", name="%s")' % (
                name, self.random.choice(shapes), self.random.choice(TYPES),
                name))
            self.inputs.append(name)

    def te_program(self):
        self.placeholders([SHAPE])
        known = list(self.inputs)
        for name in "XYZ"[:self.random.randrange(1, 4)]:
            leaves = ["%s[i, j]" % x for x in known] + ["i"]
            while not self.run(
                    '%s = te.compute(%r, lambda i, j: %s, name="%s")' % (
                        name, SHAPE, self.value(leaves, 3), name)):
                pass
            known.append(name)
        if self.random.random() < 0.4:
            leaves = ["%s[i, k]" % x for x in known]
            self.run("k = te.reduce_axis((0, 4), name=\"k\")")
            while not self.run(
                    'R = te.compute((3,), lambda i: te.%s(%s, axis=k), '
                    'name="R")' % (self.pick("sum", "sum", "max", "min"),
                                   self.value(leaves, 2))):
                pass
            known.append("R")
        return known[-1]

    def topi_program(self):
        self.placeholders([SHAPE, SHAPE, (4,), (3, 1)])
        known = list(self.inputs)
        names = iter("UVWXYZ"[:self.random.randrange(2, 6)])
        for name in names:
            while not self.run("%s = %s" % (name, self.topi_call(known))):
                pass
            known.append(name)
        return known[-1]

    def topi_call(self, known):
        first = self.random.choice(known)
        x, y = first, self.random.choice(known + ["", ""])
        y = y or self.literal()
        if self.random.random() < 0.2:
            x, y = y, x
        roll = self.random.random()
        if roll < 0.5:
            return "topi.%s(%s, %s)" % (
                self.pick("add", "subtract", "multiply", "maximum", "minimum",
                          "equal", "less", "greater_equal", "bitwise_and",
                          "bitwise_or", "bitwise_xor", "logical_and"), x, y)
        if roll < 0.6:
            return "%s %s %s" % (x, self.pick("+", "-", "*"), y)
        if roll < 0.72:
            # TVM's floor_divide and floor_mod truncate, if the first is bool.
            names = ["mod", "divide"]
            if str(self.space[first].dtype) != "bool":
                names = ["floor_divide", "floor_mod"] + names
            return "topi.%s(%s, %s)" % (self.random.choice(names), first,
                                        self.pick("2", "3", "-7"))
        if roll < 0.78:
            return "topi.%s(%s, %s)" % (
                self.pick("left_shift", "right_shift"), first,
                self.pick("1", "4"))
        if roll < 0.84:
            return 'topi.cast(%s, "%s")' % (first, self.random.choice(TYPES))
        if roll < 0.9:
            return "topi.clip(%s, %s, %s)" % (first, self.pick("0", "-5", "-100"),
                                              self.pick("9", "100", "300"))
        if roll < 0.95:
            return "topi.where(topi.less(%s, 7), %s, %s)" % (
                self.random.choice(known), first, self.pick(first, y))
        return "topi.%s(%s, axis=%d)" % (self.pick("sum", "max", "min"), first,
                                         self.random.randrange(2))

    def script_program(self):
        types = [self.random.choice(TYPES) for _ in "ABCO"]
        leaves = ["A[i]", "B[i]", "C[i]", "i"]
        for name, kind in zip("ABC", types):
            self.run('%s = te.placeholder((12,), "%s")' % (name, kind))
        self.lines.clear()
        while True:
            value = self.value(leaves, 2 + self.random.randrange(2))
            # A cheap test, before TVM's parser.
            if not self.run("V = te.compute((12,), lambda i: %s)" % value):
                continue
            self.lines.clear()
            types[-1] = stored_type(self.random, str(self.space["V"].dtype))
            lines = ["@T.prim_func%s",
                     "def p%d(%s):" % (self.seed, ", ".join(
                         '%s: T.Buffer((12,), "%s")' % (n, t)
                         for n, t in zip("ABCO", types))),
                     "    for i in range(12):",
                     "        O[i] = %s" % value]
            update = self.value(leaves, 1)
            if (self.random.random() < 0.3 and types[-1] in INTS and
                    self.run("V = te.compute((12,), lambda i: %s)" % update)
                    and str(self.space["V"].dtype) in INTS):
                lines.append("        O[i] %s= %s" % (
                    self.pick("+", "-", "*"), update))
            self.lines.clear()
            text = "\n".join(lines).replace("tir.const(", "T.const(")
            text = text.replace("tir.", "T.")
            text = re.sub(r'T\.const\((\d+), "(\w+)"\)', r"T.\2(\1)", text)
            try:
                func = quiet(from_source)(text % "(s_tir=True)", extra_vars={
                    "T": script})
            except Exception:  # any of TVM's
                continue
            self.lines.append(text % "")
            return func


class Program:
    def __init__(self, seed):
        self.seed = seed
        self.name = "p%d" % seed
        self.refused = self.source = None
        self.is_script = seed % 3 == 2
        again = 0
        while not self.write(Writer(seed, again)):
            again += 1
        self.buffers = buffers(self.func)
        self.data = inputs(random.Random(seed), self.buffers)

    def write(self, writer):
        """False: TVM refuses the whole function."""
        if self.is_script:
            self.func = writer.script_program()
            head, tail = "from tvm.script import tir as T\n", ""
        else:
            out = (writer.te_program() if self.seed % 3 == 0
                   else writer.topi_program())
            names = writer.inputs + [out]
            self.args = [writer.space[n] for n in names]
            try:
                self.func = te.create_prim_func(self.args)
            except Exception:  # any of TVM's
                return False
            head = "from tvm import te, tir, topi\n"
            tail = "f = te.create_prim_func([%s])\n" % ", ".join(names)
        self.text = head + "\n".join(writer.lines) + "\n" + tail
        return True

    def expected(self):
        """The result by element, and whether an integer wrapped."""
        keys = list(self.func.params) if self.is_script else self.args
        ev = Evaluator([(x, elements(values))
                        for x, values in zip(keys, self.data)
                        if self.is_script or x is not keys[-1]])
        if not self.is_script:
            return ev.tensor(self.args[-1]), ev.wrapped
        ev.stmt(self.func.body)
        return ev.env[key(keys[-1])], ev.wrapped


def buffers(func):
    """Shape and type of each parameter."""
    found = []
    for match in re.finditer(
            r'(\w+): T\.Buffer\(\(([\d, ]*)\), "(\w+)"',
            re.search(r"def \w+\((.*)\):", func.script()).group(1)):
        shape = tuple(int(x) for x in match.group(2).split(",") if x.strip())
        found.append((shape, match.group(3)))
    return found


def inputs(rng, shapes):
    data = []
    for shape, name in shapes:
        x = np.zeros(shape, name)
        for at in np.ndindex(*shape):
            if is_float(name):
                x[at] = rng.randrange(-32, 33) / 4
            elif rng.random() < 0.6:
                low, high = limits(name)
                x[at] = rng.randrange(max(low, -9), min(high, 9) + 1)
            else:
                low, high = limits(name)
                x[at] = rng.choice([low, high, rng.randrange(low, high + 1)])
        data.append(x)
    data[-1][...] = 1  # the output, which TVMScript may read
    return data


def elements(x):
    return {at: x[at] if is_float(str(x.dtype)) else x[at].item()
            for at in np.ndindex(*x.shape)}


SHORT = {"i": "int", "u": "uint", "f": "float"}


def emitted_type(source, name):
    """The type of a parameter, in the comment of the emitted function."""
    found = re.search(r"^ \*   %s +(\w+) \[" % name, source, re.M)
    short = found.group(1) if found else "?"
    return short if short == "bool" else SHORT.get(short[0], "?") + short[1:]


def build(programs, folder):
    """Emits and compiles the programs; returns the library."""
    sources = []
    for p in programs:
        path = os.path.join(folder, p.name + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(p.text)
        done = subprocess.run(
            [os.environ["TIRC"], "codegen", path, "-o", folder],
            capture_output=True, text=True)
        if done.returncode:
            p.refused = done.stderr
            continue
        sources.append(os.path.join(folder, p.name + ".c"))
        with open(sources[-1], encoding="utf-8") as file:
            p.source = file.read()
    library = os.path.join(folder, "all.so")
    # A program may leave parameters unused, and compare an int32 with a number
    # beyond it; GCC 12 takes (uint32_t)x of an int8_t in a sum for signed.
    subprocess.run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic",
                    "-Wconversion", "-Wshadow", "-Wno-unused-parameter",
                    "-Wno-type-limits", "-Wno-sign-conversion", "-Werror",
                    "-fPIC", "-shared", "-o", library] + sources + ["-lm"], check=True)
    return ctypes.CDLL(library)


def same(a, b):
    """Two numbers of one type; floats may differ by rounding."""
    if isinstance(a, (float, np.floating)):
        a, b = float(a), float(b)
        if a == b or (a != a and b != b):
            return True
        return abs(a - b) <= 2e-3 * max(abs(a), abs(b))
    return a == b


def differs(p, library, counts):
    """What is wrong, or None."""
    if p.refused:
        explained = REFUSED.search(p.refused) or (
            "does not fit" in p.refused and COMPARED.search(p.text))
        counts["refused programs"] += bool(explained)
        return None if explained else p.refused
    want, wrapped = p.expected()
    names = re.findall(r"^ \*   (\w+) +\w+ \[", p.source, re.M)
    for (_, kind), name in zip(p.buffers, names):
        if emitted_type(p.source, name) != kind:
            return "%s is %s, not %s" % (name, emitted_type(p.source, name),
                                         kind)
    got = [x.copy() for x in p.data]
    getattr(library, p.name)(*[ctypes.c_void_p(x.ctypes.data) for x in got])
    for at in want:
        if not same(want[at], elements(got[-1])[at]):
            return "element %s is %s, not %s" % (at, got[-1][at], want[at])
    counts["elements"] += len(want)
    counts["undefined"] += got[-1].size - len(want)
    if wrapped or len(want) < got[-1].size or p.seed % 4:
        return None
    try:
        run = tvm.compile(p.func, target="llvm")
        args = [tvm.runtime.tensor(x.copy()) for x in p.data]
        run(*args)
    except Exception:  # TVM cannot compile it
        return None
    counts["by TVM's code"] += 1
    for at in want:
        # TVM takes x - x for 0, also where x is infinite.
        if want[at] == want[at] and not same(want[at], elements(args[-1].numpy())[at]):
            return "TVM's element %s is %s, not %s" % (
                at, args[-1].numpy()[at], want[at])
    return None


def main():
    first, count = int(sys.argv[1]), int(sys.argv[2])
    keep = sys.argv[3] if len(sys.argv) > 3 else None
    failed, counts = 0, {"elements": 0, "undefined": 0, "by TVM's code": 0,
                      "refused programs": 0}
    for start in range(first, first + count, 20):
        seeds = range(start, min(start + 20, first + count))
        with tempfile.TemporaryDirectory() as folder:
            programs = [Program(seed) for seed in seeds]
            library = build(programs, folder)
            for p in programs:
                try:
                    why = differs(p, library, counts)
                except NotImplementedError as e:
                    print(p.name, "has no value here:", e)
                    continue
                if why is None:
                    continue
                failed += 1
                print(p.name, why, p.text, sep="\n")
                if keep:
                    with open(os.path.join(keep, p.name + ".py"), "w",
                              encoding="utf-8") as file:
                        file.write(p.text)
        print(start + 20, failed, flush=True) if keep else None
    print("%d programs, %d differ; %s" % (count, failed, ", ".join(
        "%d %s" % (n, what) for what, n in counts.items())))
    sys.exit(1 if failed else 0)


main()
