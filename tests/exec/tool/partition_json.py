#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A partition goes out as JSON and comes in again: the same files come of it
as of the model, byte for byte; edits count; what cannot be is refused, with
the place."""
import copy
import hashlib
import json
import os
import shutil
import sys

from helper import DIGITS, HAS_ML, ROOT, WITHOUT_ML, contents, fail, tirc, \
    work_folder
from proto import *
from schema_check import errors

with open(os.path.join(ROOT, "templates", "schema",
                       "partition.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)


def round_trip(model, *arguments):
    """The partition's path, after the checks."""
    there = work_folder()
    a, b = os.path.join(there, "a"), os.path.join(there, "b")
    p, q = os.path.join(there, "p.json"), os.path.join(there, "q.json")
    tirc("compile", model, "-o", a, *arguments)
    tirc("partition", model, "-o", p, *arguments)
    tirc("compile", p, "-o", b)
    first, second = contents(a), contents(b)
    if first != second:
        fail("%s: by way of its partition other files come out: %s" % (
            model, [n for n in first if first[n] != second.get(n)]))
    tirc("partition", p, "-o", q)
    with open(p, encoding="utf-8") as f:
        text = f.read()
    with open(q, encoding="utf-8") as f:
        again = f.read().replace('"q.weights"', '"p.weights"')
    if text != again:
        fail(model + ": written, read and written again, it differs")
    wrong = errors(json.loads(text), SCHEMA, SCHEMA)
    if wrong:
        fail("the schema refuses %s: %s" % (model, wrong))
    return p


def write(name, body):
    path = os.path.join(work_folder(), name)
    with open(path, "wb") as f:
        f.write(body)
    return path


digits = round_trip(DIGITS)
round_trip(DIGITS, "--requant", "tflite")
round_trip(DIGITS, "--target", "gnu-c")
round_trip(DIGITS, "--byoc", "cblas")
round_trip(DIGITS, "--byoc", "dnnl", "--byoc", "cblas")

# Commands that give back what they read, after each step of the regions and
# each phase of a kernel, change nothing, whatever the options set.
STEPS = ["annotated", "merged", "partitioned"]
BACKENDS = work_folder()
os.mkdir(os.path.join(BACKENDS, "same"))
with open(os.path.join(BACKENDS, "same", "backend.json"), "w", encoding="utf-8") as f:
    json.dump({"description": "takes nothing", "patterns": [
        {"name": "none", "nodes": [{"id": "none", "op": "Det"}]}],
        "passes": [{"name": step, "after": step, "command": "cat"}
                   for step in STEPS]}, f)


def same_by_commands(model, *options):
    plain, backend, phases = [work_folder() for _ in range(3)]
    tirc("compile", model, "-o", plain, *options)
    tirc("compile", model, "-o", backend, "--byoc-path", BACKENDS,
         "--byoc", "same", *options)
    tirc("compile", model, "-o", phases, *options, *[
        word for phase in range(4) for word in ("--add-pass",
                                                "%d:cat" % phase)])
    first = contents(plain)
    for what, folder in ("backend's", backend), ("added", phases):
        other = contents(folder)
        if first != other:
            fail("%s, %s: %s commands that change nothing change %s" % (
                model, options, what,
                [n for n in first if first[n] != other.get(n)]))


sums = write("sums.onnx", simple(
    [node("Relu", ["x"], ["r"]), node("CumSum", ["r", "axis"], ["y"])],
    [tensor("axis", [], ints(1), INT64)], dims=(2, 20000), out=(2, 20000)))
same_by_commands(DIGITS, "--in-workspace", "both")
same_by_commands(DIGITS, "--requant", "tflite", "--target", "cortex-m4")
same_by_commands(sums, "--state", "y=x", "--in-workspace", "inputs")

# Symbolic sizes, known shapes, a weight that is a recipe, odd names, numbers
# at the ends of their types.
odd = "odd \"name\" \\ ä"
symbolic = write("symbolic.onnx", model(graph(
    [node("Concat", ["x", "x"], ["two"], "join", axis=1),
     node("Shape", ["two"], ["shape"]),
     node("Gather", ["shape", "zero"], ["n"], axis=0),
     node("Concat", ["n", "rest"], ["to"], axis=0),
     node("Reshape", ["two", "to"], ["flat"], "flatten"),
     node("Mul", ["big", "scale"], ["scaled"], "weights"),
     node("MatMul", ["flat", "scaled"], ["product"], odd),
     node("LeakyRelu", ["product"], ["r"], alpha=0.1),
     node("Clip", ["r", "low", "high"], ["y"], "end")],
    [value_info("x", ["batch size", 2, 40])],
    [value_info("y", ["batch size", 250])],
    [tensor("zero", [1], ints(0), INT64), tensor("rest", [1], ints(-1), INT64),
     tensor("big", [160, 250], floats(*(0.001 * (i % 97)
                                        for i in range(160 * 250)))),
     tensor("scale", [250], floats(*(1 + i for i in range(250)))),
     tensor("low", [], floats(float("-inf"))),
     tensor("high", [], floats(3.4028234663852886e38))])))
