#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes that a model leaves open: names that are no names, one message for all that
options have to give, which has options to copy, and sizes that options rename."""
import os
import re
import shlex

from helper import fail, tirc, work_folder
from proto import *

FOLDER = work_folder()


def write(body, name="m.onnx"):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(model(body))
    return path


def relu(*shape):
    return write(graph([node("Relu", ["x"], ["y"])], [value_info("x", shape)],
                       [value_info("y", None)]))


def gives(path, output, *options):
    """The summary of the output "float32 [1, 2]"."""
    seen = tirc("compile", path, "-o", work_folder(), *options).stdout
    if not re.search(r"(?m)^output +\w+ +%s$" % re.escape(output), seen):
        fail("%s: no %s in\n%s" % (options, output, seen))
    return seen


def refused(path, *words, options=()):
    seen = tirc("compile", path, "-o", work_folder(), *options,
                status=1).stderr
    for word in words:
        if word not in seen:
            fail("%r is not in\n%s" % (word, seen))
    if len(seen.splitlines()) != 1:
        fail("more than one message:\n" + seen)
    return seen


# Each of these is another size; "unk__3" is a name.
for text in ("?", "", "-1", "None", "unknown", None):
    path = relu(1, 3, text, text)
    gives(path, "float32 [1, 3, 4, 6]", "--input-shape", "x:1,3,4,6")
    gives(path, "float32 [1, 3, 4, 6]", "--dim", "x_2=4", "--dim", "x_3=6")
    refused(path, "'x_2' (dimension 2 of input 'x')",
            "'x_3' (dimension 3 of input 'x')", "--input-shape",
            "for example: --dim x_2=256 --dim x_3=256")
gives(relu(-1, 3), "float32 [1, 3]")
path = relu(1, "unk__3", "unk__3")
gives(path, "float32 [1, 4, 4]", "--dim", "unk__3=4")
refused(path, "'unk__3' is 6", options=["--input-shape", "x:1,4,6"])
# A name that the model has already.
gives(write(graph([node("Concat", ["x", "z"], ["y"], axis=0)],
                  [value_info("x", (2, "?")), value_info("z", (3, "x_1"))],
                  [value_info("y", None)])),
      "float32 [5, 4]", "--dim", "x_1=4", "--dim", "x_1_=4")

# Numbers, names and what the model says, in one shape.
path = relu("batch", 3, "height", "?")
for options in (["--input-shape", "x:2,3,?,w", "--dim", "height=1..8",
                 "--dim", "w=2..9"],
                ["--input-shape", "x:?,3,height,w", "--dim", "batch=2",
                 "--dim", "height=1..8", "--dim", "w=2..9"]):
    gives(path, "float32 [2, 3, height, w]", *options)
gives(path, "float32 [2, 3, w * 2, w]", "--input-shape", "x:2,?,2*w,w",
      "--dim", "w=2..9")
gives(path, "float32 [1, c, 4, 4]", "--input-shape", "x:1,c,4,4", "--dim",
      "c=1..4")

# A size of the model gets another name; two get one name.
path = write(graph([node("Add", ["x", "z"], ["y"])],
                   [value_info("x", (1, "dyn_0")), value_info("z", (1, "dyn_1"))],
                   [value_info("y", None)]))
for pair in (["len=dyn_0", "len=dyn_1"], ["dyn_0=len", "dyn_1=len"],
             ["dyn_0=len", "len=dyn_1"]):
    gives(path, "float32 [1, len]", "--dim", pair[0], "--dim", "len=1..8",
          "--dim", pair[1])
gives(path, "float32 [1, dyn_1]", "--dim", "dyn_0=dyn_1", "--dim",
      "dyn_1=1..8")
refused(path, "no size named 'len'", options=["--dim", "len=other"])
refused(path, "'len'", "for example: --dim len=1..256  or  --dim len=256",
        options=["--dim", "len=dyn_0", "--dim", "len=dyn_1"])

# All that is missing, also bounds, which are found one after the other; the
# options of the message are those that the model needs.
path = write(graph(
    [node("Range", ["zero", "count one", "step"], ["a"], "first"),
     node("Range", ["zero", "n2", "step"], ["b"], "second"),
     node("Loop", ["", "go", "x"], ["t", "c"], "third", attributes=[
         nested_graph("body", graph(
             [node("Identity", ["s"], ["s2"]), node("Identity", ["s"], ["o"]),
              node("ReduceMax", ["s"], ["m"], keepdims=0),
              node("Greater", ["m", "limit"], ["g2"])],
             [value_info("i", [], INT64), value_info("g", [], 9),
              value_info("s", (2, "n"))],
             [value_info("g2", [], 9), value_info("s2", (2, "n")),
              value_info("o", (2, "n"))], [tensor("limit", [], floats(1))]))])],
    [value_info("x", (2, "n")), value_info("count one", [], INT64),
     value_info("n2", [], INT64), value_info("go", [], 9)],
    [value_info("a", None, INT64), value_info("b", None, INT64),
     value_info("c", None), value_info("t", None)],
    [tensor("zero", [], ints(0), INT64), tensor("step", [], ints(1), INT64)]))
seen = refused(path, "these sizes: 'n';", "--const-input",
               "'count one' (node 0 Range 'first')",
               "'n2' (node 1 Range 'second')", "'c' (node 2 Loop 'third')")
options = shlex.split(seen.split("for example:")[1])
if options != ["--dim", "n=256", "--bound", "count one=256", "--bound",
               "n2=256", "--bound", "c=256"]:
    fail("the options are %s" % options)
tirc("compile", path, "-o", work_folder(), *options)
refused(path, "node 1 Range 'second': ", "'n2'", "--bound n2=N",
        options=options[:4] + options[6:])

# Inputs without any shape; other mistakes of the model are told, too.
path = write(graph([node("Add", ["x", "z"], ["y"])],
                   [value_info("x", None), value_info("z", (1, "?"))],
                   [value_info("y", None)]))
refused(path, "'x'", "'z_1'", "--input-shape x:1,256", "--dim z_1=256")
path = write(graph([node("Mystery", ["x"], ["y"])], [value_info("x", (1, "?"))],
                   [value_info("y", None)]))
seen = tirc("compile", path, "-o", work_folder(), status=1).stderr
if "Mystery" not in seen or "--dim x_1=256" not in seen:
    fail(seen)
