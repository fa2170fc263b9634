#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sequences and optionals as inputs and outputs of a model: an input or output
of the emitted function for each element, each with sizes of its own; and sizes
whose bound the declared shape of an output is."""
import os

import helper

try:
    import numpy as np
    import onnx
    from onnx import TensorProto
    from onnx import helper as make
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

rng = np.random.default_rng(4)


def floats(*shape):
    return rng.integers(-8, 9, shape).astype(np.float32) / 4


def sequence(name, shape=None):
    return make.make_tensor_sequence_value_info(name, TensorProto.FLOAT, shape)


def tensor(name, shape, kind=TensorProto.FLOAT):
    return make.make_tensor_value_info(name, kind, shape)


def save(nodes, inputs, outputs):
    graph = make.make_graph(nodes, "g", inputs, outputs)
    path = os.path.join(helper.work_folder(), "model.onnx")
    onnx.save(make.make_model(graph, ir_version=9, opset_imports=[
        make.make_opsetid("", 21)]), path)
    return path


def holds(path, inputs, outputs, *options):
    write_data(os.path.dirname(path), inputs, outputs,
               len(os.listdir(os.path.dirname(path))) - 1)
    for target in ("c99", "gnu-c", "misra"):
        helper.tirc("test", path, "--target", target, *options)


def refused(path, words, *options):
    said = helper.tirc("compile", path, "-o", helper.work_folder() + "/out",
                       *options, status=1).stderr
    if words not in said or len(said.splitlines()) != 1:
        helper.fail("%r is not in the message\n%s" % (words, said))


# Rows of three tensors of different lengths, and each tensor doubled.
twice = make.make_graph(
    [make.make_node("Add", ["e", "e"], ["d"])], "body",
    [tensor("e", ["n", 4])], [tensor("d", ["n", 4])])
rows = save([make.make_node("ConcatFromSequence", ["x"], ["y"], axis=0),
             make.make_node("SequenceMap", ["x"], ["z"], body=twice),
             make.make_node("SequenceLength", ["x"], ["count"])],
            [sequence("x", ["n", 4])],
            [tensor("y", None), sequence("z", ["n", 4]),
             tensor("count", [], TensorProto.INT64)])
parts = [floats(2, 4), floats(1, 4), floats(3, 4)]
answers = [np.concatenate(parts), *(part * 2 for part in parts),
           np.array(3, np.int64)]
holds(rows, parts, answers, "--sequence", "x=3", "--dim", "n_0=2", "--dim",
      "n_1=1", "--input-shape", "x_2:3,4")
bounds = ["--sequence", "x=3", "--dim", "n_0=1..5", "--dim", "n_1=1..5",
          "--dim", "n_2=3"]
for target in ("c99", "misra"):
    helper.tirc("test", rows, "--target", target, *bounds)
out = helper.compile_model(rows, *bounds)
header = helper.contents(out)["g.h"].decode()
for name in ("x_0", "x_1", "x_2", "z_0", "z_1", "z_2"):
    if name not in header:
        helper.fail("the header has no %s:\n%s" % (name, header))
refused(rows, "--sequence x=N")
refused(rows, "these sizes: 'n_1'", "--sequence", "x=2", "--dim", "n_0=2")
refused(rows, "no input 'w'", "--sequence", "x=1", "--dim", "n_0=2",
        "--sequence", "w=2")
refused(rows, "is not optional", "--sequence", "x=none")
refused(rows, "NAME=N or NAME=none", "--sequence", "x=-1")

# A sequence passed on, beside a tensor; a node has the name of an element.
passed = save([make.make_node("Identity", ["x"], ["s"]),
               make.make_node("Neg", ["t"], ["x_0"]),
               make.make_node("SequenceInsert", ["s", "x_0"], ["u"])],
              [sequence("x", [2]), tensor("t", [3])],
              [sequence("u")])
a, b, t = floats(2), floats(2), floats(3)
holds(passed, [a, b, t], [a, b, -t], "--sequence", "x=2")
holds(save([make.make_node("SequenceInsert", ["x", "t"], ["u"])],
           [sequence("x", [2]), tensor("t", [3])], [sequence("u")]),
      [t], [t], "--sequence", "x=0")
refused(save([make.make_node("SequenceAt", ["x", "k"], ["u"])],
             [sequence("x", [2]), tensor("k", [], TensorProto.INT64)],
             [tensor("u", [2])]), "depends on data", "--sequence", "x=2")

# Elements inserted and erased anywhere.
rows = floats(40, 2)
nodes = [make.make_node("SplitToSequence", ["x"], ["s0"], axis=0, keepdims=0)]
expected = list(rows)
for i in range(60):
    erased = rng.integers(3) == 0
    at = int(rng.integers(len(expected) + (not erased)))
    row = int(rng.integers(40))
    nodes += [
        make.make_node("Constant", [], ["at%d" % i], value_int=at),
        make.make_node("SequenceErase", ["s%d" % i, "at%d" % i],
                       ["s%d" % (i + 1)]) if erased else
        make.make_node("SequenceInsert", ["s%d" % i, "r%d" % row, "at%d" % i],
                       ["s%d" % (i + 1)])]
    if erased:
        del expected[at]
    else:
        expected.insert(at, rows[row])
for row in range(40):
    nodes[1:1] = [
        make.make_node("Constant", [], ["k%d" % row], value_int=row),
        make.make_node("SequenceAt", ["s0", "k%d" % row], ["r%d" % row])]
holds(save(nodes + [make.make_node("ConcatFromSequence", ["s60"], ["y"],
                                   axis=0, new_axis=1)],
           [tensor("x", [40, 2])], [tensor("y", [len(expected), 2])]),
      [rows], [np.stack(expected)])

# Optionals: of a sequence, of a tensor, and empty.
kind = make.make_optional_type_proto(
    make.make_tensor_type_proto(TensorProto.FLOAT, [3]))
given = make.make_graph([make.make_node("OptionalGetElement", ["o"], ["v"])],
                        "given", [], [tensor("v", [3])])
absent = make.make_graph([make.make_node("Abs", ["t"], ["w"])], "absent", [],
                         [tensor("w", [3])])
either = save([make.make_node("OptionalHasElement", ["o"], ["h"]),
               make.make_node("If", ["h"], ["y"], then_branch=given,
                              else_branch=absent)],
              [make.make_value_info("o", kind), tensor("t", [3])],
              [tensor("y", [3])])
o = floats(3)
holds(either, [o, t], [o])
other = os.path.join(helper.work_folder(), "model.onnx")
os.link(either, other)
holds(other, [t], [abs(t)], "--sequence", "o=none")
refused(either, "is not a sequence", "--sequence", "o=2")
refused(either, "is not optional", "--sequence", "t=none")

# The declared shape bounds what the model is given.
wide = save([make.make_node("Expand", ["x", "s"], ["y"])],
            [tensor("x", [3, 1]), tensor("s", [2], TensorProto.INT64)],
            [tensor("y", [3, 5])])
x = floats(3, 1)
for size in ([3, 5], [1, 5]):
    holds(wide, [x, np.array(size, np.int64)], [np.broadcast_to(x, (3, 5))])
folded = save([make.make_node("Reshape", ["x", "s"], ["y"])],
              [tensor("x", [3, 4]), tensor("s", [2], TensorProto.INT64)],
              [tensor("y", [2, 6])])
x = floats(3, 4)
holds(folded, [x, np.array([2, 6], np.int64)], [x.reshape(2, 6)])
said = helper.tirc("compile", folded, "-o", helper.work_folder()).stdout
if "the sizes in 's' are at most those of the declared shape of 'y'" \
        not in said:
    helper.fail("tirc does not name its assumption: " + said)
refused(save([make.make_node("Expand", ["x", "s"], ["y"])],
             [tensor("x", [3, 1]), tensor("s", [2], TensorProto.INT64)],
             [tensor("y", [3, None])]), "--bound s=N")
print("all hold")
