#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of strangers choose no program: neither a shell's command nor a shared
object of a partition runs, whatever verb reads it, and only the backends that the
command line names are read."""
import json
import os
import re
import shutil

from helper import DIGITS, TIRC, execute, fail, tirc, work_folder
import proto
from proto import *

FOLDER = work_folder()
MARK = os.path.join(FOLDER, "ran")
os.environ["HOME"] = FOLDER


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def partition(*arguments):
    path = os.path.join(FOLDER, "p.json")
    tirc("partition", DIGITS, "-o", path, "--force", *arguments)
    return json.loads(read(path))


def write(name, value):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


def not_run(what):
    if os.path.exists(MARK):
        fail(what + ": its command ran")


def refused(path, message, *arguments, verbs=("compile", "run", "test")):
    """No verb takes the file, and nothing is written or run."""
    for verb in verbs:
        out = os.path.join(FOLDER, "out")
        shutil.rmtree(out, ignore_errors=True)
        done = execute([TIRC, verb, path, *arguments,
                        *(("-o", out) if verb == "compile" else ())],
                       status=1)
        if message not in done.stderr:
            fail("%s: no %r in:\n%s" % (verb, message, done.stderr))
        if os.path.isdir(out) and os.listdir(out):
            fail(verb + ": it wrote " + " ".join(os.listdir(out)))
        not_run(verb)


# -- targets --
PLAIN = partition("--target", "c99")
for fact in ("-cc=touch${IFS}$HOME/ran;gcc", "-cc=touch",
             "-cflags=$(touch${IFS}$HOME/ran)",
             "-cflags=-O2\nX!=touch$${IFS}$(HOME)/ran",
             "-cflags=-O2)\nexecute_process(COMMAND\ntouch\n./ran)\nset(X",
             "-ldflags=$(touch${IFS}$HOME/ran)", "-device_cflags=-O2",
             '-simulator={"command":"touch","argument":"-x",'
             '"runtime":[],"ldflags":""}',
             '-fp_cflags={"strict":"-O0"}', "-cc_package=x", "-dialect=gnu-c",
             "-extends=gnu-c", "-fits=[]", "-no_such_key=1"):
    bad = dict(PLAIN, target="c99 " + fact)
    refused(write("bad.json", bad), "/target: ")
for target in ("native", "../c99", "c99\ncc", "/etc/passwd", "c99 cc"):
    refused(write("bad.json", dict(PLAIN, target=target)),
            "-KEY=VALUE" if target == "c99 cc" else "stands for the machine"
            if target == "native" else "no such target", verbs=("compile",))

# Facts are a file's to change; what runs programs is the command line's.
facts = write("facts.json",
              dict(PLAIN, target="c99 -cores=2 -l1_bytes=16384"))
tirc("run", "-q", facts)
tirc("run", "-q", write("bad.json",
                        dict(PLAIN, target="c99 -cc=no-such-compiler")),
     "--target", "c99")
said = tirc("partition", DIGITS, "--target", "c99 -cores=2 -cc=gcc", "-o",
            os.path.join(FOLDER, "q.json"))
if said.stderr.count("note: ") != 1 or \
        "without -cc=gcc" not in said.stderr:
    fail("what is left out of the partition is not said:\n" + said.stderr)
if json.loads(read(os.path.join(FOLDER, "q.json")))["target"] != \
        "c99 -cores=2":
    fail("the partition's target")

# The user's own words are split as a shell does, but nothing is expanded.
tirc("run", "-q", DIGITS, "--target", "c99", "--cc", "'gcc'", "--cflags",
     "-O1 \"-DUNUSED=a b\" '-DOTHER=$(touch $HOME/ran)'")
not_run("--cflags")
for option, words in (("--cc", "gcc'"), ("--cflags", "\"-O1"),
                      ("--runner", "env '")):
    done = execute([TIRC, "run", DIGITS, "--target", "c99", option, words],
                   status=1)
    if "a quote that is not closed" not in done.stderr:
        fail(option + ":\n" + done.stderr)

# In build files flags are words of their languages.
flags = "c99 -cflags=-DX='$(touch${IFS}$HOME/ran)#;\"y\"' -ldflags=-Wl,-z"
out = os.path.join(FOLDER, "flags")
tirc("compile", DIGITS, "--target", flags, "-o", out)
made = read(os.path.join(out, "digits.mk"))
if "'-DX=$$(touch$${IFS}$$HOME/ran)\\#;\"y\"'" not in made:
    fail("the makefile's flags:\n" + made)
if "\"-DX=\\$(touch\\${IFS}\\$HOME/ran)#\\;\\\"y\\\"\"" not in read(
        os.path.join(out, "digits.cmake")):
    fail("the flags for CMake")
execute(["make", "-C", out, "-f", "digits.mk", "-n"])
execute(["make", "-C", out, "-f", "digits.mk"])
not_run("make")

# -- backends --
BACKENDS = os.path.join(FOLDER, "backends")


def backend(name, **keys):
    os.makedirs(os.path.join(BACKENDS, name), exist_ok=True)
    write(os.path.join(BACKENDS, name, "backend.json"), dict({
        "description": "takes Relu", "templates": {"region": "r.tmpl"},
        "patterns": [{"name": "p", "nodes": [{"id": "a", "op": "Relu"}]}]},
        **keys))
    with open(os.path.join(BACKENDS, name, "r.tmpl"), "w",
              encoding="utf-8") as file:
        file.write("")


MODES = {"mode": {"what": "w", "values": ["a", "b"], "default": "a"}}
backend("mine", options=MODES)
backend("cblas")
backend("others", passes=[{"name": "n", "after": "merged",
                           "command": "touch " + MARK}])
WITH = ["--byoc-path", BACKENDS]
mine = partition(*WITH, "--byoc", "mine:mode=b", "--target", "c99")
refused(write("mine.json", mine), "--byoc mine", *WITH, verbs=("compile",))
refused(write("mine.json", mine), "--byoc mine:mode=b", *WITH, "--byoc",
        "mine", verbs=("compile",))
for named in ("mine:mode=b", "mine=%s:mode=b" % BACKENDS,
              "mine=%s/mine:mode=b" % BACKENDS):
    tirc("partition", os.path.join(FOLDER, "mine.json"), *WITH, "--byoc",
         named)
not_run("a backend that nobody named")

# A folder's backend takes the place of tirc's own only if its folder is named.
refused(DIGITS, "give --byoc cblas=%s/cblas" % BACKENDS, *WITH, "--byoc",
        "cblas", verbs=("compile",))
tirc("partition", DIGITS, "--byoc", "cblas")
said = tirc("partition", DIGITS, "--byoc", "cblas=" + BACKENDS)
if "1 p" not in said.stdout:
    fail("not the folder's backend:\n" + said.stdout)

# -- what a partition says of its graph --


def graph(tensors, nodes, inputs, outputs, *dims):
    return {"tirc_partition": 1, "name": "g", "settings": {}, "dims": [
        {"name": name, "min": 1, "max": most} for name, most in dims],
        "inputs": inputs, "outputs": outputs, "tensors": {
            name: dict({"type": kind, "shape": shape}, **more)
            for name, (kind, shape, more) in tensors.items()},
        "nodes": [{"op": op, "inputs": ins, "outputs": outs}
                  for op, ins, outs in nodes],
        "backends": [], "matches": [], "regions": [], "origins": []}


# Sizes are equal for all values of their dimensions, not for some.
for shape, good, most in (("m", False, 100), ("n + (n - 1) * (100 - n)", False, 100),
                          ("n * 2 - n", True, 1 << 20),
                          ("n + (n - 1) * (n - 2)", True, 2)):
    path = write("sizes.json", graph(
        {"x": ("float32", ["n", 4], {}), "u": ("float32", ["m", 4], {}),
         "y": ("float32", [shape, 4], {}), "v": ("float32", ["m", 4], {})},
        [("Relu", ["x"], ["y"]), ("Neg", ["u"], ["v"])], ["x", "u"], ["y", "v"],
        ("n", most), ("m", most)))
    if good:
        tirc("compile", path, "-o", os.path.join(FOLDER, "sizes"), "--force")
    else:
        refused(path, "/tensors/y/shape: Relu gives", verbs=("compile",))

# Elements that are known, and that nothing computes, are not read by a kernel.
for known, message in (([0, 0], "its elements are read when the model runs"),
                       ([0], "1 elements do not fit the shape")):
    refused(write("known.json", graph(
        {"x": ("int64", ["n"], {}), "i": ("int64", [2], {"known": known}),
         "u": ("int64", [2], {}), "y": ("int64", ["n"], {})},
        [("ScatterElements", ["x", "i", "u"], ["y"])], ["x", "u"], ["y"],
        ("n", 9))), message, verbs=("compile",))

# A loop's state is in memory of its own, and its nodes are in a body.
def loop(first, **attrs):
    tensors = {name: ("float32", [4], {}) for name in "xsvunyz"}
    tensors["c"] = ("float32", [4], {"splat": 1})
    made = graph(tensors, [
        ("Copy", ["x"], ["s"]), ("Carry", [first], ["v"]), ("Neg", ["v"], ["u"]),
        ("Copy", ["u"], ["n"]), ("EndLoop", [first, "n"], ["y"]),
        ("Copy", ["y"], ["z"])], ["x"], ["z"])
    for at, body in ((0, 0), (1, 1), (3, 1), (4, 0), (5, 0)):
        made["nodes"][at].update(domain="tirc", attrs={"body": body})
    made["nodes"][4]["attrs"].update({"loop": 1, "states": 1, "trips": 3},
                                     **attrs)
    if first != "s":
        del made["nodes"][0], made["tensors"]["s"]
    return made


tirc("compile", write("loop.json", loop("s")), "-o",
     os.path.join(FOLDER, "loop"), "--force")
refused(write("loop.json", loop("c")), "a first state is not a Copy",
        verbs=("compile",))
bodiless = loop("s")
del bodiless["nodes"][4]["attrs"]["body"]
refused(write("loop.json", bodiless), "it names no body",
        verbs=("compile",))

# A match has the facts of its pattern: others would replace tirc's own values.
facts = partition("--byoc", "cblas")
facts["regions"][0]["matches"][0].setdefault("facts", {})["rows"] = 777777
refused(write("facts.json", facts), "has no fact of this name",
        verbs=("compile",))


# Nor do they change what the pattern says: a factor of the product is 1.
path = os.path.join(FOLDER, "product.onnx")
with open(path, "wb") as file:
    file.write(simple([node("MatMul", ["x", "w"], ["y"])],
                      [tensor("w", [3, 2], floats(*range(6)))], out=(2, 2)))
product = os.path.join(FOLDER, "product.json")
tirc("partition", path, "-o", product, "--byoc", "cblas")
product = json.loads(read(product))
kept = product["regions"][0]["matches"][0]["facts"]
for name, value in (("alpha", 2), ("alpha", [1, 2]), ("alpha", "1"),
                    ("beta", 7), ("alpha", {"float": "nan"})):
    bad = json.loads(json.dumps(product))
    bad["regions"][0]["matches"][0]["facts"] = dict(kept, **{name: value})
    refused(write("product_bad.json", bad), "the fact contradicts the nodes",
            verbs=("compile",))

# -- programs: what they call outside of themselves is said --
PROGRAM = """from tvm.script import tir as T

