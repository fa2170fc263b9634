#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No operator does far more work than it needs: how often the stores of the
emitted loops run, for each row of ops.def at a size as in models, beside the
elements that it reads and writes and the products that it sums. A loop with a
store counts the elements that it goes over, whatever the conditions inside say."""
import os
import re
import sys

import helper

try:
    import numpy as np
    import onnx
    from onnx import TensorProto as T, helper as oh, numpy_helper
except ImportError as missing:
    helper.skip(str(missing))

MOST = 6  # executions for each element or product that is needed
TABLE = os.path.join(helper.ROOT, "passes", "ops", "ops.def")
F, I, B, U8, I8 = T.FLOAT, T.INT64, T.BOOL, T.UINT8, T.INT8
ROW = (F, [64, 512])
IMAGE = (F, [1, 16, 40, 40])
CONST = np.array


def ints(*values):
    return np.array(values, np.int64)


def floats(*shape):
    return np.full(shape, 0.5, np.float32)


def case(inputs, products=0, outputs=1, **attributes):
    return inputs, products, outputs, attributes


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
MAP_ATTRIBUTES = {"Cast": {"to": T.INT32}, "BitShift": {"direction": "LEFT"},
                  "Mod": {"fmod": 1}}

CONV = 16 * 40 * 40 * 16 * 9
CASES = {
    "Dropout": case([ROW]),
    "Shape": case([ROW]), "Size": case([ROW]),
    "Reshape": case([ROW, ints(512, 64)]), "Flatten": case([IMAGE]),
    "Squeeze": case([IMAGE, ints(0)]), "Unsqueeze": case([ROW, ints(0)]),
    "ConstantOfShape": case([ints(64, 512)]),
    "Range": case([floats(), np.float32(2000), np.float32(1)]),
    "EyeLike": case([(F, [256, 256])]),
    "Expand": case([(F, [64, 1]), ints(64, 512)]),
    "Tile": case([ROW, ints(2, 3)]),
    "Transpose": case([IMAGE], perm=[0, 2, 3, 1]),
    "Concat": case([ROW, ROW, ROW], axis=1),
    "Split": case([ROW], outputs=4, axis=1, num_outputs=4),
    "DepthToSpace": case([IMAGE], blocksize=2),
    "SpaceToDepth": case([IMAGE], blocksize=2),
    "Slice": case([ROW, ints(3), ints(400), ints(1), ints(2)]),
    "Pad": case([IMAGE, ints(0, 0, 1, 1, 0, 0, 2, 2)]),
    "Trilu": case([(F, [256, 256])]),
    "CumSum": case([ROW, CONST(1)]), "CumProd": case([ROW, CONST(0)]),
    "OneHot": case([(I, [64]), CONST(512), floats(2)]),
    "ReverseSequence": case([(F, [64, 32, 8]), (I, [32])]),
    "Gather": case([ROW, (I, [200])]),
    "GatherElements": case([ROW, (I, [64, 512])], axis=1),
    "GatherND": case([ROW, (I, [300, 1])]),
    "ScatterElements": case([ROW, (I, [60, 500]), (F, [60, 500])], axis=1,
                            reduction="add"),
    "ScatterND": case([ROW, (I, [60, 500, 2]), (F, [60, 500])]),
    "Resize": case([IMAGE, "", floats(4) * CONST([2, 2, 4, 4], np.float32)],
                   products=4 * 16 * 80 * 80, mode="linear"),
    "Softmax": case([ROW]), "LogSoftmax": case([ROW]), "Hardmax": case([ROW]),
    "MatMul": case([(F, [64, 128]), (F, [128, 96])], products=64 * 128 * 96),
    "MatMulInteger": case([(U8, [64, 128]), (I8, [128, 96])],
                          products=64 * 128 * 96),
    "Gemm": case([(F, [64, 128]), (F, [128, 96]), (F, [96])],
                 products=64 * 128 * 96),
    "Einsum": case([(F, [4, 64, 32]), (F, [4, 32, 48])],
                   products=4 * 64 * 32 * 48, equation="bij,bjk->bik"),
    "Conv": case([IMAGE, (F, [16, 16, 3, 3])], products=CONV,
                 pads=[1, 1, 1, 1]),
    "ConvTranspose": case([IMAGE, (F, [16, 16, 4, 4])],
                          products=16 * 1600 * 16 * 16, strides=[2, 2]),
    "MaxPool": case([IMAGE], products=16 * 1600 * 9, kernel_shape=[3, 3]),
    "AveragePool": case([IMAGE], products=16 * 1600 * 9, kernel_shape=[3, 3]),
    "LpPool": case([IMAGE], products=16 * 1600 * 9, kernel_shape=[3, 3]),
    "GlobalMaxPool": case([IMAGE]), "GlobalAveragePool": case([IMAGE]),
    "GlobalLpPool": case([IMAGE]),
    "MaxUnpool": case([(F, [1, 16, 20, 20]), (I, [1, 16, 20, 20])],
                      kernel_shape=[2, 2], strides=[2, 2]),
    "BatchNormalization": case([IMAGE] + [floats(16)] * 4),
    "InstanceNormalization": case([IMAGE, (F, [16]), (F, [16])]),
    "GroupNormalization": case([IMAGE, (F, [16]), (F, [16])], num_groups=4),
    "LayerNormalization": case([ROW, (F, [512]), (F, [512])]),
    "RMSNormalization": case([ROW, (F, [512])]),
    "MeanVarianceNormalization": case([IMAGE]),
    "LRN": case([IMAGE], products=16 * 1600 * 5, size=5),
    "LpNormalization": case([ROW]),
    "ConvInteger": case([(U8, [1, 16, 40, 40]), (I8, [16, 16, 3, 3])],
                        products=CONV, pads=[1, 1, 1, 1]),
    "QLinearConv": case(
        [(U8, [1, 16, 40, 40]), floats(), CONST(3, np.uint8),
         np.ones((16, 16, 3, 3), np.int8), floats(), CONST(0, np.int8),
         floats(), CONST(5, np.uint8)], products=CONV, pads=[1, 1, 1, 1]),
    "QLinearMatMul": case(
        [(U8, [64, 128]), floats(), CONST(3, np.uint8), (I8, [128, 96]),
         floats(), CONST(0, np.int8), floats(), CONST(5, np.uint8)],
        products=64 * 128 * 96),
    "DynamicQuantizeLinear": case([ROW], outputs=3),
    "QuantizeLinear": case([ROW, floats(), CONST(3, np.uint8)]),
    "DequantizeLinear": case([(U8, [64, 512]), floats(), CONST(3, np.uint8)]),
}
for name in ("Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "SumSquare",
             "LogSum", "LogSumExp"):
    CASES["Reduce" + name] = case([ROW, ints(1)])
for name in ("ArgMax", "ArgMin"):
    CASES[name] = case([ROW], axis=1)


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
        "", 24 if name in ("RMSNormalization", "Swish", "CumProd") else 21)])
    model.ir_version = 10
    onnx.save(model, path)


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
            sizes = [int(n) for n in re.findall(
                r"-?\d+", found.group(1).split(", annotations")[0])]
            times = (sizes[1] - sizes[0] if " in T.grid" not in line and
                     len(sizes) == 2 else int(np.prod(sizes)))
            loops.append((depth, times))
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
        elif name in CASES:
            inputs, products, outputs, attributes = CASES[name]
        else:
            helper.fail("no case for %s of ops.def; add one to %s" % (
                name, os.path.basename(__file__)))
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
    if seen < 100:
        helper.fail("only %d operators have loops" % seen)
    if offenders:
        helper.fail("\n".join(offenders))


if __name__ == "__main__":
    sys.exit(main())
