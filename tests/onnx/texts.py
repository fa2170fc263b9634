#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's text form of models and functions becomes the message that onnx.parser makes
of it: texts with everything that the form has (texts/), and ONNX's tests of nodes as
onnx.printer writes them. Texts with a mistake are refused with its line; no text that
was cut or changed crashes the reader."""
import os
import random
import struct
import subprocess

import onnx
import onnx.parser
import onnx.printer

from helper import fail, tirc, work_folder
from onnx_nodes import collect

READ = os.environ["TEXT_MESSAGE"]
FOLDER = work_folder()

HEAD = '<ir_version: 10, opset_import: ["": 21, "local": 1]>\n'
TEXTS = os.path.join(os.path.dirname(__file__), "texts")
MODELS = [open(os.path.join(TEXTS, name + ".onnxtxt"), encoding="utf-8").read()
          for name in ("everything", "functions")]
MODELS.append(HEAD + "g (float x) => (float x) {}")
FUNCTIONS = MODELS[1][MODELS[1].index("<domain"):]
WRONG = [
    (HEAD + "g (float x) => (float y) {\n  y = Relu (x\n}", 4, "')'"),
    (HEAD + "g (flaot[2] x) => (float y) {}", 2, "expected here"),
    (HEAD + "g (float x) => (float y) { y = Op <a = > (x) }", 2, "a number"),
    (HEAD + "g (float x) => (float y) { y = Op <a : int = \"t\"> (x) }", 2,
     "declared as int"),
    (HEAD + "g (float x) => (float y) { y = Op <a = []> (x) }", 2,
     "NAME : ints = []"),
    (HEAD + "g (float x) => (float y) { y = Op <a : texts = []> (x) }", 2,
     "no attribute has this type"),
    (HEAD + "g () => () <float[N] w = {1}> {}", 2, "does not tell how many"),
    (HEAD + "g () => () <int8[1] w = {1.5}> {}", 2, "an integer"),
    (HEAD + "g () => () <int64[1] w = {9223372036854775808}> {}", 2,
     "beyond 64 bits"),
    (HEAD + "g () => () <int8[1] w = {300}> {}", 2, "range of its type"),
    (HEAD + "g () => () <uint8[1] w = {-1}> {}", 2, "range of its type"),
    (HEAD + "g () => () <bool[1] w = {256}> {}", 2, "range of its type"),
    (HEAD + "g () => () <uint32[1] w = {4294967296}> {}", 2, "range of its type"),
    (HEAD + "g () => () <int32[1] w = {2147483648}> {}", 2, "range of its type"),
    (HEAD + "g () => () <float16[1] w = {65536}> {}", 2, "range of its type"),
    (HEAD + "g () => () <float[1] w = {1e39}> {}", 2, "write inf"),
    (HEAD + "g () => () <float[1] w = {1e}> {}", 2, "behind its e"),
    (HEAD + 'g () => () { y = Op <a = "text> (x) }', 2, "no \" ends"),
    ("<ir_version: 8, opset: []>\ng () => () {}", 1, "property 'opset'"),
    (HEAD + "g (" + "seq(" * 100 + "float", 2, "nested more than"),
    (HEAD + "g () => () {" + "y = Op <b = h () => () {" * 20, 2,
     "nested more than"),
    (HEAD + "g (map(seq, float) m) => () {}", 2, "keys of a map"),
]


def write(name, text):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


def read(texts, *options):
    """By text, the message, or None and why it is none."""
    paths = [write("text%d" % i, text) for i, text in enumerate(texts)]
    done = subprocess.run([READ, *options, *paths])
    if done.returncode != 0:
        fail("status %d" % done.returncode)
    results = []
    for path in paths:
        if os.path.exists(path + ".pb"):
            with open(path + ".pb", "rb") as file:
                results.append((onnx.ModelProto.FromString(file.read()), ""))
            os.unlink(path + ".pb")
        else:
            with open(path + ".why", encoding="utf-8",
                      errors="replace") as file:
                results.append((None, file.read()))
            os.unlink(path + ".why")
    return results


def without_notes(proto):
    """What no importer needs is not in tirc's message."""
    for field in ("producer_name", "producer_version", "model_version",
                  "doc_string"):
        if field in proto.DESCRIPTOR.fields_by_name:
            proto.ClearField(field)
    for f in proto.functions:
        f.ClearField("doc_string")
        f.ClearField("value_info")


def alike(a, b):
    """Equal messages; a text that is empty is as one that is absent, but in a list,
    and NaN is equal."""
    def plain(proto):
        return [line for line in str(proto).splitlines()
                if not line.endswith('""') or
                line.split()[0] in ("input:", "output:", "strings:")]
    return a == b or plain(a) == plain(b)