@T.prim_func
def f(A: T.Buffer((4,), "int8")):
    T.evaluate(T.call_extern("int32", "system", T.address_of(A[0])))
"""
with open(os.path.join(FOLDER, "calls.py"), "w", encoding="utf-8") as file:
    file.write(PROGRAM)
said = tirc("codegen", os.path.join(FOLDER, "calls.py"), "--target", "c99", "-o",
            os.path.join(FOLDER, "calls"))
if "calls the function 'system'" not in said.stderr:
    fail("an external function is not named:\n" + said.stderr)

# So is a call of a program that is given for a model's kernel; a schedule brings
# no call with it, and the profile's own is none of a program.
kernel = tirc("lower", "--from-onnx", DIGITS, "--kernel", "conv2",
              "--unscheduled").stdout
kernel = re.sub(r"(\by\[.*\]) = T\.max\((.*), T\.float32\(0\)\)",
                r'\1 = T.call_extern("float32", "system", \2)', kernel)
for end, text, status, message in (
        (".tvm.py", kernel, 0, "conv2: the source calls the function 'system'"),
        (".py", "from tvm import tir\nsch.split(sch.get_loops('conv')[1], "
         "[None, tir.max(tir.call_extern('int32', 'system'), 1)])\n", 1,
         "factors calls a function")):
    path = os.path.join(FOLDER, "conv2" + end)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    said = tirc("compile", DIGITS, "--schedule-for", "conv2=" + path, "--force",
                "-o", os.path.join(FOLDER, "conv2"), status=status)
    if message not in said.stderr:
        fail("no %r in:\n%s" % (message, said.stderr))
for verb in "run", "test":
    refused(DIGITS, "it calls the function 'system', which only this file",
            "--target", "c99", "--schedule-for",
            "conv2=" + os.path.join(FOLDER, "conv2.tvm.py"), verbs=(verb,))
# Nor does a kernel's program leave its arrays, as no program does.
kernel = re.sub(r"y\[.*\] = .*", "y[v_n_2, v_c, v_h + 1, v_w] = T.float32(0)",
                kernel)
path = os.path.join(FOLDER, "outside.py")
with open(path, "w", encoding="utf-8") as file:
    file.write(kernel)
refused(DIGITS, "y has 4 elements in dimension 1", "--target", "c99",
        "--schedule-for", "conv2=" + path)
# An access that is not certain to be inside is not run.
with open(path, "w", encoding="utf-8") as file:
    file.write(kernel.replace("v_h + 1, v_w]", 'T.Cast("int32", y[v_n_2, v_c, '
                              "v_h, v_w]), v_w]"))
refused(DIGITS, "of dimension 1 of 'y' is inside depends on data and is not "
        "proven; clamp it", "--target", "c99", "--schedule-for",
        "conv2=" + path, verbs=("run", "test"))
# Nor is an instruction by its name, whose address nothing proves.
with open(path, "w", encoding="utf-8") as file:
    file.write(re.sub(r"\n( +)y\[v_n_2, v_c, v_h \+ 1, v_w\]",
                      r"\n\1T.ptx.st.global_.f32(T.Cast('int64', y[v_n_2, v_c, v_h, "
                      r"v_w]), T.float32(0))\n\1y[v_n_2, v_c, v_h, v_w]", kernel))
refused(DIGITS, "it has an instruction by its name", "--target", "c99",
        "--schedule-for", "conv2=" + path, verbs=("run", "test"))
said = tirc("run", DIGITS, "--profile", "--target", "c99")
if "calls the function" in said.stderr:
    fail("tirc's own call is told of:\n" + said.stderr)

# -- notes: tirc's own keys with values of other kinds are no texts --
NOTES = """from tvm.script import tir as T