path = round_trip(symbolic)
with open(path, encoding="utf-8") as f:
    assumed = json.load(f)
if assumed["tensors"]["x"].get("assumed") != [0]:
    fail("a size that was assumed: %s" % assumed["tensors"]["x"])
path = round_trip(symbolic, "--dim", "batch size=1..7")
with open(path, encoding="utf-8") as f:
    p = json.load(f)
if p["dims"] != [{"name": "batch size", "symbol": "batch_size",
                  "min": 1, "max": 7}]:
    fail("dims: %s" % p["dims"])
if p["tensors"]["flat"]["shape"] != ["batch_size", 160]:
    fail("shape: %s" % p["tensors"]["flat"])
if "from" not in [t for t in p["tensors"].values()
                  if t["shape"] == [160, 250]][0]:
    fail("the weight that was computed does not say of what")

# A constant that is edited, in the file and beside it.
with open(digits, encoding="utf-8") as f:
    good = json.load(f)


def put(p, weights=None):
    folder = work_folder()
    out = os.path.join(folder, "p.json")
    with open(out, "w", encoding="utf-8") as f:
        json.dump(p, f)
    if weights is None:
        shutil.copy(digits[:-5] + ".weights", folder)
    elif weights:
        with open(os.path.join(folder, "p.weights"), "wb") as f:
            f.write(weights)
    return out


round_trip(put(good))
with open(digits[:-5] + ".weights", "rb") as f:
    data = f.read()
w = good["tensors"]["fc.weight"]
zeros = bytes(w["bytes"])
blank = data[:w["offset"]] + zeros + data[w["offset"] + w["bytes"]:]
edited = copy.deepcopy(good)
edited["tensors"]["fc.weight"]["digest"] = \
    hashlib.sha256(zeros).hexdigest()[:16]
by_file = work_folder()
tirc("compile", put(edited, blank), "-o", by_file)
edited["tensors"]["fc.weight"] = {"type": "float32", "shape": [10, 384],
                                  "splat": 0}
by_splat = work_folder()
tirc("compile", put(edited), "-o", by_splat)
plain = work_folder()
tirc("compile", digits, "-o", plain)
texts = [contents(x)["digits_weights.c"] for x in (by_file, by_splat, plain)]
if texts[0] != texts[1] or texts[0] == texts[2]:
    fail("an edited constant does not count")


# -- what is refused --

def refused(what, message, change, weights=None, of=None):
    p = copy.deepcopy(of or good)
    change(p)
    path = put(p, weights)
    out = os.path.join(work_folder(), "out")
    done = tirc("compile", path, "-o", out, status=1)
    if "p.json" not in done.stderr and "p.weights" not in done.stderr:
        fail(what + ": no file in: " + done.stderr)
    if message not in done.stderr:
        fail("%s: the message lacks %r:\n%s" % (what, message, done.stderr))
    if os.path.isdir(out) and os.listdir(out):
        fail(what + ": files are left")


def at(*keys):
    """An edit: the last of keys is the value; one before it, where."""
    def change(p):
        for key in keys[:-2]:
            p = p[key]
        if keys[-1] is None:
            del p[keys[-2]]
        else:
            p[keys[-2]] = keys[-1]
    return change


def cycle(p):
    p["nodes"][1]["inputs"] = ["pool1"]
    p["nodes"][2]["inputs"] = ["relu1"]


refused("version", "/tirc_partition: ", at("tirc_partition", 2))
refused("unknown key", "/colour: unknown key", at("colour", 1))
refused("cycle", "cycle", cycle)
refused("dangling", "/nodes/1/inputs/0: no tensor 'nowhere'",
        at("nodes", 1, "inputs", ["nowhere"]))
refused("nobody makes it", "/tensors/relu1: it is read, but it is not an input",
        lambda p: p["nodes"].pop(1))
refused("made twice", "/nodes/1/outputs/0: 'conv1' has a value already",
        at("nodes", 1, "outputs", ["conv1"]))
refused("a constant made", "/nodes/1/outputs/0: 'fc.bias' has a value already",
        at("nodes", 1, "outputs", ["fc.bias"]))
refused("wrong shape", "/tensors/conv1/shape: Conv gives "
        "float32[1, 16, 8, 8]", at("tensors", "conv1", "shape",
                                   [1, 16, 8, 9]))