def check(text, got, why, want=None):
    """want: the message of onnx.parser, which is asked without one."""
    want = want or onnx.parser.parse_model(text)
    if got is None:
        fail("refused: %s\n%s" % (why, text))
    without_notes(want)
    without_notes(got)
    if not alike(want, got):
        fail("onnx.parser has\n%s\ntirc has\n%s" % (want, got))


def parsed(text):
    """The message of onnx.parser, or None."""
    try:
        return onnx.parser.parse_model(text)
    except Exception:
        return None


for text, result in zip(MODELS, read(MODELS)):
    check(text, *result)

want = onnx.parser.parse_model(MODELS[1])
[(got, why)] = read([FUNCTIONS], "--functions")
if got is None:
    fail(why)
without_notes(want)
without_notes(got)
if not all(map(alike, want.functions, got.functions)) or \
        len(got.functions) != 2:
    fail("functions: %s" % got)

# The printer writes some texts that its own parser does not read.
texts = [onnx.printer.to_text(case.model) for case in collect()]
wanted = {text: want for text in texts if (want := parsed(text))}
if len(wanted) < 1000:
    fail("only %d of ONNX's tests can be compared" % len(wanted))
for (text, want), result in zip(wanted.items(), read(list(wanted))):
    check(text, *result, want)

for (text, line, word), (got, why) in zip(
        WRONG, read([text for text, _, _ in WRONG])):
    if got is not None or ":%d:" % line not in why or word not in why:
        fail("%r gives %r" % (text, why))

# A changed text that tirc reads is the one that onnx.parser reads.
rng = random.Random(1)
texts = []
while len(texts) < 1000:
    text = bytearray(rng.choice(MODELS).encode())
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(text))
        text[at:at + rng.randint(0, 2)] = rng.choice(
            [b"", b"(", b"<", b"\"", b",", b"=", b"{", b"1", b"e", b"-", b"\\"])
    try:
        texts.append(text.decode())
    except UnicodeDecodeError:
        continue
for text, (got, why) in zip(texts, read(texts)):
    if got is not None:
        check(text, got, why)

# The command takes both.
model = """<ir_version: 8, opset_import: ["": 17, "local": 1]>
g (float[2, 3] x) => (float[2, 3] y) <float[3] w = {1, 2, 3}> {
  t = Add (x, w)
  y = local.Half (t)
}
"""
half = """<domain: "local", opset_import: ["": 17]>
Half (p) => (q) {
  c = Constant <value = float {0.5}> ()
  q = Mul (p, c)
}
"""


def imported(path, *options):
    return tirc("compile", path, "-o", work_folder(), "-q", "--print-after",
                "import", *options).stdout


binary = write("m.onnx", onnx.parser.parse_model(model + half)
               .SerializeToString())
want = imported(binary).replace("m.onnx", "")
for options in ([write("m.onnxtxt", model + half)],
                [write("bare.onnxtxt", model), "--functions",
                 write("half.txt", half)],
                [write("bare.onnxtxt", model), "--functions",
                 write("all.onnxtxt", model + half)]):
    if imported(*options) != want:
        fail("%s gives\n%s\nnot\n%s" % (options, imported(*options), want))
seen = tirc("compile", write("bare.onnxtxt", model), "--functions",
            write("half.txt", half.replace("Mul (", "Mul [")), "-o",
            work_folder(), status=1).stderr
if "half.txt:4:11: " not in seen or "'(' is expected here" not in seen:
    fail(seen)

# Types within types.
for kind, body, options in (
        ("seq", "SequenceLength", ["--sequence", "s=2"]),
        ("optional", "OptionalHasElement", [])):
    text = HEAD + "g (%s(float[2]) s) => (y) { y = %s (s) }" % (kind, body)
    want = imported(write("m.onnx", onnx.parser.parse_model(text)
                          .SerializeToString()), *options)
    if imported(write("m.onnxtxt", text), *options) != want or "s" not in want:
        fail("%s: not\n%s" % (text, want))

# The deepest graphs that the reader takes are not too deep for the importer.
deepest = 'y = Op <t = float[1] n = ["location": "w.bin"]> ()'
for _ in range(18):
    deepest = "y = Op <b = h () => (float[2] y) {%s}> ()" % deepest
seen = tirc("compile", write("deep.onnxtxt", HEAD + "g () => (float y) {%s}" % deepest),
            "-o", work_folder(), status=1).stderr
if "Op is not supported" not in seen:
    fail(seen)

# Large constants of a text, which are not pages of a file.
values = [i % 9 + 1 for i in range(3000)]
out = work_folder()
tirc("compile", write("large.onnxtxt", HEAD + "g (float[3000] x) => (float[3000] y)"
                      " <float[3000] w = {%s}> { y = Mul (x, w) }"
                      % ", ".join(map(str, values))),
     "-o", out, "--weights", "file", "-q")
with open(os.path.join(out, "g_weights.bin"), "rb") as file:
    if struct.unpack("<3000f", file.read()[64:64 + 12000]) != tuple(values):
        fail("the constants of a text are not what it says")
