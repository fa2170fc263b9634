#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The executor of graphs: called right and wrong, given bad graphs; the
example, with what its README says that it prints; and the same tensors
whichever way a target lays them out."""
import copy
import json
import os
import re
import shutil
import struct

from helper import (DIGITS, ROOT, STRICT, compile_model, compilers, execute,
                    fail, has_dialect, tirc, work_folder)
from schema_check import errors

RUNTIME = os.path.join(ROOT, "runtime-c")
HERE = os.path.dirname(os.path.abspath(__file__))
EXECUTOR = [os.path.join(RUNTIME, "tirc_graph%s.c" % part)
            for part in ("", "_check", "_json", "_look")]
SANITIZE = ["-g", "-O0", "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all"]
JSON, KERNELS, PARAMS = 3, 4, 5  # statuses
BAD_SIZE = 9

folder = work_folder()
out = compile_model(DIGITS, "--form", "graph", "--target", "c99-scalar")
with open(os.path.join(out, "digits_graph.json"), encoding="utf-8") as f:
    text = f.read()
good = json.loads(text)
with open(os.path.join(ROOT, "templates", "schema",
                       "graph.schema.json")) as f:
    schema = json.load(f)
with open(os.path.join(ROOT, "tests", "fuzz", "graph.json")) as f:
    for graph in (good, json.load(f)):
        if errors(graph, schema, schema):
            fail("the schema refuses a graph: %s"
                 % errors(graph, schema, schema))


def contents(path):
    with open(path, "rb") as file:
        return file.read()


# Twice the same, and the kernels of the other form, to the letter.
again = compile_model(DIGITS, "--form", "graph", "--target", "c99-scalar")
names = sorted(os.listdir(out))
if names != sorted(os.listdir(again)) or any(
        contents(os.path.join(out, name)) != contents(os.path.join(
            again, name)) for name in names):
    fail("two runs write different files")


def kernels_of(path):
    source = contents(path).decode()
    start, end = (source.index("#pragma clang attribute " + word)
                  for word in ("push", "pop"))
    return source[start:end]


other = compile_model(DIGITS, "--target", "c99-scalar")
if kernels_of(os.path.join(out, "digits_kernels.c")) != kernels_of(
        os.path.join(other, "digits.c")):
    fail("the graph's kernels are not those of the other form")
# The schema refuses what differs in form, too.
for key, value in (("at", "elsewhere"), ("dtype", "float31"), ("bytes", -1),
                   ("shape", [["+", 1]]), ("from", "conv1")):
    one = copy.deepcopy(good)
    one["tensors"][1][key] = value
    if not errors(one, schema, schema):
        fail("the schema takes %s: %s" % (key, value))
# What cannot be had is refused in words, and leaves nothing.
for words in (*(["--target", name] for name in ("misra", "cuda")
                if has_dialect(name)),
              ["--weights", "c"], ["--form", "other"]):
    left = os.path.join(folder, "refused")
    done = tirc("compile", DIGITS, "--form", "graph", "-o", left, *words,
                status=1)
    if "--form" not in done.stderr or os.path.exists(left):
        fail("%s: %s" % (words, done.stderr))


def changed(*steps):
    """The graph with what a path leads to set to another value."""
    graph = copy.deepcopy(good)
    for *path, key, value in steps:
        at = graph
        for step in path:
            at = at[step]
        if value is None:
            del at[key]
        else:
            at[key] = value
    return json.dumps(graph)


def tensor(i, key, value):
    return changed(("tensors", i, key, value))


def arg(node, i, value):
    return changed(("nodes", node, "args", i, value))


ids = [t["name"] for t in good["tensors"]]
image, relu1, pool1 = (ids.index(n) for n in ("image", "relu1", "pool1"))
bad = [
    ("", JSON), ("[]", JSON), ("{}", JSON), (text + "x", JSON),
    (text[:-3], JSON), ("[" * 100000, JSON),
    (changed(("format", "tirc graph 2")), JSON),
    (changed(("version", "0")), KERNELS),
    (changed(("version", None)), JSON),
    (changed(("workspace", None)), JSON),
    (changed(("workspace", "bytes", 100)), JSON),
    (changed(("workspace", "bytes", -1)), JSON),
    (changed(("workspace", "bytes", 1e300)), JSON),
    (changed(("workspace", "align", 3)), JSON),
    (changed(("workspace", "align", 1)), JSON),
    (changed(("params", "bytes", 63)), JSON),
    (changed(("params", "bytes", 1000)), JSON),
    (changed(("params", "digest", "0" * 16)), PARAMS),
    (changed(("params", "digest", "x" * 16)), JSON),
    (changed(("params", None)), JSON),
    (changed(("inputs", [])), JSON),
    (changed(("nodes", 0, "kernel", "a\x1b]0;b\x07\u202ec\n")), KERNELS),
    (changed(("workspace", "a\x1b]0;b\x07\u202ec\n", 1),
             ("inputs", 0, "name", "\x1b]0;b\x07\u202ec\n"),
             ("inputs", 0, "tensor", "\x1b]0;b\x07\u202ec\n")), JSON),
    (changed(("inputs", 0, "tensor", "relu1")), JSON),
    (changed(("inputs", good["inputs"] * 2)), JSON),
    (changed(("outputs", 0, "tensor", "image")), JSON),
    (changed(("sizes", [{"name": "n", "min": 2, "max": 1}])), JSON),
    (changed(("sizes", 7)), JSON),
    (changed(("sizes", [{"name": "n", "min": 1, "max": 2}])), KERNELS),
    (changed(("tensors", good["tensors"] + good["tensors"][:1])), JSON),
    (changed(("tensors", 0, 5)), JSON),
    (tensor(relu1, "name", ""), JSON),
    (tensor(relu1, "dtype", "float31"), JSON),
    (tensor(relu1, "dtype", "float64"), BAD_SIZE),
    (tensor(relu1, "shape", [1, 16, 8, 9]), BAD_SIZE),
    (tensor(relu1, "shape", [1, 16, 8, -1]), BAD_SIZE),
    (tensor(relu1, "shape", [2 ** 40, 2 ** 40]), BAD_SIZE),
    (tensor(relu1, "shape", [2 ** 53] * 9), BAD_SIZE),
    (tensor(relu1, "shape", [1.5]), JSON),
    (tensor(relu1, "shape", ["n"]), JSON),
    (tensor(relu1, "shape", [["//", 1, 0]]), BAD_SIZE),
    (tensor(relu1, "shape", [["?", 1, 1]]), JSON),
    (tensor(relu1, "shape", [["+", 1]]), JSON),
    (tensor(relu1, "shape", [1] * 40), JSON),
    (tensor(relu1, "at", "elsewhere"), JSON),
    (tensor(image, "of", "prob"), JSON),
    (tensor(image, "shape", [1, 1, 8, 9]), BAD_SIZE),
    (tensor(relu1, "offset", 2), JSON),
    (tensor(relu1, "offset", 4096), JSON),
    (tensor(relu1, "bytes", 2048), BAD_SIZE),
    (tensor(relu1, "from", []), JSON),
    (tensor(relu1, "from", ["conv9"]), JSON),
    (tensor(relu1, "from", ["pool1"]), JSON),
    (tensor(ids.index(good["outputs"][0]["tensor"]), "from", ["conv1"]), JSON),
    (tensor(relu1, "block", 16), JSON),
    (changed(("tensors", relu1, "block", 16),
             ("tensors", relu1, "axis", 4)), JSON),
    (changed(("tensors", relu1, "block", 2 ** 20),
             ("tensors", relu1, "axis", 1)), JSON),
    (changed(("tensors", relu1, "block", 32),
             ("tensors", relu1, "axis", 1)), BAD_SIZE),
    (tensor(relu1, "before", [0, 0, 0, 0]), JSON),
    (changed(("tensors", relu1, "before", [0, 0, 1, 1]),
             ("tensors", relu1, "after", [0, 0, 1, 1])), BAD_SIZE),
    (changed(("nodes", 0, "kernel", "conv9")), KERNELS),
    (changed(("nodes", 0, "kernel", "pool1")), JSON),
    (changed(("nodes", 0, "kernel", "conv2")), KERNELS),
    (changed(("nodes", 0, "name", "pool1")), JSON),
    (changed(("nodes", good["nodes"][::-1])), JSON),
    (changed(("nodes", good["nodes"][:1] + good["nodes"])), JSON),
    (changed(("nodes", 0, "args", good["nodes"][0]["args"][:3])), JSON),
    (arg(0, 0, {"read": "relu1"}), JSON),
    (arg(0, 0, {"read": "nothing"}), JSON),
    (arg(0, 0, {"write": "image"}), KERNELS),
    (arg(0, 0, {}), JSON),
    (arg(0, 1, {"param": 64, "bytes": 10 ** 6}), JSON),
    (arg(0, 1, {"param": 2 ** 50, "bytes": 576}), JSON),
    (arg(0, 1, {"param": 64, "bytes": 575}), KERNELS),
    (arg(0, 1, {"param": 65, "bytes": 576}), KERNELS),
    (arg(0, 3, {"read": "relu1"}), KERNELS),
    (arg(0, 3, {"write": "pool1"}), KERNELS),
    (arg(0, 3, {"write": "image"}), KERNELS),
    (arg(4, 1, {"write": "image"}), JSON),
    (arg(0, 3, {"param": 64, "bytes": 4096}), KERNELS),
    (arg(0, 3, {"scratch": 4096, "bytes": 4096}), JSON),
    (arg(1, 1, {"write": "relu1"}), JSON),
    (arg(1, 1, {"update": "pool1", "of": "relu1"}), JSON),
    (tensor(pool1, "offset", 0), JSON),
    (arg(3, 0, {"read": "relu1"}), JSON),
    (changed(("model_names", {"relu9": "x"})), JSON),
    (changed(("model_names", {"relu1": "x", "pool1": "x"})), JSON),
]
files = []
for number, (words, status) in enumerate(bad):
    path = os.path.join(folder, "bad%d.json" % number)
    with open(path, "w", encoding="utf-8") as f:
        f.write(words)
    files.append("%s=%d" % (path, status))
for cc in compilers():
    program = os.path.join(folder, "graph_api-" + cc)
    for source in EXECUTOR:
        execute([cc, "-std=c99", "-O2", *STRICT, "-c", source, "-o",
                 program + ".o"])
    execute([cc, "-std=c99", "-O2", *STRICT, "-Wmissing-prototypes", "-c",
             os.path.join(out, "digits_kernels.c"), "-o", program + ".o"])
    execute([cc, "-std=c11", *SANITIZE, "-I" + out, "-I" + RUNTIME, "-o",
             program, os.path.join(HERE, "graph_api.c"),
             os.path.join(out, "digits_kernels.c"), *EXECUTOR, "-lcjson",
             "-lm"])
    execute([program, os.path.join(out, "digits.params"),
             os.path.join(out, "digits_graph.json"), *files])

# The example, on the first of the samples.
cc = compilers()[0]
with open(os.path.join(ROOT, "examples", "digits", "samples.txt")) as f:
    pixels = [float(word) / 16 for line in f.read().splitlines()[2:10]
              for word in line.split()]
sample = os.path.join(folder, "sample.bin")
with open(sample, "wb") as f:
    f.write(struct.pack("64f", *pixels))
inspect = os.path.join(folder, "inspect")
execute([cc, "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra",
         "-Werror", *SANITIZE, "-I" + RUNTIME, "-o", inspect,
         os.path.join(ROOT, "examples", "graph", "inspect.c"), *EXECUTOR,
         "-lcjson", "-ldl"])


def inspected(target):
    """What the example prints of a target's graph."""
    built = compile_model(DIGITS, "--form", "graph", "--target", target,
                          "--conv", "direct")
    library = os.path.join(built, "libdigits_kernels.so")
    if shutil.which("make"):
        execute(["make", "-s", "-f", os.path.join(built, "digits.mk"),
                 "CC=" + cc])
    else:
        execute([cc, "-O2", "-fPIC", "-shared", "-o", library,
                 os.path.join(built, "digits_kernels.c"), "-lm"])
    return execute([inspect, os.path.join(built, "digits_graph.json"),
                    os.path.join(built, "digits.params"), library,
                    sample]).stdout


printed = inspected("c99")
with open(os.path.join(ROOT, "examples", "graph", "README.md")) as f:
    shown = re.search(r"prints\n\n```\n(.*?)^```", f.read(), re.M | re.S)
if shown is None or shown[1] != printed:
    fail("the example's README shows something else than\n" + printed)


def seen(said):
    """The tensors that it prints, as words and numbers."""
    rows = [line.split() for line in said.splitlines() if "]" in line]
    return [[word for word in row if not re.match(r"-?\d+\.", word)]
            for row in rows], [float(word) for row in rows for word in row
                               if re.match(r"-?\d+\.", word)]


vectors = compile_model(DIGITS, "--form", "graph", "--target", "gnu-c",
                        "--conv", "direct")
with open(os.path.join(vectors, "digits_graph.json"), encoding="utf-8") as f:
    if '"block":16' not in f.read():
        fail("no tensor is in blocks: this proves nothing")
words, numbers = seen(printed)
other_words, other_numbers = seen(inspected("gnu-c"))
if words != other_words or any(abs(a - b) > 2e-4 for a, b in
                               zip(numbers, other_numbers)):
    fail("tensors in blocks are copied as something else")
