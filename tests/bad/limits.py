#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""limits.py: small files that ask for much. tirc neither writes nor allocates
gigabytes for them, says which limit holds and which option raises it, and leaves
nothing half-written."""
import json
import os
import struct
import zipfile

from helper import (DIGITS, SANITIZED, TIRC, contents, execute, fail, measure,
                    tirc, work_folder)
from proto import *

folder = work_folder()
MOST_BYTES = 100 << 20
LONG = "n" * 1000000


def write(name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return path


def refused(path, *parts, verb="compile", arguments=()):
    out = os.path.join(work_folder(), "out")
    seen = execute([TIRC, verb, path, "-o", out, *arguments], status=1,
                   timeout=60)
    for part in parts:
        if part not in seen.stderr:
            fail("%s %s: %r is not in\n%s" % (verb, os.path.basename(path),
                                              part, seen.stderr[:3000]))
    if len(seen.stderr) > 3000:
        fail("%s: a message of %d bytes" % (path, len(seen.stderr)))
    left = [name for _, _, files in os.walk(os.path.dirname(out))
            for name in files]
    if left:
        fail("%s: left behind: %s" % (path, left))


def huge(name, nodes, initializers, out=None):
    """A model that compiles to little, with a note."""
    path = write(name + ".onnx", model(graph(
        nodes, [value_info("x", [1])], [value_info("y", out)], initializers)))
    target = os.path.join(folder, name)
    if not SANITIZED:
        _, peak = measure(TIRC, "compile", path, "-q", "-o", target)
        if peak > MOST_BYTES:
            fail("%s: compiling it took %d bytes" % (name, peak))
    seen = tirc("compile", path, "-o", target, "--weights", "file")
    total = sum(len(data) for data in contents(target).values())
    if total > 1 << 20:
        fail("%s: %d bytes were written" % (name, total))
    if "--max-output" not in seen.stdout:
        fail("%s: no note on the limit:\n%s" % (name, seen.stdout))


# Constants of gigabytes from a shape.
huge("fill", [node("ConstantOfShape", ["s"], ["c"]),
              node("Add", ["x", "c"], ["y"])],
     [tensor("s", [1], ints(1 << 35), INT64)])
huge("positions", [node("ConstantOfShape", ["s"], ["c"]),
                   node("NonZero", ["c"], ["z"]),
                   node("Cast", ["z"], ["y"], to=FLOAT)],
     [tensor("s", [1], ints(1 << 30), INT64)])
huge("expanded", [node("Expand", ["c", "s"], ["e"]),
                  node("Sin", ["e"], ["a"]), node("Add", ["a", "x"], ["y"])],
     [tensor("s", [1], ints(1 << 31), INT64),
      tensor("c", [1], floats(1))])
huge("sums", [node("Tile", ["c", "r"], ["t"]),
              node("CumSum", ["t", "z"], ["u"]), node("Add", ["u", "x"], ["y"])],
     [tensor("c", [1000], floats(*[1] * 1000)),
      tensor("r", [1], ints(1 << 20), INT64),
      tensor("z", [], ints(0), INT64)])
huge("expanded_sum", [node("Expand", ["c", "s"], ["e"]),
                      node("ReduceSum", ["e"], ["a"]),
                      node("Add", ["a", "x"], ["y"])],
     [tensor("s", [1], ints(1 << 29), INT64),
      tensor("c", [1], floats(1))])

# Products of many operands, which are one kernel.
refused(write("einsum.onnx", model(graph(
    [node("Einsum", ["x"] * 65, ["y"], equation=",".join(["i"] * 65) + "->i")],
    [value_info("x", [2])], [value_info("y", [2])]))),
    "65 operands", "at most 64")

# A constant is computed by a limited number of operations, of all nodes together.
multiplied = ["c"] + ["m%d" % i for i in range(5)]
seen = tirc("compile", write("products.onnx", model(graph(
    [node("ConstantOfShape", ["s"], ["c"])]
    + [node("MatMul", [a, a], [b])
       for a, b in zip(multiplied, multiplied[1:])]
    + [node("Add", ["x", multiplied[-1]], ["y"])],
    [value_info("x", [1])], [value_info("y", None)],
    [tensor("s", [2], ints(500, 500), INT64)]))),
    "-o", os.path.join(folder, "products"))
if seen.stdout.count("is computed at run time: folding it would") != 1:
    fail("products: folded without a limit:\n" + seen.stdout)

# Constants that are examined for repeated elements are in memory only for a while,
# or up to a limit.
for name, made, constants in [
        ("numbers", lambda i: [node("ConstantOfShape", ["s"], ["c%d" % i],
                                    value=tensor("", [1], floats(i + 1)))], []),
        ("columns", lambda i: [node("Expand", ["v%d" % i, "s"], ["c%d" % i])],
         [tensor("v%d" % i, [1024, 1], floats(*range(i, i + 1024)))
          for i in range(20)])]:
    nodes = sum((made(i) + [node("Add", ["x%d" % i, "c%d" % i],
                                 ["x%d" % (i + 1)])] for i in range(20)), [])
    path = write(name + ".onnx", model(graph(
        nodes, [value_info("x0", [1024, 1024])],
        [value_info("x20", [1024, 1024])],
        [tensor("s", [2], ints(1024, 1024), INT64), *constants])))
    for goal in ("speed", "memory"):
        tirc("compile", path, "-q", "--optimize", goal, "--max-memory", "40M",
             "-o", os.path.join(folder, name))

# Calls of a function have no copies of the attributes that they leave out.
N = 1500
tirc("compile", write("defaults.onnx", model(
    graph([node("F", ["x%d" % i], ["x%d" % (i + 1)], domain="f")
           for i in range(N)],
          [value_info("x0", [1])], [value_info("x%d" % N, [1])]),
    functions=[function("F", "f", ["a"], ["b"], [node("Relu", ["a"], ["b"])])
               + b"".join(blob(11, attribute("at%d" % i, 1))
                          for i in range(N))])),
    "-q", "--max-memory", "60M", "-o", os.path.join(folder, "defaults"))

# The places in a partition take no memory of their own, and its mistakes are
# counted.
path = os.path.join(folder, "places.json")
tirc("partition", DIGITS, "-q", "-o", path)
with open(path, encoding="utf-8") as file:
    partition = json.load(file)
partition["nodes"][0]["attrs"]["k" * 49000] = [0] * 24500
write("places.json", json.dumps(partition))
tirc("compile", path, "-q", "--max-memory", "40M", "-o",
     os.path.join(folder, "places"))
partition["inputs"] *= 22000
refused(write("places.json", json.dumps(partition)), "is listed twice")

# A node of very many operands (with a loop over all for each, some minutes).
tirc("compile", write("operands.onnxtxt", """<ir_version: 10, opset_import: ["" : 22]>
g (float[4, 8] x) => (float[4, 8] y) { y = Sum(%s) }
""" % ", ".join(["x"] * 40000)), "-q", "-o", os.path.join(folder, "operands"),
     timeout=60)

# A sequence shares its elements with the one that it is made from.
for op in ("SequenceInsert(t, x, o)", "SequenceErase(u, o)"):
    tirc("inspect", write("sequence.onnxtxt", """<ir_version: 10, opset_import: ["" : 22]>
