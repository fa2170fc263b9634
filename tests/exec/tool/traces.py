#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`compile --trace`: the source shows each tensor, after the kernel that wrote it,
with its name in the model and its sizes in the run: where tensors are stored over
others, have blocks of channels and halos, are parts of a concatenation, in loops, of
symbolic sizes, as states, in several threads. `compare` finds such traces equal. An
option that is not given changes nothing; devices and graphs are refused. `verify`
reads the option from the folder."""
import os
import re

from helper import (DIGITS, STRICT, compile_model, compilers, contents, fail,
                    has_dialect, shared, tirc, work_folder)
from proto import (BOOL, INT64, floats, graph, ints, model, nested_graph, node,
                   tensor, value_info)
from traced import EXAMPLE, trace_of, write_main

CC = [compilers()[0], "-std=c99", "-DTIRC_ANY_PROCESSOR"]
TARGETS = [target for target, dialect in (
    ("c99", "c99"), ("c99-scalar", "c99"), ("misra", "misra"),
    ("gnu-c", "gnu-c"), ("c-threads", "c-threads")) if has_dialect(dialect)]
folder = work_folder()
ITERATIONS = 50
ODD = "d/e- %??/\u00e9"


def save(name, body):
    path = os.path.join(folder, name + ".onnx")
    with open(path, "wb") as file:
        file.write(model(body))
    return path


def weights(name, dims, count, scale=16):
    return tensor(name, dims, floats(*(
        (i * 5 % 23 - 11) / scale for i in range(count))))


def sized():
    """Rows of a symbolic number; a concatenation, and results over others."""
    body = graph(
        [node("MatMul", ["x", "w"], ["a"], "mul"),
         node("Softmax", ["a"], ["b"], "soft"),
         node("Concat", ["a", "b"], ["c"], "join", axis=0),
         node("Softmax", ["c"], [ODD], "again"),
         node("ReduceSum", [ODD, "one"], ["s"], "sum"),
         node("Sub", [ODD, "s"], ["y"], "out")],
        [value_info("x", ["n", 6])], [value_info("y", ["m", 8])],
        [weights("w", [6, 8], 48), tensor("one", [1], ints(1), INT64)],
        "sized")
    return save("sized", body)


def looped():
    """A Loop, too long to be unrolled, whose iterations give rows."""
    body = graph(
        [node("MatMul", ["v", "w"], ["p"], "step"),
         node("Softmax", ["p"], ["q"], "norm"),
         node("Identity", ["go"], ["go_on"])],
        [value_info("i", [], INT64), value_info("go", [], BOOL),
         value_info("v", [1, 4])],
        [value_info("go_on", [], BOOL), value_info("q", [1, 4]),
         value_info("p", [1, 4])], name="body")
    outer = graph(
        [node("Loop", ["count", "true", "x"], ["last", "rows"], "loop",
              attributes=[nested_graph("body", body)])],
        [value_info("x", [1, 4])],
        [value_info("last", [1, 4]), value_info("rows", [ITERATIONS, 1, 4])],
        [weights("w", [4, 4], 16), tensor("count", [], ints(ITERATIONS), INT64),
         tensor("true", [], b"\1", BOOL)], "looped")
    return save("looped", outer)


def stateful():
    body = graph(
        [node("Add", ["x", "h"], ["sum"], "add"),
         node("MatMul", ["sum", "w"], ["a"], "mul"),
         node("Tanh", ["a"], ["h_next"], "tanh"),
         node("Softmax", ["h_next"], ["y"], "soft")],
        [value_info("x", [1, 4]), value_info("h", [1, 4])],
        [value_info("y", [1, 4]), value_info("h_next", [1, 4])],
        [weights("w", [4, 4], 16)], "stateful")
    return save("stateful", body)


def images():
    """Convolutions of 16 channels, which get blocks and halos."""
    nodes, initializers, x, channels = [], [], "x", 3
    for i in range(3):
        w = "w%d" % i
        initializers.append(weights(w, [16, channels, 3, 3],
                                    16 * channels * 9, 128))
        nodes.append(node("Conv", [x, w], ["c%d" % i], "conv%d" % i,
                          pads=[1, 1, 1, 1]))
        nodes.append(node("Relu", ["c%d" % i], ["r%d" % i], "relu%d" % i))
        x, channels = "r%d" % i, 16
    nodes.append(node("GlobalAveragePool", [x], ["y"], "pool"))
    return save("images", graph(nodes, [value_info("x", [1, 3, 7, 7])],
                                [value_info("y", [1, 16, 1, 1])],
                                initializers, "images"))


def headers_of(trace):
    with open(trace, encoding="ascii") as file:
        return [line.split() for line in file if line.startswith("tensor ")]


def check(path, target, *options, sizes=None, runs=1, raw=False):
    """Traces the model as the target has it; its source has no warning, and the
    trace is that of the interpreter. Gives the trace."""
    out = compile_model(path, "--target", target, "--trace", *options)
    main = write_main(out, sizes, runs, raw)
    trace = trace_of(CC, out, main, *([] if target in ("gnu-c",
                                                                  "c-threads")
                                      else STRICT + ["-Wno-double-promotion"]))
    return trace, out


def equal(trace, path, target, *options):
    said = tirc("compare", trace, path, "--target", target, *options).stdout
    if not said.endswith("\nequal\n"):
        fail("%s for %s:\n%s" % (path, target, said))
    return said


def run_sized(target):
    trace, _ = check(sized(), target, "--dim", "n=1..5", sizes={"n": 3},
                     runs=2, raw=True)
    said = equal(trace, sized(), target, "--dim", "n=1..5")
    if "run 2" not in said:
        fail("the second run is not compared:\n" + said)
    with open(trace, "rb") as file:
        text = file.read()
    if not re.search(rb"^tensor \S+ d/e-%20%25%3f%3f/%c3%a9 float32 2 6 8 192 raw$",
                     text, re.M):
        fail("no tensor %s of 6 rows, for n = 3, with %s" % (ODD, target))
    first = re.search(rb"^tensor \S+ (\S+) float32 2 3 8 96 raw$", text, re.M)
    if first is None or first[1] != b"a":
        fail("no tensor a of 3 rows with " + target)


def run_looped(target):
    trace, _ = check(looped(), target)
    rows = [line[4:] for line in headers_of(trace)
            if line[2] in ("loop/p", "loop/q")]
    if rows != [["2", "1", "4", "16", "hex"]] * 2 * ITERATIONS:
        fail("%s: what iterations wrote: %s" % (target, rows))
    done = tirc("compare", trace, looped(), "--target", target, status=2)
    if "give a second trace" not in done.stderr:
        fail("a loop against the interpreter: " + done.stderr)
    if tirc("compare", trace, trace).stdout.count("equal") != 2:
        fail("a trace differs from itself")


def run_stateful(target):
    state = ["--state", "h_next=h"]
    trace, _ = check(stateful(), target, *state, runs=3)
    equal(trace, stateful(), target, *state)
    if [line[2] for line in headers_of(trace)][:2] != ["x", "h"]:
        fail("the state is not shown before the kernels")


def run_images(target):
    trace, _ = check(images(), target, "--conv", "direct")
    said = equal(trace, images(), target, "--conv", "direct")
    if "not compared" in said:
        fail("all tensors are the model's: " + said)
    if target == "gnu-c":
        ranks = {line[4] for line in headers_of(trace)}
        if "5" not in ranks:
            fail("no tensor has blocks")


def made_by_passes():
    """Tensors that the model does not have, of Winograd's algorithm."""
    trace, _ = check(images(), "c99", "--conv", "winograd")
    said = equal(trace, images(), "c99", "--conv", "winograd")
    if "has no such tensor: conv" not in said:
        fail("tensors of Winograd's algorithm: " + said)


