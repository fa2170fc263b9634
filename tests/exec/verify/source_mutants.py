#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc verify`: what tirc wrote passes; a change of one token in a kernel, or of a
constant, that changes a result is found, and the kernel is named; certificates that
were changed and folders of anybody are refused.

    source_mutants.py COUNT [SEED [FOLDER-OF-MODELS]]

makes COUNT random changes instead, in the kernels of several models, and prints what
became of each: `./run verify-mutants`."""
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys

import helper
import processors
from helper import DIGITS, fail, tirc, work_folder
from proto import (attribute, blob, floats, graph, node, number, opset, tensor,
                   value_info)

# Nothing but results counts. The constants are in a file, which no compiler reads.
NOT_ONE = "it is not a certificate\n"
QUICK = helper.STRICT_C
FILE = ["--target", "c99", "--weights", "file"]


def write(name, nodes, inputs, outputs, constants):
    path = os.path.join(work_folder(), name)
    body = graph(nodes, inputs, outputs, constants, "net")
    with open(path, "wb") as file:
        file.write(number(1, 8) + blob(7, body) + blob(8, opset(14)))
    return path


def random_floats(rng, n):
    return floats(*(rng.uniform(-1, 1) for _ in range(n)))


def recurrent():
    """An LSTM of 3 steps, and a layer behind it."""
    rng = random.Random(3)
    return write("lstm.onnx", [
        node("LSTM", ["x", "w", "r", "b"], ["", "h"], "lstm", hidden_size=5),
        node("Squeeze", ["h", "axes"], ["s"], "squeeze"),
        node("Gemm", ["s", "v"], ["y"], "gemm")],
        [value_info("x", [3, 2, 4])], [value_info("y", [2, 3])],
        [tensor("w", [1, 20, 4], random_floats(rng, 80)),
         tensor("r", [1, 20, 5], random_floats(rng, 100)),
         tensor("b", [1, 40], random_floats(rng, 40)),
         tensor("axes", [1], (0).to_bytes(8, "little"), kind=7),
         tensor("v", [5, 3], random_floats(rng, 15))])


# -- changes of one token --

TOKEN = re.compile(r"/\*.*?\*/|[A-Za-z_]\w*|\d[\w.]*(?:[eE][+-]?\d+\w*)?|"
                   r"<<|>>|[<>=!]=|&&|\|\||\+\+|--|[-+*/]=|\S", re.S)
OTHERS = {"+": "-", "-": "+", "*": "+", "/": "*", "<": "<=", "<=": "<",
          ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
          "||": "&&", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+="}


def other_number(rng, word):
    """Another number of the same type; None: it has no simple one."""
    whole = re.fullmatch(r"(\d+)([uUlL]*)", word)
    if whole:
        n = int(whole[1])
        return "%d%s" % (n + 1 if n == 0 or rng.random() < 0.5 else n - 1,
                         whole[2])
    real = re.fullmatch(r"(\d+\.\d*)((?:e[+-]?\d+)?f?)", word)
    if real:
        v = float(real[1])
        return "%r%s" % (v + 1 if rng.random() < 0.5 else v * 1.5 + 0.25,
                         real[2])
    return None


def change(rng, text, names):
    """The text with one token changed; which one. None: nothing to change there."""
    tokens = [m for m in TOKEN.finditer(text) if not m[0].startswith("/*")]
    m = rng.choice(tokens)
    word = m[0]
    if word in OTHERS:
        new = OTHERS[word]
    elif word[0].isdigit():
        new = other_number(rng, word)
    elif word in names:
        new = rng.choice(sorted(names - {word}) or [word])
    else:
        new = None
    if new is None or new == word:
        return None
    return text[:m.start()] + new + text[m.end():], (
        text.count("\n", 0, m.start()), "%s -> %s" % (word, new))


def functions(folder):
    """The name of the model's source, and its kernels' functions: name, first and
    last line of the body, kernels."""
    path, = [os.path.join(folder, f) for f in os.listdir(folder)
             if f.endswith(".json") and "misra" not in f]
    with open(path, encoding="utf-8") as file:
        about = json.load(file)
    return about["model"] + ".c", [
        (row["name"], row["line"], row["last"], row["kernels"])
        for row in about["functions"]]


class Source:
    """The source of a model, of which copies are changed."""

    def __init__(self, model, *options):
        self.model, self.options = model, options
        self.folder = work_folder()
        tirc("compile", model, "-q", "-o", self.folder, *options)
        self.name, self.functions = functions(self.folder)
        with open(os.path.join(self.folder, self.name),
                  encoding="utf-8") as file:
            self.lines = file.read().split("\n")

    def mutant(self, rng):
        """A folder with one token changed: its path, what was changed, the kernels
        that call the function."""
        while True:
            name, first, last, kernels = rng.choice(self.functions)
            body = "\n".join(self.lines[first:last])
            names = set(re.findall(r"\bint32_t (\w+)", body))
            made = change(rng, body, names)
            if made is None:
                continue
            text, (line, what) = made
            return self.copy("\n".join([*self.lines[:first], text,
                                        *self.lines[last:]])), \
                "%s:%d %s" % (name, first + line + 1, what), kernels

    def copy(self, text=None, name=None):
        out = os.path.join(work_folder(), "src")
        shutil.copytree(self.folder, out)
        if text is not None:
            path = os.path.join(out, name or self.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return out

    def verify(self, folder, status, *options):
        return tirc("verify", self.model, folder, *QUICK, *options,
                    status=status)

    def code(self, folder):
        """The machine code of the source; None: the compiler refuses it."""
        out = os.path.join(work_folder(), "o")
        done = subprocess.run(
            ["cc", "-std=c99", "-O2", "-I", folder, "-c", "-o", out,
             os.path.join(folder, self.name)], capture_output=True)
        if done.returncode != 0:
            return None
        subprocess.run(["strip", out], check=True)
        with open(out, "rb") as file:
            return file.read()


def failing(text):
    """The kernels that the output names as wrong."""
    return re.findall(r"^FAIL  (\w+)  ", text, re.M)


def check_mutant(source, rng, must=None):
    """What becomes of one change: found, refused, equal code, equal results; and
    what it was."""
    folder, what, kernels = source.mutant(rng)
    done = source.verify(folder, 1)
    if "the compiler refuses it" in done.stdout:
        return "refused", what
    bad = failing(done.stdout)
    if not re.search(r"in kernel (%s)\n" % "|".join(kernels), done.stdout):
        fail("%s: the text that differs is in no kernel:\n%s" % (
            what, done.stdout))
    if bad:
        if not set(bad) & set(kernels):
            fail("%s: other kernels are named: %s" % (what, bad))
        return "found", what
    if "text differs, " not in done.stdout:
        fail("%s: neither found nor named:\n%s" % (what, done.stdout))
    return ("equal code" if source.code(folder) == source.code(source.folder)
            else "equal results"), what


def long_form(count, seed, models):
    rng = random.Random(seed)
    sources = [Source(DIGITS, *FILE), Source(recurrent(), *FILE)]
    for name in ("hello_world_fp32", "hello_world_int8", "ad01_fp32",
                 "ad01_int8", "kws_fp32", "kws_int8", "resnet8_fp32",
                 "resnet8_int8"):
        path = os.path.join(models, "mlperf_tiny", name, "model.onnx")
        if os.path.exists(path):
            sources.append(Source(path, *FILE))
    counts = {}
    for i in range(count):
        source = sources[i % len(sources)]
        kind, what = check_mutant(source, rng)
        counts[kind] = counts.get(kind, 0) + 1
        print("%-14s %s %s" % (kind, source.name, what), flush=True)
        if kind == "equal results":
            print("    to be explained", flush=True)
    print(counts)


# -- the quick form --

def replaced(source, old, new, name=None):
    """A copy with the first `old` replaced."""
    path = os.path.join(source.folder, name or source.name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if old not in text:
        fail("%s has no %s" % (path, old))
    return source.copy(text.replace(old, new, 1), name)


def planted(source, old, new, kernel, name=None):
    """The change is found, in the kernel."""
    done = source.verify(replaced(source, old, new, name), 1)
    if kernel not in failing(done.stdout):
        fail("%s -> %s: %s is not named:\n%s" % (old, new, kernel,
                                                 done.stdout))
    print("%s -> %s: found in %s" % (old, new, kernel))
    return done.stdout


def unchanged(source):
    certificate = os.path.join(work_folder(), "cert.json")
    out = source.verify(source.folder, 0, "-o", certificate).stdout
    if not out.endswith("verified\n") or "FAIL" in out or "not run" in out:
        fail(out)
    with open(certificate, encoding="utf-8") as file:
        text = file.read()
    again = os.path.join(work_folder(), "cert.json")
    source.verify(source.folder, 0, "-q", "-o", again)
    with open(again, encoding="utf-8") as file:
        if file.read() != text:
            fail("two certificates of the same differ")
    return certificate, text


def certificates(source):
    path, text = unchanged(source)
    found = json.loads(text)
    if found["verdict"] != "verified" or not found["compiler"] or any(
            k["cases"] < 2 for k in found["kernels"]):
        fail(text)
    check = ("verify", source.model)
    tirc(*check, source.folder, "--check", path)
    out = tirc(*check, replaced(source, "acc", "acd"), "--check", path,
               status=1).stdout
    if source.name + "  changed" not in out:
        fail(out)
    # Headers that the source, or a header of the system, would include.
    for name in "stdint.h", "bits/libc-header-start.h":
        extra = os.path.join(source.folder, name)
        os.makedirs(os.path.dirname(extra), exist_ok=True)
        helper.text_file(source.folder, name, "#define float double\n")
        out = tirc(*check, source.folder, "--check", path, status=1).stdout
        if name + "  added" not in out:
            fail(out)
        out = source.verify(source.folder, 1).stdout
        if name + "  is not from tirc" not in out or "differs" not in out:
            fail(out)
        os.remove(extra)
    # Files that make takes for what it builds of the source, or remakes a source of,
    # and precompiled headers; other files are no difference.
    stem = source.name[:-2]
    for name in (stem + ".mk.sh", stem + ".c.sh", stem + ".y", stem + ".o",
                 "lib" + stem + ".a", "s.%s.c" % stem, "RCS/%s.c,v" % stem,
                 stem + ".h.gch", stem + ".h.gch/c", "STDINT.H",
                 stem.upper() + ".O"):
        changed = source.copy("", name)
        out = tirc(*check, changed, "--check", path, status=1).stdout
        if name + "  added" not in out:
            fail(out)
    beside = source.copy("", stem + ".onnx")
    for name in ("main.c", "main.o", "Makefile", "notes.txt", "s.main.c"):
        helper.text_file(beside, name, "")
    tirc(*check, beside, "--check", path)
    for old, new in (('"verified"', '"verifieD"'), ('"cases":', '"cases":1'),
                     ("certificate_sha256\": \"", "certificate_sha256\": \"0"),
                     ("\n}\n", "\n}\n ")):
        changed = helper.text_file(work_folder(), "cert.json",
                                   text.replace(old, new, 1))
        done = tirc(*check, source.folder, "--check", changed, status=2)
        if "it is not a certificate, or it was changed" not in done.stderr:
            fail(done.stderr)
    for old, new, says in (
            (r'"files": \[.*?\n\t\]', '"files": []', NOT_ONE),
            (r'"verdict": "\w+"', '"verdict": "fine"', NOT_ONE),
            (r'"bytes":\d+', '"bytes":9000000000',
             "the files that the certificate lists")):
        body = re.sub(old, new, text, count=1, flags=re.S)
        body = body[:body.index(',\n\t"certificate_sha256"')]
        changed = helper.text_file(
            work_folder(), "cert.json",
            '%s,\n\t"certificate_sha256": "%s"\n}\n' % (
                body, hashlib.sha256(body.encode()).hexdigest()))
        done = tirc(*check, source.folder, "--check", changed, status=2)
        if says not in done.stderr or done.stderr.count("error: ") != 1:
            fail(done.stdout + done.stderr)


def cuda_headers():
    """The headers of CUDA include <cmath>, which a compiler looks for in the folder
    first; a text for readers is no header."""
    folder = work_folder()
    tirc("compile", DIGITS, "--target", "cuda", "-o", folder)
    for name, status in ("README", 0), ("cmath", 1), ("nv/target", 1), ("a.cuh", 1):
        added = os.path.join(folder, name)
        os.makedirs(os.path.dirname(added), exist_ok=True)
        helper.text_file(folder, name, "")
        out = tirc("verify", DIGITS, folder, status=status).stdout
        if (name + "  is not from tirc" in out) != (status == 1):
            fail(out)
        os.remove(added)


def hostile(source):
    """Folders of anybody: one clear error each."""
    path = source.name[:-2] + ".json"
    with open(os.path.join(source.folder, path), encoding="utf-8") as file:
        text = file.read()
    row = '"target": "c99"'
    for new, says in (
            ('"target": "c99 -cc=./evil"', "cc"),
            ('"target": "c99 -simulator=./evil"', "simulator"),
            ('"target": "../../evil"', "target"),
            ('"target": 7', "does not state model, target"),
            ('"optimize": "x"', "optimize"),
            ('"options": {"conv":7}', "options"),
            ('"options": {"conv":["direct","auto"]}', "options"),
            ('"options": {"conv":"fast"}', "--conv fast"),
            ('"options": {"cc":"./evil"}', "cc"),
            ('"options": {"add-pass":["2:./evil"]}', "add-pass"),
            ('"options": {"byoc":[]}', "options"),
            ('"options": {"section":"x\\"))) int evil"}', "--section"),
            ('"options": {%s}' % ",".join(
                '"o%d":"x"' % i for i in range(300)), "options")):
        key = new.split(":")[0]
        if key == '"target"':
            made = text.replace(row, new)
        else:
            made = re.sub(key + r": .*?,\n", lambda _, n=new: n + ",\n", text)
        if made == text:
            fail("nothing was changed: " + new)
        done = source.verify(source.copy(made, path), 2)
        errors = [s for s in done.stderr.split("\n") if s.startswith("error:")]
        if len(errors) != 1 or says not in errors[0]:
            fail("%s: %s" % (new, done.stderr))
    for option in ('"byoc":["dnnl=./evil"]', '"byoc":["evil"]',
                   '"records":["evil"]',
                   '"schedule-for":["conv1=evil"]', '"functions":["evil"]'):
        made = re.sub('"options": .*?,\n', '"options": {%s},\n' % option, text)
        done = source.verify(source.copy(made, path), 1, "--cc", "no compiler")
        if "is not taken from there" not in done.stderr or "evil" not in \
                done.stderr or "error" in done.stderr:
            fail(done.stderr)
    empty = work_folder()
    if "no NAME.json" not in tirc("verify", source.model, empty,
                                  status=2).stderr:
        fail("an empty folder")


def other_text(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("] = {\n", "] = { \n"))


def other_bytes(path):
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(bytes(byte ^ 0x5a for byte in data))


def many_constants(form, ending, change):
    """Each of very many changed constants is assigned to its kernel. In a file of
    weights there is padding behind each."""
    n = 300
    rng = random.Random(5)
    names = ["x"] + ["t%d" % i for i in range(n - 1)] + ["y"]
    source = Source(write("many.onnx", [
        node("MatMul", [names[i], "w%d" % i], [names[i + 1]], "m%d" % i)
        for i in range(n)],
        [value_info("x", [1, 3])], [value_info("y", [1, 3])],
        [tensor("w%d" % i, [3, 3], random_floats(rng, 9))
         for i in range(n)]), "--target", "c99", "--weights", form)
    changed = os.path.join(work_folder(), "changed")
    shutil.copytree(source.folder, changed)
    change(os.path.join(changed, source.name[:-2] + "_weights." + ending))
    # No kernel has to run: a compiler that does nothing.
    path = os.path.join(work_folder(), "cert.json")
    source.verify(changed, 1, "--cc", "true", "-q", "-o", path)
    with open(path, encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    differ = sum(k["text"] == "differs" for k in kernels)
    if differ != n:
        fail("%d of %d kernels have other constants" % (differ, n))


def data_sets(source):
    """--data: a data set or a folder of them is compared, too; one that cannot be
    read is an error, before anything is said."""
    given = os.path.dirname(DIGITS)
    out = source.verify(source.folder, 0, "--data", given).stdout
    if out.count("ok    test_data_set_") != 3 or \
            not out.endswith("verified\n"):
        fail(out)
    wrong = work_folder()
    for name, number in (("input_0.pb", 0), ("output_0.pb", 1)):
        shutil.copy(os.path.join(given, "test_data_set_%d" % number, name),
                    wrong)
    out = source.verify(source.folder, 1, "--data", wrong, "-q").stdout
    if "FAIL  %s  prob" % os.path.basename(wrong) not in out or \
            not out.endswith("differs\n"):
        fail(out)
    os.remove(os.path.join(wrong, "output_0.pb"))
    for path in wrong, os.path.join(wrong, "none"), source.folder + "/none.npz":
        done = source.verify(source.folder, 2, "--data", path)
        if done.stdout or done.stderr.count("error: ") != 1:
            fail(done.stdout + done.stderr)


def symbolic_sizes():
    """Each kernel of a model with a symbolic size is run by itself, at several sizes;
    a change that matters at few of them is found."""
    rng = random.Random(4)
    source = Source(write("sizes.onnx", [
        node("MatMul", ["x", "w"], ["a"], "product"),
        node("Softmax", ["a"], ["b"], "soft", axis=0),
        node("Concat", ["b", "a"], ["y"], "both", axis=0)],
        [value_info("x", ["n", 5])], [value_info("y", ["m", 7])],
        [tensor("w", [5, 7], random_floats(rng, 35))]),
        "--target", "c99", "--dim", "n=1..8")
    out = source.verify(source.folder, 0).stdout
    if "not run" in out or out.count(" cases, ") != 3 or \
            any("n = %d" % n not in out for n in (1, 4, 8)):
        fail(out)
    planted(source, "if (n >= 7) {", "if (n >= 2) {", "product")
    planted(source, "i < n * 2", "i < n + 1", "both")
    fixed = Source(source.model, "--target", "c99", "--dim", "n=3")
    out = fixed.verify(fixed.folder, 0).stdout
    if "random inputs  y" not in out or not out.endswith("verified\n"):
        fail(out)


def assumed_sizes():
    """A folder is verified with the sizes that its NAME.json states, but for those
    that tirc assumed, however the others were given."""
    model = write("open.onnx", [
        node("MatMul", ["x", "w"], ["a"], "product"),
        node("Relu", ["p"], ["b"], "pairs"),
        node("Relu", ["q"], ["c"], "others")],
        [value_info("x", ["batch", 5]), value_info("p", ["2*batch", 3]),
         value_info("q", ["?", 2])],
        [value_info("a", ["batch", 7]), value_info("b", ["m", 3]),
         value_info("c", ["k", 2])],
        [tensor("w", [5, 7], random_floats(random.Random(6), 35))])
    for options, assumed in (
            ([], [[0], [0], [0]]),
            (["--dim", "batch=1"], [None, None, [0]]),
            (["--dim", "batch=1..3"], [None, None, [0]]),
            (["--input-shape", "q:1,2"], [[0], [0], None]),
            (["--input-shape", "x:1,5", "--input-shape", "q:4,2"],
             [None, None, None])):
        source = Source(model, "--target", "c99", *options)
        with open(os.path.join(source.folder, "net.json"),
                  encoding="utf-8") as file:
            inputs = json.load(file)["inputs"]
        if [row.get("assumed") for row in inputs] != assumed:
            fail("%s: %s" % (options, inputs))
        unchanged(source)


def little_memory():
    """A machine that has too little memory for the arrays of a kernel says nothing
    about the source: it is not run, and nothing is wrong."""
    n = 1 << 22
    source = Source(write("large.onnx", [node("Neg", ["x"], ["y"], "neg")],
                          [value_info("x", [n])], [value_info("y", [n])], []),
                    "--target", "c99")
    board = helper.text_file(
        work_folder(), "board", '#!/bin/sh\nulimit -v 12000\nexec "$@"\n')
    os.chmod(board, 0o755)
    out = source.verify(source.folder, 0, "--runner", board).stdout
    if "too little memory for the arrays of kernel neg" not in out or \
            "text only: " not in out:
        fail(out)
    done = tirc("test", source.model, *QUICK, "--target", "c99", "--runner",
                board, status=1)
    if "has too little memory for the model's arrays" not in done.stderr:
        fail(done.stderr)


def other_options():
    """A folder is verified with the options that its NAME.json states. The command
    line's options win: what NAME.json shows of the difference is told, and nothing is
    built that cannot be."""
    plain = Source(DIGITS, "--target", "c99")
    for options, other, says in (
            (["--in-workspace", "both"], ["--in-workspace", "inputs"],
             "options    ! in-workspace: inputs -> both "),
            (["--precision", "bf16"], ["--precision", "f32"],
             "weights    ! conv2_w: dtype "),
            (["--byoc", "dnnl:tiles=never"], ["--byoc", "cblas"],
             'options    ! byoc: ["cblas"] -> ["dnnl:tiles=never"] '),
            (["--form", "graph"], ["--form", "aot"],
             "  digits.c  cannot be read"),
            (["--disable-pass", "fold_pad", "--disable-pass", "cse"],
             ["--disable-pass", "cse"], "options    ! disable-pass: ")):
        folder = work_folder()
        tirc("compile", DIGITS, "-q", "-o", folder, "--target", "c99", *options)
        done = plain.verify(folder, 1, *other)
        if "was it compiled with other options? " not in done.stdout or \
                says not in done.stdout or \
                not done.stdout.endswith("differs\n"):
            fail(done.stdout)
        if "error" in done.stderr:
            fail(done.stderr)
        certificate = os.path.join(work_folder(), "cert.json")
        out = plain.verify(folder, 0, "--cc", "no such compiler", "-o",
                           certificate).stdout
        taken = ["%s %s" % pair for pair in zip(options[::2], options[1::2])]
        if not out.startswith("options  " + "\n         ".join(taken) + "\n"):
            fail(out)
        with open(certificate, encoding="utf-8") as file:
            if json.load(file)["stated"] != taken:
                fail("the certificate of %s" % options)
    # Where the kernels are called as before, they are run.
    path = plain.name[:-2] + ".json"
    out = plain.verify(replaced(plain, '"workspace_bytes":', '"workspace_bytes":1',
                                path), 1).stdout
    if "memory     ! workspace_bytes: " not in out or "FAIL" in out or \
            "ok    conv1" not in out:
        fail(out)


def options_of_models():
    """Options that belong to a model are taken from NAME.json; files that it names are
    not. What the model cannot have is an error, with a note of where it comes from."""
    model = write("given.onnx", [
        node("Add", ["x", "c"], ["a"], "plus"),
        node("Mul", ["a", "s"], ["t"], "times"),
        node("Relu", ["t"], ["y"], "relu")],
        [value_info("x", ["m", 5]), value_info("c", [5]),
         value_info("s", [5])],
        [value_info("y", ["m", 5]), value_info("t", ["m", 5])], [])
    record = helper.text_file(work_folder(), "c.pb", "")
    with open(record, "wb") as file:
        file.write(tensor("c", [5], floats(1, 2, 3, 4, 5)))
    options = ["--dim", "m=n", "--dim", "n=1..4", "--const-input",
               "c=1,2,3,4,5", "--disable-pass", "cse"]
    source = Source(model, "--target", "c99", *options)
    unchanged(source)
    path = source.name[:-2] + ".json"
    for old, new in (("c=1,2,3,4,5", "d=1"), ("n=1..4", "n=4..1"),
                     ("cse", "shapes")):
        done = source.verify(replaced(source, old, new, path), 2)
        if done.stderr.count("error: ") != 1 or new not in done.stderr or \
                "note: %s" % path not in re.sub("[^ ]*/", "", done.stderr):
            fail(done.stderr)
    named = Source(model, "--target", "c99", "--dim", "m=2", "--const-input",
                   "c=@" + record)
    with open(os.path.join(named.folder, path), encoding="utf-8") as file:
        if json.load(file)["options"] != {"dim": ["m=2"],
                                          "const-input": ["c=@c.pb"]}:
            fail("the path of a file is stated")
    done = named.verify(named.folder, 1)
    if "states --const-input c=@c.pb, which is not taken " not in done.stderr:
        fail(done.stderr)
    named.verify(named.folder, 0, "--const-input", "c=@" + record)


def fused_products():
    """A compiler may fuse products into sums, in which they do not overflow: kernels
    of such sums are right on a processor with fused multiply-adds, too, and are still
    compared at large numbers."""
    rng = random.Random(7)
    model = write("fused.onnx", [
        node("Conv", ["x", "w"], ["a"], "conv", pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["y"], "relu"),
        node("Mul", ["p", "two"], ["p2"], "twice"),
        node("Sub", ["p2", "q"], ["z"], "difference")],
        [value_info("x", [1, 16, 24, 24]), value_info("p", [40]),
         value_info("q", [40])],
        [value_info("y", [1, 16, 24, 24]), value_info("z", [40])],
        [tensor("w", [16, 16, 3, 3], random_floats(rng, 16 * 16 * 9)),
         tensor("two", [], floats(2))])
    fuses = processors.ALL[0]
    if fuses.missing():
        print("products are not fused: there is no " + fuses.missing())
        return
    source = Source(model, "--target", fuses.target, "--conv", "winograd")
    out = source.verify(source.folder, 0, "--conv", "winograd",
                        *fuses.options()).stdout
    if "FAIL" in out or not out.endswith("verified\n"):
        fail(out)
    names = [k for _, _, _, kernels in source.functions for k in kernels]
    if names != ["conv_input", "conv_products", "conv", "twice"]:
        fail("the kernels are %s" % names)
    out = source.verify(
        replaced(source, "* 2.0f - b[i]", "* 2.0f - b[i] + 1e30f"), 1, "--conv",
        "winograd", *fuses.options()).stdout
    if failing(out) != ["twice"]:
        fail(out)


def infinities():
    """Where an infinity is expected, nothing else is right."""
    source = Source(write("sum.onnx", [node("Add", ["x", "one"], ["y"], "plus")],
                          [value_info("x", [400])], [value_info("y", [400])],
                          [tensor("one", [], floats(1))]), "--target", "c99")
    unchanged(source)
    for change in ("x[i] > 3.4028235e38f ? 7.0f : x[i]",
                   "x[i] < -3.4028235e38f ? 0.0f - x[i] : x[i]"):
        if "within rounding" in planted(source, "y[i] = x[i]",
                                        "y[i] = " + change, "plus"):
            fail(change + ": taken for rounding")


def shifts():
    """Where a shift by data ends: the number of bits, and one less."""
    x, n, y, z = (value_info(v, [64], kind=12) for v in "xnyz")
    source = Source(write("shifts.onnx", [
        node("BitShift", ["x", "n"], ["y"], "left",
             direction="LEFT"),
        node("BitShift", ["x", "n"], ["z"], "right",
             direction="RIGHT")], [x, n], [y, z], []),
        "--target", "c99")
    for bits in "31", "33":
        planted(source, "(uint32_t)b >= 32u", "(uint32_t)b >= %su" % bits,
                "left")
        planted(source, "\tif (b >= 32u", "\tif (b >= %su" % bits,
                "right")


def small_arrays():
    """The cases of a kernel with an input of one byte have nearly all bytes: a change
    that matters for a few of them is found."""
    x, y = value_info("x", [1], kind=3), value_info("y", [1], kind=3)
    source = Source(write("byte.onnx", [
        node("Equal", ["x", "few"], ["e"], "equal"),
        node("Where", ["e", "x", "zero"], ["y"], "where")], [x], [y],
        [tensor("few", [1], b"\x53", kind=3),
         tensor("zero", [1], b"\x00", kind=3)]), "--target", "c99")
    planted(source, " == 83", " == 84", "equal")


def stated_options():
    """The first comment states the options that the source does not show otherwise,
    in one order; without such options it states none."""
    given = [["--conv", "direct"], ["--precision", "f16"],
             ["--in-workspace", "inputs"]]
    heads = []
    for target, options in (
            ("gnu-c", given), ("gnu-c", given[::-1]),
            ("gnu-c", [["--fp", "default"]]), ("cortex-m4", []),
            ("cortex-m4", [["--conv", "direct"]])):
        out = work_folder()
        tirc("compile", DIGITS, "-q", "-o", out, "--target", target,
             *sum(options, []))
        with open(os.path.join(out, "digits.c"), encoding="utf-8") as file:
            heads.append(file.read().split("*/")[0])
    says = " * options     --precision f16 --conv direct --in-workspace inputs\n"
    if says not in heads[0] or heads[0] != heads[1] or any(
            " options " in head for head in heads[2:]):
        fail("\n".join(heads))


def main():
    little_memory()
    shifts()
    small_arrays()
    stated_options()
    many_constants("c", "c", other_text)
    many_constants("file", "bin", other_bytes)
    symbolic_sizes()
    assumed_sizes()
    other_options()
    options_of_models()
    fused_products()
    infinities()
    digits = Source(DIGITS, "--target", "c99")
    data_sets(digits)
    certificates(digits)
    cuda_headers()
    planted(digits, "acc[0][oc] = 0.0f", "acc[0][oc] = 1.0f", "conv1")
    planted(digits, "oh + ih_i - 1", "oh + ih_i + 1", "conv1")
    planted(digits, "ih >= 0 && ih < 8", "ih >= 0 || ih < 8", "conv1")
    planted(digits, "0.166665763f", "0.176665763f", "prob")
    out = planted(digits, "0.18477423f", "0.18477433f", "conv2",
                  "digits_weights.c")
    if "in constant conv2_w, of kernel conv2" not in out:
        fail(out)
    filed = Source(DIGITS, *FILE)
    out = planted(filed, "j < 10; ++j) {\n\t\tfloat matmul;",
                  "j <= 10; ++j) {\n\t\tfloat matmul;", "fc_gemm")
    if "it writes outside of y" not in out:
        fail(out)
    same = digits.verify(replaced(digits, "static void\nconv1",
                                  "static void /* first */\nconv1"), 1).stdout
    if failing(same) or "conv1  text differs, " not in same:
        fail(same)
    lstm = Source(recurrent(), "--target", "c99")
    unchanged(lstm)
    rng = random.Random(1)
    for _ in range(4):
        print("%s: %s" % check_mutant(lstm, rng))
    hostile(digits)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        long_form(int(sys.argv[1]), int((sys.argv[2:] or ["1"])[0]),
                  (sys.argv[3:] or [os.path.join(helper.shared() or "",
                                                 "models")])[0])
    else:
        main()
