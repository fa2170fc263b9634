#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No operator does far more work than it needs: how often the stores of the
emitted loops run, for each row of ops.def (a third by turns) at a size as in models,
beside the elements that it reads and writes and the products that it sums. A loop
with a store counts the elements that it goes over, whatever the conditions inside
say."""
import os
import re
import sys

import helper
import turns

sys.path.insert(0, os.path.join(helper.ROOT, "tests", "graphs"))
try:
    import numpy as np
    import onnx
    from onnx import TensorProto as T, helper as oh, numpy_helper

    import rules
    from large import B, F, I, ROW, U8, case, floats
except ImportError as missing:
    helper.skip(str(missing))

PARTS = 3  # of the operators, of which a run takes one
MOST = 6  # executions for each element or product that is needed
TABLE = os.path.join(helper.ROOT, "passes", "ops", "core", "ops.def")

# Rows MAP that are not of one float tensor, by the inputs that they take.
MAPS = {
    "Not": [(B, [64, 512])], "BitwiseNot": [(I, [64, 512])],
    "CastLike": [ROW, (I, [1])], "Clip": [ROW, floats(), floats()],
    "PRelu": [ROW, (F, [512])], "Where": [(B, [64, 1]), ROW, ROW],
    "BitShift": [(U8, [64, 512]), (U8, [64, 512])],
}
for name in ("And", "Or", "Xor"):
    MAPS[name] = [(B, [64, 512]), (B, [512])]
for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    MAPS[name] = [(I, [64, 512]), (I, [512])]
for name in ("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Equal", "Greater",
             "GreaterOrEqual", "Less", "LessOrEqual"):
    MAPS[name] = [ROW, (F, [512])]
for name in ("Min", "Max", "Sum", "Mean"):
    MAPS[name] = [ROW, ROW, (F, [512])]
MAP_ATTRIBUTES = {"Cast": {"to": T.INT32}, "BitCast": {"to": T.INT32},
                  "BitShift": {"direction": "LEFT"}, "Mod": {"fmod": 1}}
# Operators of newer opsets than 21.
VERSIONS = {"BitCast": 26, "CumProd": 26, "RMSNormalization": 24, "Swish": 24,
            "TensorScatter": 24}


def rows():
    """(is MAP, name) of the operators of ONNX in the table."""
    with open(TABLE, encoding="utf-8") as file:
        text = file.read().split("*/", 2)[2]
    for kind, row, domain in re.findall(
            r'^(MAP|OP)\((\w+)(?:, "(\w*)")?', text, re.M):
        if not domain:
            yield kind == "MAP", row


def write(path, name, inputs, outputs, attributes):
    nodes, given, constants = [], [], []
    for i, value in enumerate(inputs):
        if isinstance(value, str):
            nodes.append("")
            continue
        nodes.append("in%d" % i)
        if isinstance(value, tuple):
            given.append(oh.make_tensor_value_info(nodes[-1], *value))
        else:
            constants.append(numpy_helper.from_array(np.asarray(value),
                                                     nodes[-1]))
    results = [oh.make_empty_tensor_value_info("out%d" % k)
               for k in range(outputs)]
    node = oh.make_node(name, nodes, [r.name for r in results], **attributes)
    graph = oh.make_graph([node], name, given, results, constants)
    model = oh.make_model(graph, opset_imports=[oh.make_opsetid(
        "", VERSIONS.get(name, 21))])
    model.ir_version = 10
    onnx.save(model, path)


def executions(arguments, grid):
    """How often a loop runs: over an end, a begin and an end, of which the end
    may be the begin and a number, or over the ends of a grid."""
    block = re.fullmatch(r"(.*\D.*), \1 \+ (\d+)", arguments)
    if block:
        return int(block[2])
    sizes = [int(n) for n in re.findall(r"-?\d+", arguments)]
    if len(sizes) == 2 and not grid:
        return sizes[1] - sizes[0]
    return int(np.prod(sizes))


def count(text):
    """Executions of stores in functions as text, by loops around them."""
    total, loops = 0, []
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        while loops and loops[-1][0] >= depth:
            loops.pop()
        found = re.match(r"for .* in (?:range|T\.\w+)\((.*?)\):$",
                         line.strip())
        if found:
            loops.append((depth, executions(
                found.group(1).split(", annotations")[0],
                " in T.grid" in line)))
        elif re.match(r"\w+\[.*\] = ", line.strip()):
            total += int(np.prod([times for _, times in loops] or [1]))
    return total


def elements(inputs, text):
    """Of the inputs, and of the arrays that the functions take."""
    needed = sum(int(np.prod(value[1])) for value in inputs
                 if isinstance(value, tuple))
    for shape in re.findall(r"T\.Buffer\(\(([\d, ]*)\)", text):
        needed += int(np.prod([int(n) for n in re.findall(r"\d+", shape)]))
    return needed


def main():
    folder = helper.work_folder()
    offenders, seen = [], 0
    for is_map, name in rows():
        if is_map:
            inputs, products, outputs, attributes = case(
                MAPS.get(name, [ROW]), **MAP_ATTRIBUTES.get(name, {}))
        elif name in rules.LARGE:
            inputs, products, outputs, attributes = rules.LARGE[name]
        else:
            helper.fail("no case for %s of ops.def; add one to LARGE beside "
                        "its rule in tests/graphs" % name)
        if not turns.is_turn_of(name, PARTS):
            continue
        path = os.path.join(folder, name + ".onnx")
        write(path, name, inputs, outputs, attributes)
        done = helper.tirc("compile", path, "-q", "--target", "c99",
                           "--conv", "direct", "--print-phase", "3", "-o",
                           os.path.join(folder, "out"))
        text = done.stdout + done.stderr
        work, needed = count(text), elements(inputs, text) + products
        seen += work > 0
        if work > MOST * needed:
            offenders.append("%s: %d executions of stores for %d elements "
                             "and products" % (name, work, needed))
    if seen < 20:
        helper.fail("only %d operators have loops" % seen)
    if offenders:
        helper.fail("\n".join(offenders))


if __name__ == "__main__":
    sys.exit(main())