@T.prim_func
def f(A: T.Buffer((9,), "float32"), B: T.Buffer((9,), "float32")):
    T.func_attr({"copies": 12345, "packed": 12345, "calling_conv": "x"})
    for i in T.serial(9, annotations={
            "comment": 12345, "comment_node": 1.5, "sum_terms": "x",
            "read_before": [1], "prefetch": "x", "overlap": "x",
            "partition": 1, "pragma_loop_partition_hint": "x"}):
        if i < 8:
            B[i] = A[i]
"""
path = os.path.join(FOLDER, "notes.py")
with open(path, "w", encoding="utf-8") as file:
    file.write(NOTES)
tirc("test", path, "--target", "c99")
tirc("lower", path, "--phase", "3")

# -- schedules: they keep a kernel in its arrays, and a promise is told --
def scheduled(text, status=0):
    path = os.path.join(FOLDER, "conv2.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return tirc("compile", DIGITS, "--target", "c99-scalar", "--schedule-for",
                "conv2=" + path, "--force", "-o",
                os.path.join(FOLDER, "conv2"), status=status).stderr


LOOPS = "loops = sch.get_loops(sch.get_block('conv'))\n"
for text, message in (
        (LOOPS + "sch.split(loops[1], [None, 5], disable_predication=True)\n",
         "the factors must give exactly the iterations"),
        ("sch.transform_block_layout('conv', lambda n, o, h, w, c, i, j: "
         "(n, o * 1000000007, h, w, c, i, j))\n",
         "has more values than its type"),
        ("sch.cache_read('conv', 0, 'global')\n"
         "sch.transform_layout('conv', ('read', 0), lambda n, c, h, w: "
         "(n, c * 16777216, h * 16777216, w))\n",
         "x_global would have more than 2^48 bytes")):
    said = scheduled(text, 1)
    if message not in said:
        fail("no %r in:\n%s" % (message, said))
said = scheduled("copy = sch.cache_read('conv', 0, 'global')\n"
                 "sch.unsafe_set_dtype(copy, 0, 'float16')\n")
if "note: conv2: step 3, unsafe_set_dtype: " not in said or \
        "a promise of the schedule" not in said:
    fail("the promise is not told:\n" + said)

# Few bytes that ask for gigabytes of inputs end before any array is made.
path = os.path.join(FOLDER, "large.onnx")
with open(path, "wb") as file:
    file.write(model(proto.graph(
        [node("MatMul", ["a", "b"], ["y"])],
        [value_info("a", [1 << 20, 1 << 10]),
         value_info("b", [1 << 10, 1 << 10])],
        [value_info("y", [1 << 20, 1 << 10])])))
for verb in (["run"], ["tune", "--target", "native", "--trials", "2", "-o",
                       os.path.join(FOLDER, "r.jsonl")]):
    done = tirc(*verb, path, status=1)
    if "the arrays of all inputs and outputs would take" not in done.stderr:
        fail("%s of large inputs: %s" % (verb[0], done.stderr))