refused("wrong type", "Conv gives float32",
        at("tensors", "conv1", "type", "float16"))
refused("no type", "/tensors/conv1/type: 'real' is not an element type",
        at("tensors", "conv1", "type", "real"))
refused("negative size", "/tensors/image/shape/0: sizes are",
        at("tensors", "image", "shape", [-1, 1, 8, 8]))
for assumed in [4], [-1], ["0"], 0:
    refused("an assumed size", "/tensors/image/assumed",
            at("tensors", "image", "assumed", assumed))
refused("unknown symbol", "no dimension has this name",
        at("tensors", "image", "shape", ["n", 1, 8, 8]))
refused("no expression", "/tensors/image/shape/0",
        at("tensors", "image", "shape", ["1 +", 1, 8, 8]))
refused("too large", "more elements than any machine",
        at("tensors", "image", "shape", [2**31, 2**31, 8, 8]))
refused("unknown operator", "/nodes/0/op: there is no operator Convv; did "
        "you mean Conv?", at("nodes", 0, "op", "Convv"))
refused("unknown domain", "/nodes/0/op: there is no operator mine.Conv",
        at("nodes", 0, "domain", "mine"))
refused("ranks of an internal operator", "LinearAttention 'conv1",
        lambda p: p["nodes"][0].update(op="LinearAttention", domain="tirc"))
refused("text for the digest", "/digest: hexadecimal digits",
        at("digest", 'x"\n#error'))
refused("attribute", "/nodes/0/attrs/pads/1: an integer",
        at("nodes", 0, "attrs", "pads", [1, 1.5, 1, 1]))
refused("kind of attribute", "/nodes/0/attrs/pads: one of int, float",
        at("nodes", 0, "attrs", "pads", {"colour": 1}))
refused("unread", "nothing reads its outputs",
        lambda p: (p["nodes"].append(
            {"op": "Relu", "inputs": ["fc"], "outputs": ["extra"]}),
            p["tensors"].update(extra={"type": "float32",
                                       "shape": [1, 10]})))
refused("no outputs", "/outputs: the graph has no outputs", at("outputs", []))
refused("output of nobody", "/outputs/0: no node computes it",
        at("outputs", ["image"]))
refused("input with values", "/inputs/1: a constant",
        at("inputs", ["image", "fc.bias"]))
refused("origin", "/nodes/0/origins/0: no origin has this output",
        at("nodes", 0, "origins", ["elsewhere"]))
refused("values",
        "/tensors/fc.bias/values: the shape needs a list of 10 numbers",
        at("tensors", "fc.bias", "values", [1, 2]))
refused("value", "/tensors/fc.bias/values/0: a number,",
        lambda p: p["tensors"]["fc.bias"]["values"].__setitem__(0, "one"))
refused("two forms", "exactly one of values, splat and offset",
        at("tensors", "fc.bias", "splat", 0))
refused("bytes", "/tensors/fc.weight/bytes: type and shape need 15360",
        at("tensors", "fc.weight", "bytes", 4))
refused("offset", "/tensors/fc.weight/offset: ",
        at("tensors", "fc.weight", "offset", 1 << 40))
refused("digest", "/tensors/fc.weight/digest: ",
        at("tensors", "fc.weight", "digest", "0" * 16))
refused("other bytes", "/tensors/fc.weight/digest: ", lambda p: None, blank)
refused("short file", "p.weights has only 100 bytes", lambda p: None, data[:100])
refused("no file", "p.weights", lambda p: None, b"")
refused("file not named", "names no file of constants", at("weights", None))
refused("backend", "nobody", lambda p: p.update(
    backends=[{"name": "nobody"}]))
refused("backend twice", "/backends/1: this name is given twice", lambda p: p.update(
    backends=[{"name": "cblas"}, {"name": "cblas"}]))
refused("region of no backend", "/regions/0/backend: ", lambda p: p.update(
    regions=[{"name": "r", "backend": "x", "matches": []}]))
# What the nodes tell of a match is theirs to change; a step may leave it.
leaky = write("leaky.onnx", simple(
    [node("Conv", ["x", "w"], ["c"], "conv"),
     node("LeakyRelu", ["c"], ["y"], "slope", alpha=0.5)],
    [tensor("w", [4, 3, 3, 3], floats(*(i % 7 for i in range(108))))],
    dims=(1, 3, 8, 8), out=(1, 4, 6, 6)))
digits = round_trip(leaky, "--byoc", "dnnl")
with open(digits, encoding="utf-8") as f:
    good = json.load(f)