def reference():
    """A deep model, in which Winograd's algorithm rounds more than the model as it
    was read: its rounding is that of the graph after the passes."""
    path = os.path.join(shared() or "", "models", "mlperf_tiny",
                        "resnet8_fp32", "model.onnx")
    if os.path.exists(path):
        trace, _ = check(path, "c99", "--name", "resnet")
        equal(trace, path, "c99")


def refused():
    for target in ("cuda", "opencl"):
        if has_dialect(target):
            done = tirc("compile", DIGITS, "--target", target, "--trace", "-o",
                        os.path.join(folder, target), status=1)
            if "choose a target of C" not in done.stderr or \
                    done.stderr.count("\n") != 1:
                fail(target + ": " + done.stderr)
    done = tirc("compile", DIGITS, "--form", "graph", "--trace", "-o",
                os.path.join(folder, "graph"), status=1)
    if "tirc_graph_watch" not in done.stderr:
        fail("--form graph: " + done.stderr)


def verified():
    out = compile_model(DIGITS, "--target", "c99", "--trace")
    said = tirc("verify", DIGITS, out).stdout
    if not said.endswith("verified\n"):
        fail("a traced folder:\n" + said)
    plain = compile_model(DIGITS, "--target", "c99")
    said = tirc("diff", plain, out, status=1).stdout
    if "! traced: none -> true" not in said:
        fail("diff of a traced folder:\n" + said)
    rest = iter(contents(out)["digits.c"].splitlines())
    if any(line not in rest for line in
           contents(plain)["digits.c"].splitlines()):
        fail("--trace changes lines of the source")
    if any(re.search(rb'trace_context|_traced|"traced"', data)
           for data in contents(plain).values()):
        fail("a source without --trace speaks of it")


def example():
    """The shipped example, as it says."""
    out = compile_model(DIGITS, "--target", "c99", "--trace")
    equal(trace_of(CC, out, EXAMPLE, *STRICT), DIGITS, "c99")


for target in TARGETS:
    run_sized(target)
    run_images(target)
    run_stateful(target)
    run_looped(target)
made_by_passes()
reference()
refused()
verified()
example()
