#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""options.py: sizes from --dim and --input-shape, what is assumed without
them, what is refused; names, digests, functions."""
import hashlib
import os

from helper import execute, fail, work_folder
from proto import *

DUMP = os.environ["ONNX_DUMP"]
folder = work_folder()


def dump(data, *options, status=0, name="m.onnx"):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return execute([DUMP, *options, path], status=status)


def has(text, *parts):
    for part in parts:
        if part not in text:
            fail("%r is not in\n%s" % (part, text))


def relu(x, y=None, **options):
    return model(graph([node("Relu", ["x"], ["y"])], [value_info("x", x)],
                       [value_info("y", y or x)], **options))


batch = relu(("batch_size", 3))
seen = dump(batch)
has(seen.stdout, "y\tfloat32\t1,3")
has(seen.stderr, "assumed: 'batch_size' is 1", "--dim batch_size=N")
seen = dump(batch, "--dim", "batch_size=4")
has(seen.stdout, "y\tfloat32\t4,3")
if seen.stderr:
    fail("an assumption too many:\n" + seen.stderr)
has(dump(batch, "--graph", "--dim", "batch_size=1..4").stdout,
    "dim batch_size: 1..4", "y: float32[batch_size, 3]")
has(dump(batch, "--input-shape", "x:5,3").stdout, "y\tfloat32\t5,3")
has(dump(batch, "--input-shape", "x:5,7").stdout, "y\tfloat32\t5,7")
has(dump(relu((None, 3))).stdout, "y\tfloat32\t1,3")

for options, words in [
        (["--dim", "bach_size=4"], ["'bach_size'", "'batch_size'"]),
        (["--input-shape", "z:1,3"], ["'z'", "'x'"]),
        (["--input-shape", "x:1,3,5"], ["2 dimensions", "not 3"]),
        (["--input-shape", "x:-1,3"], ["-1"]),
        (["--dim", "batch_size=0"], ["0..0"]),
        (["--dim", "batch_size=4..2"], ["4..2"]),
        (["--dim", "batch_size=99999999999"], ["99999999999"]),
        (["--dim", "batch_size=4", "--input-shape", "x:5,3"],
         ["'batch_size'", "4", "5"]),
        (["--dim", "batch_size=4", "--dim", "batch_size=5"],
         ["'batch_size'"])]:
    seen = dump(batch, *options, status=1)
    has(seen.stderr, "bad-option: ", *words)
    if len(seen.stderr.splitlines()) != 1:
        fail("more than one message:\n" + seen.stderr)

# A name that is no batch must be given; it holds for every input.
pair = model(graph([node("Add", ["a", "b"], ["y"])],
                   [value_info("a", ("rows", "cols")),
                    value_info("b", ("rows", 1))],
                   [value_info("y", ("rows", "cols"))]))
has(dump(pair, status=1).stderr, "unknown-shape", "'rows', 'cols'")
has(dump(pair, "--dim", "cols=2", status=1).stderr, "these sizes: 'rows';")
has(dump(pair, "--dim", "rows=3", "--dim", "cols=2").stdout, "y\tfloat32\t3,2")
has(dump(pair, "--graph", "--dim", "rows=1..9", "--dim", "cols=2").stdout,
    "y: float32[rows, 2]")
has(dump(relu((1, 3, None)), status=1).stderr, "dimension 2",
    "--input-shape")
has(dump(relu((-1, 3)), "--input-shape", "x:2,3").stdout, "y\tfloat32\t2,3")

# Inputs that are initializers are constants; what else is, is said.
fixed = graph([node("Add", ["x", "w"], ["y"])],
              [value_info("x", (2,)), value_info("w", (2,))],
              [value_info("y", (2,))], [tensor("w", [2], floats(1, 2))])
has(dump(model(fixed), "--graph").stdout, "const w", "input x")
has(dump(model(fixed)).stderr, "'w' keeps the value")
if dump(model(fixed, ir_version=3)).stderr:
    fail("IR version 3 needs inputs to be initializers")

# The graph's name, else the file's, else its folder's.
has(dump(relu((2,), name="net"), "--graph").stdout, "graph net\n")
has(dump(relu((2,), name=""), "--graph", name="lenet.v2.onnx").stdout,
    "graph lenet.v2\n")
has(dump(relu((2,), name=""), "--graph", name="alex/model.onnx").stdout,
    "graph alex\n")

# Squeeze without axes keeps a size that is 1 in some runs only.
squeezed = model(graph([node("Squeeze", ["x"], ["y"])],
                       [value_info("x", ("n", 3, 1))],
                       [value_info("y", None)]))
seen = dump(squeezed, "--graph", "--dim", "n=1..4")
has(seen.stdout, "y: float32[n, 3]")
has(seen.stderr, "keeps dimension 0 of 'x', which may be 1")
for size, shape in (("n=2..4", "y: float32[n, 3]"), ("n=1", "y: float32[3]")):
    seen = dump(squeezed, "--graph", "--dim", size)
    has(seen.stdout, shape)
    if seen.stderr:
        fail("an assumption too many:\n" + seen.stderr)

weights = b"".join(floats(k) for k in range(100000))
large = simple([node("Mul", ["x", "w"], ["y"])],
               [tensor("w", [100000], weights)], (100000,), (100000,))
has(dump(large, "--graph").stdout,
    "digest %s\n" % hashlib.sha256(large).hexdigest()[:16])

# Functions: names get the call's in front, attributes are handed on.
inner = function("Inner", "local", ["p"], ["q"], [
    node("LeakyRelu", ["p"], ["q"], "leak", attributes=[
        blob(1, "alpha") + blob(21, "slope") + number(20, 1)])], ["slope"])
outer = function("Outer", "local", ["p", "unused"], ["q"], [
    node("Inner", ["p"], ["t"], "in", "local", attributes=[
        blob(1, "slope") + blob(21, "slope") + number(20, 1)]),
    node("Inner", ["t"], ["q"], "", "local")], ["slope"])
called = simple([node("Outer", ["x"], ["h"], "call", "local", slope=0.25),
                 node("Outer", ["h"], ["y"], "call", "local", slope=0.5)],
                functions=[outer, inner])
has(dump(called, "--graph").stdout,
    "call/t: float32[2, 3] = LeakyRelu call/in/leak (x) {alpha = 0.25}\n",
    "h: float32[2, 3] = LeakyRelu call/q/leak (call/t)\n",
    "(h) {alpha = 0.5}\n")
# External data behind a symbolic link is refused (files_beside.py has more).
linked = simple([node("Mul", ["x", "w"], ["y"])],
                [external("w", [3], location="w.bin")], (3,), (3,))
inside = os.path.join(folder, "linked")
os.mkdir(inside)
for name in [os.path.join(folder, "secret.bin"),
             os.path.join(inside, "real.bin")]:
    with open(name, "wb") as file:
        file.write(floats(1, 2, 3))
link = os.path.join(inside, "w.bin")
os.symlink("real.bin", link)
has(dump(linked, name="linked/m.onnx", status=1).stderr, "w.bin",
    "symbolic link")
os.remove(link)
os.symlink("../secret.bin", link)
has(dump(linked, name="linked/m.onnx", status=1).stderr, "w.bin",
    "symbolic link")
# The folder itself may be reached by one.
os.remove(link)
os.rename(os.path.join(inside, "real.bin"), link)
os.symlink("linked", os.path.join(folder, "other"))
dump(linked, name="other/m.onnx")
print("all hold")