[step] = good["regions"][0]["matches"][0]["steps"]
if step["facts"]["alpha"] != 0.5:
    fail("a step without its fact: %s" % step)
refused("fact",
        "/matches/0/steps/0/facts/alpha: the fact contradicts the nodes",
        lambda p: p["regions"][0]["matches"][0]["steps"][0]["facts"].update(
            alpha=0.25))
changed = copy.deepcopy(good)
changed["nodes"][1]["attrs"]["alpha"] = {"float": 0.25}
changed["regions"][0]["matches"][0]["steps"][0]["facts"]["alpha"] = 0.25
out = work_folder()
tirc("compile", put(changed), "-o", out)
if b"0.25f" not in contents(out)["g.c"]:
    fail("an attribute that was changed does not count")
changed = copy.deepcopy(good)
changed["regions"][0]["matches"][0].pop("steps")
out = work_folder()
tirc("compile", put(changed), "-o", out)
with_step = work_folder()
tirc("compile", digits, "-o", with_step)
STEP = b"eltwise_relu, 0.5f"
if STEP not in contents(with_step)["g.c"] or STEP in contents(out)["g.c"]:
    fail("the step that was taken out is still in the region")
broken = os.path.join(work_folder(), "p.json")
with open(broken, "w") as f:
    f.write('{\n\t"tirc_partition": 1,\n\t"name" "x"\n}\n')
done = tirc("compile", broken, "-o", work_folder(), status=1)
if "p.json:3:" not in done.stderr:
    fail("no line of the mistake: " + done.stderr)
done = tirc("compile", digits, "--dim", "n=1", "-o", work_folder(), status=1)
if "fixed" not in done.stderr:
    fail("--dim with a partition: " + done.stderr)
done = tirc("compile", digits, "--byoc", "cblas", "-o", work_folder(),
            status=1)
if "fixed" not in done.stderr:
    fail("--byoc with a partition without: " + done.stderr)

# Tables of positions and numbers of bodies that another program wrote: kernels and
# the entry function would follow them anywhere.
def partition_of(model):
    path = os.path.join(work_folder(), "m.json")
    tirc("partition", write("m.onnx", model), "-o", path)
    tirc("compile", path, "-o", work_folder())
    with open(path, encoding="utf-8") as f:
        return json.load(f)


scan = partition_of(simple(
    [node("Scan", ["x"], ["y"], "scan", num_scan_inputs=1,
          attributes=[nested_graph("body", graph(
              [node("Relu", ["a"], ["b"])] +
              [node("Relu", ["b"], ["c%d" % k]) for k in range(40)],
              [value_info("a", [3])], [value_info("b", [3])]))])],
    [], (40, 3), (40, 3)))
end = [n["op"] for n in scan["nodes"]].index("EndLoop")
for key, value, message in [
        ("body", -5, "its body"), ("body", 2**31, "its body"),
        ("body", 1, "its body"), ("loop", 0, "its body"), ("loop", 7, "its body"),
        ("loop", -2**40, "its body"), ("states", 2**40, "states"),
        ("states", -1, "states"), ("counted", 2**32, "states")]:
    refused("%s %d" % (key, value), message,
            at("nodes", end, "attrs", key, value), of=scan)
refused("a body of its own", "its body", at("nodes", 0, "attrs", "body", 3),
        of=scan)
refused("no loop", "its body", at("nodes", 1, "attrs", "body", 0), of=scan)

if not HAS_ML:
    print("skipped, the tables of trees: " + WITHOUT_ML)
    sys.exit(0)
tree = partition_of(simple(
    [node("TreeEnsembleRegressor", ["x"], ["y"], "tree", "ai.onnx.ml", [
        blob(1, "nodes_modes") + b"".join(
            blob(9, word) for word in ("BRANCH_LEQ", "LEAF", "LEAF"))
        + number(20, 8), reals("nodes_values", 0.5, 0, 0),
        reals("target_weights", 1, 2)],
        nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2],
        nodes_featureids=[0, 0, 0], nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0],
        target_nodeids=[1, 2], target_ids=[0, 0])], [], (2, 3), (2, 1),
    more=blob(8, opset(3, "ai.onnx.ml"))))
for table, numbers in [("feature", [7, 0, 0]), ("feature", [-1, 0, 0]),
                       ("next", [1, 9, 1, 1, 2, 2]),
                       ("next", [1, -2, 1, 1, 2, 2]), ("root", [3]),
                       ("depth", [-1])]:
    refused("%s %s" % (table, numbers), "positions",
            at("tensors", "y_" + table, "values", numbers), of=tree)


def given(p):
    del p["tensors"]["y_next"]["values"]
    p["inputs"].append("y_next")


refused("a table that is an input", "positions", given, of=tree)
