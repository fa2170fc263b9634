#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names and texts of models, partitions, programs and command lines with
characters that control a terminal, reorder a line or cannot be seen: none of
these reaches standard output, standard error or an emitted text; each is shown in
a visible form."""
import json
import os
import subprocess
import zipfile

import turns
from helper import (SANITIZED, TIRC, has_dialect, fail, tirc,
                    work_folder)
from proto import *

CONTROLS = "".join(chr(c) for c in range(1, 0x20)) + "\x7f" + "".join(
    chr(c) for c in range(0x80, 0xa0))
FORMATS = ("\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2028"
           "\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2066\u2067\u2068"
           "\u2069\u206f\u3164\ufe0f\ufeff\uffa0\ufff9\U0001d173\U000e0001"
           "\U000e0041")
# A sequence that would set a terminal's title, one that reorders the line, and
# a line of its own.
ATTACK = "a\x1b]0;owned\x07\u202egnp.exe\n\rerror: all is well\t"
ALLOWED = "\n\t"
NOT_UTF8 = b"\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"

runs = 0


# A text that ends a string, a comment or a line, and begins a directive.
INJECTED = 'x"*/\n#error INJECTED\n$(error INJECTED)\n'


def check(data, where):
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        fail("%s: no UTF-8: %s" % (where, data[max(error.start - 40, 0):
                                              error.start + 40]))
    for at, c in enumerate(text):
        if c in CONTROLS + FORMATS and c not in ALLOWED:
            fail("%s: U+%04X in %r" % (where, ord(c),
                                       text[max(at - 60, 0):at + 60]))
    for line in text.split("\n"):
        if line.startswith(("#error INJ", "$(error INJ")):
            fail("%s: a line begins with a word of a file: %r" % (where,
                                                                  line))
    return text


def run(*words, folder=None, status=None):
    """Runs tirc; everything that it prints and writes must be visible. Gives the
    exit status and what it printed."""
    global runs
    runs += 1
    done = subprocess.run([os.fsencode(TIRC), *(
        w if isinstance(w, bytes) else os.fsencode(w) for w in words)],
        capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    if done.returncode not in ([0, 1, 2] if status is None else [status]):
        fail("exit status %d of %r\n%s" % (done.returncode, words,
                                           done.stderr.decode("utf-8",
                                                              "replace")))
    text = check(done.stdout, "standard output of %r" % (words,))
    text += check(done.stderr, "standard error of %r" % (words,))
    for at, _, names in os.walk(folder) if folder else []:
        for name in names:
            path = os.path.join(at, name)
            if not name.endswith((".bin", ".params", ".weights")):
                with open(path, "rb") as file:
                    check(file.read(), "%s of %r" % (name, words))
    return done.returncode, text


def every_name(a, wrong=""):
    """A model in which each name and each text has a. wrong: which of its parts
    is refused."""
    def n(name):
        return a + name if isinstance(a, str) else a + name.encode()

    def value(name, dims=(None, 3)):
        return value_info(n(name), [3 if d == 3 else 0 for d in dims]) \
            if dims == (3,) else blob(1, n(name)) + blob(2, blob(1, number(
                1, FLOAT) + blob(2, blob(1, blob(2, n("size"))) + blob(
                    1, number(1, 3))))) + blob(3, n("doc"))
    meta = blob(14, blob(1, n("key")) + blob(2, n("value")))
    nodes = [
        node("Mul", [n("x"), n("w")], [n("a")], n("mul")) + blob(
            6, n("doc")),
        node("Local", [n("a")], [n("b")], n("call"), "local"),
        node("Add", [n("b"), n("v")], [n("c")], n("add")),
        node("Relu", [n("c")], [n("y")], n("relu"), "" if wrong != "domain"
             else n("domain"))]
    if wrong == "operator":
        nodes.append(node(n("op"), [n("y")], [n("z")], n("node")))
    if wrong == "attribute":
        nodes.append(node("Neg", [n("c")], [n("z")], n("neg"),
                          attributes=[blob(1, n("attr")) + number(3, 1)
                                      + number(20, 2)]))
    if wrong == "value":
        nodes.append(node("Pad", [n("c"), n("v")], [n("z")], n("neg"),
                          attributes=[blob(1, "mode") + blob(4, n("mode"))
                                      + number(20, 3)]))
    if wrong == "input":
        nodes.append(node("Neg", [n("missing")], [n("z")], n("neg")))
    if wrong == "twice":
        nodes.append(node("Neg", [n("c")], [n("c")], n("neg")))
    if wrong == "shape":
        nodes.append(node("MatMul", [n("w"), n("t")], [n("z")], n("mat")))
    weights = [tensor(n("w"), [3], floats(1, 2, 3)),
               tensor(n("v"), [3], floats(4, 5, 6)),
               tensor(n("t"), [2], floats(4, 5))]
    if wrong == "external":
        weights[0] = tensor(n("w"), [3], None, FLOAT, b"".join(
            blob(13, blob(1, k) + blob(2, v)) for k, v in
            ((n("odd"), n("entry")), ("location", n("file"))))
            + number(14, 1))
    if wrong == "type":
        weights[0] = tensor(n("w"), [3], floats(1, 2, 3), 99)
    if wrong == "bytes":
        weights[0] = tensor(n("w"), [3], floats(1, 2))
    f = function("Local", "local", [n("p")], [n("q")],
                 [node("Abs", [n("p")], [n("q")], n("inner"))])
    body = graph(nodes, [value("x")], [value("y")], weights, n("g"),
                 blob(10, n("doc")) + meta)
    return (number(1, 8) + blob(2, n("producer")) + blob(3, n("version"))
            + blob(4, n("domain")) + blob(6, n("doc")) + blob(7, body)
            + blob(8, opset(21)) + blob(8, opset(1, "local")) + blob(25, f)
            + meta + (blob(8, opset(1, n("set"))) if wrong == "opset"
                      else b""))


folder = work_folder()
path = os.path.join(folder, "m.onnx")
hidden = [ATTACK, "x" + CONTROLS, FORMATS, NOT_UTF8]


def model_file(a, wrong=""):
    with open(path, "wb") as file:
        file.write(every_name(a, wrong))
    return path


for number_, a in enumerate(hidden):
    size = (a if isinstance(a, bytes) else a.encode()) + b"size"
    model_file(a)
    # A formula of sizes has other characters; an odd name is fixed by position.
    given = ["--input-shape", (a if isinstance(a, bytes) else a.encode())
             + b"x:2,3"]
    for k, more in enumerate([
            [], ["--target", "c99", "--weights", "file"],
            ["--target", "c99", "--form", "graph"], ["--target", "misra"],
            ["--target", "cuda"], ["--target", "opencl"]]):
        if "--target" in more and not has_dialect(more[1]):
            continue
        out = os.path.join(folder, "out%d_%d" % (number_, k))
        run("compile", path, "-o", out, *given, *more, folder=out, status=0)
        run("report", path, *given, *more, status=0)
        run("report", path, *given, *more, "--markdown", status=0)
    run("diff", path, path, *given, status=0)
    run("diff", path, path, *given, "--json", status=0)
    out = os.path.join(folder, "dump%d" % number_)
    run("compile", path, "-o", out, *given, "--print-after", "import",
        "--print-after", "fold", "--print-after", "fuse", "--time-passes",
        status=0)
    run("inspect", path, *given, status=0)
    status, text = run("inspect", path, *given, "--json", status=0)
    p = os.path.join(folder, "p%d.json" % number_)
    status, text = run("partition", path, *given, "-o", p)
    run("partition", path, *given, "--explain")
    run("lower", "--from-onnx", path, *given)
    run("lower", "--from-onnx", path, *given, "--kernel", a if isinstance(
        a, bytes) else a.replace("\0", ""))
    run("compile", path, "-o", out, "--dim", size + b"=1..4")
    run("compile", path, "-o", out, "--dim", size)
    run("compile", path, "-o", out)
    run("inspect", path)
    for wrong in ("operator", "domain", "attribute", "value", "input", "twice",
                  "shape", "external", "type", "bytes", "opset"):
        model_file(a, wrong)
        run("compile", path, "-o", out, *given, status=1 if wrong not in (
            "opset", "domain", "attribute") else None)
    # Words of the command line.
    word = a if isinstance(a, bytes) else a.encode()
    odd = os.path.join(os.fsencode(folder), word.replace(b"/", b"")[:200]
                       + b".onnx")
    model_file(a)
    with open(odd, "wb") as file:
        file.write(every_name(a))
    run("compile", odd, "-o", out, *given, folder=out, status=0)
    run("compile", odd + b"x", "-o", out)
    run("inspect", odd, *given, status=0)
    for words in ([word], ["compile", word], ["compile", path, b"--" + word],
                  ["compile", path, "--target", word],
                  ["compile", path, "--name", word, "-o", out],
                  ["compile", path, "--byoc", word],
                  ["compile", path, "--dialect", word],
                  ["compile", path, "--const-input", word + b"=1"],
                  ["compile", path, "--input-shape", word],
                  ["compile", path, "--bound", word + b"=3"],
                  ["compile", path, "--state", word + b"=" + word],
                  ["compile", path, "-o", out, *given, "--schedule-for",
                   word + b"=" + word],
                  ["run", path, *given, "--input", word],
                  ["test", path, *given, word],
                  ["lower", word], ["codegen", word + b".py"],
                  ["dialect", word], ["dialect", "show", word],
                  ["dialect", "check", word]):
        status, _ = run(*words)
        if status == 0 and words[0] != "compile":
            fail("%r is accepted" % (words,))

# Packages; the tables and JSON of runs; arrays with such names.
model_file(ATTACK)
given = ["--input-shape", ATTACK + "x:2,3"]
kinds = [line.split()[0] for line in
         tirc("compile", "--help").stdout.split("packages:\n")[1].split(
             "\n\n")[0].split("\n")]
for kind in kinds:
    out = os.path.join(folder, kind)
    run("compile", path, "-o", out, *given, "--target", "cortex-m4",
        "--package", kind, folder=out, status=0)
times = os.path.join(folder, "times.json")
run("run", path, *given, "--profile", "--json", times, status=0)
with open(times, "rb") as file:
    check(file.read(), times)
arrays = os.path.join(folder, "x.npz")
with zipfile.ZipFile(arrays, "w") as file:
    for name in (ATTACK, FORMATS):
        file.writestr(name.replace("/", "") + ".npy", b"\x93NUMPY" +
                      ATTACK.encode() * 8)
        file.writestr(name.replace("/", ""), ATTACK)
run("run", path, *given, "--input", arrays, status=1)
run("run", path, *given, "--input", ATTACK + "x=" + arrays, status=1)
with open(arrays, "wb") as file:
    file.write(b"\x93NUMPY\1\0\x60\0" + (
        "{'descr': '%s', 'fortran_order': False, 'shape': (%s)}" % (
            ATTACK, ATTACK)).encode().ljust(96))
run("run", path, *given, "--input", arrays, status=1)

# Partitions: each text of one, in turn; sanitized, an eighth of them.
model_file("plain ")
p = os.path.join(folder, "p.json")
tirc("partition", path, "-o", p, "--input-shape", "plain x:2,3")
with open(p, encoding="utf-8") as file:
    whole = json.load(file)


def variants(value, a):
    """Copies of value with a in one key or text."""
    if isinstance(value, str):
        yield a + value
    elif isinstance(value, list):
        for i, item in enumerate(value):
            for one in variants(item, a):
                yield value[:i] + [one] + value[i + 1:]
    elif isinstance(value, dict):
        for key in value:
            for one in variants(value[key], a):
                yield {**value, key: one}
            yield {(a + k if k == key else k): v for k, v in value.items()}


count = 0
for a in [ATTACK + FORMATS + INJECTED]:
    for one in variants(whole, a):
        count += 1
        if SANITIZED and not turns.is_turn_of("text %d" % count, 8):
            continue
        with open(p, "w", encoding="utf-8") as file:
            json.dump(one, file, ensure_ascii=count % 2 == 0)
        out = os.path.join(folder, "p%d" % count)
        run("compile", p, "-o", out, folder=out)
        if count % 8 == 0:
            run("inspect", p)
            run("partition", p)
with open(p, "wb") as file:
    file.write(json.dumps(whole).encode().replace(b"plain", NOT_UTF8))
run("compile", p, "-o", os.path.join(folder, "q"),
    folder=os.path.join(folder, "q"))

# Programs: names, texts, what they print, and a mistake in a line with all.
PROGRAM = """import tvm
from tvm import te
# %(raw)s
A = te.placeholder((4,), name=%(name)s)
B = te.compute((4,), lambda i: A[i] + 1.0, name=%(name)s)
s = te.create_schedule(B.op)
print(%(name)s)
print(tvm.lower(s, [A, B], name="f"))
%(more)s
"""
program = os.path.join(folder, "p.py")
for a in (ATTACK, "x" + CONTROLS, FORMATS):
    raw = a.replace("\n", " ").replace("\r", " ")
    for more in ("", "print(x%s)" % raw, "s[%r].split(1)" % a,
                 "tvm.build(s, [A, B], target=%r)" % a,
                 "tvm.build(s, [A, B], target='c', name=%r)" % a,
                 "te.placeholder((4,), dtype=%r)" % a,
                 "s[B].pragma(B.op.axis[0], %r)" % a,
                 "raise ValueError(%r)" % a, "import %s" % raw,
                 "assert False, %r" % a):
        with open(program, "w", encoding="utf-8", newline="") as file:
            file.write(PROGRAM % {"raw": raw, "name": ascii(a), "more": more})
        out = os.path.join(folder, "text")
        run("lower", program)
        run("lower", program, "-o", out)
        if os.path.exists(out):
            with open(out, "rb") as file:
                check(file.read(), out)
        run("codegen", program, "--target", "c99")
print("%d runs show nothing hidden" % runs)