g (float[2] x) => (float[2] y) <int64 z = {15000}, int64 o = {0}> {
    e = SequenceConstruct(x, x)
    l = Loop <body = b (int64 i, bool c, seq(float[2]) t)
                       => (bool c2, seq(float[2]) t2) {
        c2 = Identity(c)
        u = SequenceInsert(t, x)
        v = SequenceInsert(u, x, o)
        t2 = %s
    }> (z, "", e)
    y = SequenceAt(l, o)
}
""" % op), "--max-memory", "500M")

# Many constants below the limit, which are above it together.
ranges = ["c%d" % i for i in range(5)]
refused(write("ranges.onnx", model(graph(
    [node("Range", ["s%d" % i, "e%d" % i, "d"], [c])
     for i, c in enumerate(ranges)]
    + [node("Concat", ranges + ["x"], ["y"], axis=0)],
    [value_info("x", [1])], [value_info("y", None)],
    [tensor("d", [], floats(1))]
    + [tensor("s%d" % i, [], floats(i)) for i in range(5)]
    + [tensor("e%d" % i, [], floats(i + (60 << 20))) for i in range(5)]))),
    "more than the limit of 1000", "4 times the input and 1 GB",
    "--max-output")

# A string of each element takes the bytes of the longest.
refused(write("strings.onnx", model(graph(
    [node("StringConcat", ["x", "s"], ["y"])],
    [value_info("x", [20000], STRING)], [value_info("y", [20000], STRING)],
    [tensor("s", [20000], None, STRING, blob(6, "s" * 100000)
            + b"".join(blob(6, "") for _ in range(19999)))]))),
    "--max-output")
# A transform of a length that an input states.
refused(write("length.onnx", model(graph(
    [node("DFT", ["x", "n"], ["y"])],
    [value_info("x", [1, 2, 1])], [value_info("y", None)],
    [tensor("n", [], ints(1 << 40), INT64)]))), "--max-output")

# The limits that the user sets.
refused(DIGITS, "more than the limit of 1000 bytes", "--max-output",
        arguments=["--max-output", "1000"])
refused(DIGITS, "limit of 2000000 bytes of memory", "--max-memory",
        arguments=["--max-memory", "2M"])
refused(DIGITS, "--max-memory", arguments=["--max-memory", "100k"])
refused(DIGITS, "--max-output", verb="partition",
        arguments=["--max-output", "1k"])
seen = tirc("run", DIGITS, "--max-output", "9k", status=1)
if "--max-output" not in seen.stderr:
    fail("run: " + seen.stderr)
# Arrays of 4 GB of a model of 100 bytes: nothing fills them.
large = write("large.onnx", model(graph(
    [node("Relu", ["x"], ["y"])], [value_info("x", [1 << 25, 32])],
    [value_info("y", [1 << 25, 32])], [])))
package = os.path.join(folder, "large.tar")
tirc("tvmc", "compile", "-f", "mlf", "-o", package, "--target", "c", large)
for option, words in (("--max-memory", ("test", large, "--target", "c99")),
                      ("--max-output", ("run", large, "--target", "c99")),
                      ("--max-output", ("tvmc", "run", package))):
    seen = tirc(*words, status=1)
    if option not in seen.stderr:
        fail("%s: %s" % (" ".join(words), seen.stderr))
tirc("compile", DIGITS, "-q", "--max-output", "1.5M", "--max-memory", "200M",
     "-o", os.path.join(folder, "digits"))
# Text of arrays grows beyond the limit while it is written.
weights = write("weights.onnx", simple(
    [node("Add", ["x", "w"], ["y"])],
    [tensor("w", [100000], floats(*[i / 3 for i in range(100000)]))],
    dims=[1], out=[100000]))
refused(weights, "as text", "--max-output",
        arguments=["--weights", "c", "--max-output", "500k"])
for text in ["0", "-1", "x", "1Q", "1e30", "nan"]:
    tirc("compile", DIGITS, "--max-output", text, status=2)

# Arrays are memory, too; the message names the one that is too much.
SUM = write("sum.onnx", model(graph(
    [node("ReduceSum", ["x"], ["y"], keepdims=0)],
    [value_info("x", [1 << 24])], [value_info("y", [])])))
HEADER = (b"{'descr': '<f4', 'fortran_order': False, 'shape': (16777216,), }"
          .ljust(117) + b"\n")
ARRAY = b"\x93NUMPY\1\0" + struct.pack("<H", len(HEADER)) + HEADER
with zipfile.ZipFile(os.path.join(folder, "x.npz"), "w",
                     zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("x.npy", ARRAY + bytes(1 << 26))
write("x.npy", ARRAY + bytes(1 << 26))
for verb, option, file, word in [
        ("run", "--input", "x.npz", "member 'x'"),
        ("run", "--input", "x.npy", "x.npy"),
        ("test", "--input", "x.npz", "member 'x'"),
        ("compile", "--const-input", "x=@x.npy", "x.npy")]:
    name, _, path = file.rpartition("@")
    path = os.path.join(folder, path)
    seen = tirc(verb, SUM, option, name + "@" + path if name else path,
                "--max-memory", "40M", *{"compile": ["-o", os.path.join(folder, "sum")],
                   "test": ["--expect", path], "run": []}[verb], status=1)
    if word not in seen.stderr or "--max-memory" not in seen.stderr:
        fail("%s %s: %s" % (verb, option, seen.stderr))

# The output of a program.
printing = write("print.py", "for i in range(1000):\n    print('x' * 1000)\n")
seen = tirc("lower", printing, "--max-output", "10k", status=1)
if "print.py:2:" not in seen.stderr or "--max-output" not in seen.stderr:
    fail("lower: " + seen.stderr)
program = write("function.py", """
import tvm
from tvm import te
A = te.placeholder((64,), name="A")
B = te.compute((64,), lambda i: A[i] + 1.0, name="B")
f = te.create_prim_func([A, B])
""")
refused(program, "--max-output", verb="codegen",
        arguments=["--max-output", "10"])
refused(program, "--max-output", verb="lower",
        arguments=["--max-output", "10"])

# Names of a megabyte are cut in messages; the remedy stays.
refused(write("node.onnx", simple(
    [node("Conv", ["x"], ["y"], LONG)])), "…", LONG[:50])
refused(write("operator.onnx", simple(
    [node(LONG, ["x"], ["y"])])), LONG[:50])
refused(write("input.onnx", simple(
    [node("Relu", [LONG], ["y"])])), LONG[:50])
refused(write("file.onnx", simple(
    [node("Add", ["x", "w"], ["y"])],
    [external("w", [2, 3], location=LONG)])), "…")
for text in ['{"%s": 1}' % LONG, '{"tirc_partition": 1, "name": "n", '
             '"weights": "%s", "%s": []}' % (LONG, LONG)]:
    refused(write("keys.json", text), "…", "unknown key")

# Calls of functions: a cycle, and a chain that is only long.
def calls(name, n, last):
    """F0 calls F1, and so on; F of number n is the node `last`."""
    nodes = [node("F%d" % i, ["x"], ["y"], "", "local")
             for i in range(1, n + 1)] + [last]
    return write(name + ".onnx", simple(
        [node("F0", ["x"], ["y"], "call", "local")],
        functions=[function("F%d" % i, "local", ["x"], ["y"], [one])
                   for i, one in enumerate(nodes)]))


refused(calls("cycle", 10, node("F3", ["x"], ["y"], "", "local")),
        "calls itself")
refused(calls("chain", 100, node("Relu", ["x"], ["y"])),
        "nested more than 64 deep")
doubling = [function("F0", "local", ["x"], ["y"], [node("Relu", ["x"], ["y"])])] + [
    function("F%d" % i, "local", ["x"], ["y"], [
        node("F%d" % (i - 1), ["x"], ["t"], "", "local"),
        node("F%d" % (i - 1), ["t"], ["y"], "", "local")]) for i in range(1, 14)]
refused(write("doubling.onnx", simple([node("F13", ["x"], ["y"], "", "local")],
                                      functions=doubling)),
        "more than 4096 nodes, the most for a model of")
tirc("compile", calls("calls", 60, node("Relu", ["x"], ["y"])), "-q", "-o",
     os.path.join(folder, "calls"))

# Symbolic dimensions.
many = write("dims.json", json.dumps({
    "tirc_partition": 1, "name": "n", "weights": "n",
    "dims": [{"name": "d%d" % i, "min": 1, "max": 2} for i in range(40000)],
    "inputs": ["x"], "outputs": ["y"],
    "tensors": {"x": {"type": "float32", "shape": ["d0"]},
                "y": {"type": "float32", "shape": ["d0"]}},
    "nodes": [{"op": "Relu", "inputs": ["x"], "outputs": ["y"]}]}))
refused(many, "40000 symbolic dimensions", "4096")

# Dimensions: of shapes that a model states, of results with one more, and of those
# that only the body of a loop without iterations declares.
RANK = """<ir_version: 8, opset_import: ["": 17]>
g (float[2] x) => (float[2] y, float[] z)
<int64 none = {0}, int64 two = {2}, bool on = {1}, int64[%d] many = {%s}>
{
  big = Reshape(x, many)
  y, z = Loop(%s, on, x) <body = b (int64 i, bool c, float[2] s)
    => (bool d, float[2] t, float[%s] u) {
      d = Identity(c)
      t = Add(s, s)
      u = %s
    }>
}
"""


def ranks(name, n, trips, declared, slices):
    return write(name + ".onnxtxt", RANK % (
        n, ", ".join(["2"] + ["1"] * (n - 1)), trips, declared, slices))


refused(ranks("reshape", 33, "two", "2", "Identity(t)"),
        "'big' has 33 dimensions; the most is 32")
refused(ranks("stacked", 32, "two", "", "Identity(big)"),
        "33 dimensions; the most is 32")
refused(ranks("declared", 1, "none", ", ".join(["7"] * 32), "Identity(t)"),
        "its body does not declare the shape of 'u'")
refused(ranks("named", 1, "none", "n", "Identity(t)"),
        "its body does not declare the shape of 'u'")
tirc("compile", ranks("most", 32, "two", "2", "Identity(t)"),
     "-o", os.path.join(folder, "most"))

# Regular expressions: the work of all of them counts together.
HARD = "((y|){900}[%sa])*a[a-z%s]{7}" % (("".join(
    "\\x%02x" % byte for byte in range(1, 128, 2)),) * 2)
refused(write("patterns.onnx", model(
    graph([node("RegexFullMatch", ["x"], ["y%d" % i], pattern=HARD)
           for i in range(400)],
          [value_info("x", [2], STRING)],
          [value_info("y%d" % i, [2], BOOL) for i in range(400)]))),
        "its regular expressions take too much work")

# Each byte of a delimiter is a comparison.
refused(write("delimiter.onnx", model(
    graph([node("StringSplit", ["x"], ["y", "n"], delimiter="-" * 100000)],
          [value_info("x", [2], STRING)],
          [value_info("y", [2, None], STRING),
           value_info("n", [2], 7)]))),
        "the delimiter has more than 256 bytes")

# Programs: many parameters, and many arrays that leave the stack.
PROGRAM = "from tvm.script import tir as T\n\n@T.prim_func\ndef f(%s):\n%s"
refused(write("parameters.py", PROGRAM % (
    ", ".join("A%d: T.Buffer((%d,), 'float32')" % (i, i + 1) for i in range(2000)),
    "    A7[0] = A8[0]\n")), "2000 parameters; the most is 1024", verb="codegen")
# Scopes in scopes, and levels of an expression that many lines make.
refused(write("scopes.py", PROGRAM % (
    "A: T.Buffer((4,), 'float32')", "    with %s:\n        A[0] = 1.0\n" % (
        ", ".join(["T.attr(0, 'a', 1)"] * 6000)))),
        "more than 5000 values and scopes", verb="codegen")
MACROS = 6
nested = "".join(
    "@T.macro\ndef g%d(A):\n%s%s\n" % (
        k, "".join("    " * (i + 1) + "for i%d in range(2):\n" % i
                   for i in range(100)),
        "    " * 101 + ("g%d(A)" % (k + 1) if k < MACROS else "A[0] = 1.0"))
    for k in range(MACROS, -1, -1))
refused(write("loops.py", (PROGRAM % (
    "A: T.Buffer((4,), 'float32')", "    g0(A)\n")).replace(
        "@T.prim_func", nested + "\n@T.prim_func")),
        "more than 500 loops, branches and other suites", verb="codegen")
refused(write("grid.py", (PROGRAM % (
    "A: T.Buffer((4,), 'float32')",
    "    for i in T.grid(*L):\n        A[0] = 1.0\n")).replace(
        "@T.prim_func", "L = [2] * 20000\n\n@T.prim_func")),
        "more than 500 loops, branches and other suites", verb="codegen")
# Functions whose value is an index in an index: 56 in each, and one calls another.
refused(write("calls.py", PROGRAM % (
    "A: T.Buffer((4,), 'int32')", "".join(
        "    @T.inline\n    def g%d(J, x):\n        return %s\n" % (
            k, "J[" * 56 + ("g%d(J, x)" % (k + 1) if k < 90 else "x") + "]" * 56)
        for k in range(90, -1, -1)) + "    A[0] = g0(A, A[0])\n")),
        "values in one another more than 1000 deep", verb="codegen")
for name, deep in (
        ("conditions", "    with T.sblock('b'):\n" + "".join(
            "        T.where(A[0] < %d.0)\n" % i for i in range(1100)) +
         "        A[0] = 1.0\n"),
        ("steps", "    @T.inline\n    def h(x):\n" +
         "        x = x + A[0]\n" * 1100 +
         "        return x\n    A[0] = h(A[1])\n"),
        ("nested", "    b = T.decl_buffer((8,), 'int32', data=A.data)\n"
         "    b[0] = " + "b[" * 30 + "0" + "]" * 30 + "\n")):
    kind = "(%s), 'int32'" % ("2, " * 32) if name == "nested" else "(4,), 'float32'"
    refused(write(name + ".py", PROGRAM % ("A: T.Buffer(%s)" % kind, deep)),
        "an expression of more than 16384 parts" if name == "nested"
        else "an expression more than 1000 levels deep", verb="codegen")
ARRAYS = 1200
tirc("codegen", write("arrays.py", PROGRAM % (
    "A: T.Buffer((9000,), 'float32')", "".join(
        "    B%d = T.alloc_buffer((9000,), 'float32')\n" % i
        for i in range(ARRAYS)) + "".join(
        "    for i in range(9000):\n        %s = %s + 1.0\n" % (
            "A[i]" if k == ARRAYS else "B%d[i]" % k,
            "A[i]" if k == 0 else "B%d[i]" % (k - 1))
        for k in range(ARRAYS + 1)))), "-o", os.path.join(folder, "arrays"),
     timeout=300)

# A table of records, one of which has a long word.
with open(os.path.join(os.path.dirname(__file__), os.pardir, "exec", "tool",
                       "tune_records.jsonl")) as f:
    record = json.loads(f.readline())
rows = [dict(record, kernel="k" * (40000 if i == 0 else 1), workload="%016x" % i)
        for i in range(300)]
shown = tirc("records", "show", write(
    "records.jsonl", "".join(json.dumps(row) + "\n" for row in rows))).stdout
if len(shown) > 1 << 20:
    fail("%d records are shown in %d bytes" % (len(rows), len(shown)))

# The tree of a list of short numbers is many times its text.
numbers = "[" + "0," * 1000000 + "0]"
refused(write("numbers.json", '{"tirc_partition": 1, "x": %s}' % numbers),
        "of memory", arguments=["--max-memory", "50M"])
shown = tirc("records", "show", write(
    "numbers.jsonl", '{"tirc_record": 1, "x": %s}\n' % (numbers * 3))).stderr
if "longer than any record" not in shown:
    fail("a record of 6 MB: " + shown)

# Words with many points.
for name, text in (("dots", "g (float[2] x) => (float[2] y) { y = %sAdd (x) }"),
                   ("opaque", "g (opaque(%sx, y) x) => (float[2] y) {}")):
    path = write(name + ".onnxtxt", '<ir_version: 8, opset_import: ["": 17]>\n'
                 + text % ("a." * 100000))
    if not SANITIZED:
        _, peak = measure("sh", "-c", "! \"$@\" 2> /dev/null", "sh", TIRC,
                          "compile", path, "-o", folder)
        if peak > MOST_BYTES:
            fail("%s: reading it took %d bytes" % (name, peak))
