#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If, Loop, Scan, sequences and optionals against onnxruntime.

    control_flow.py NAME

NAME is a function here; it makes models and checks each with several
targets."""
import sys

import helper

try:
    import numpy as np
    from onnx import TensorProto
    from onnx import helper as make
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

ALL = ["c99", "gnu-c", "misra", "opencl-cpu", "cuda"]
rng = np.random.default_rng(6)


def floats(*shape):
    return rng.integers(-8, 9, shape).astype(np.float32) / 4


def body(nodes, inputs=(), outputs=(), constants=()):
    """A nested graph; inputs: (name, type, shape), outputs: names or the
    same."""
    def described(item):
        if isinstance(item, str):
            return make.make_empty_tensor_value_info(item)
        return make.make_tensor_value_info(*item)
    return make.make_graph(
        [make.make_node(op, ins, outs, **attributes)
         for op, ins, outs, attributes in nodes], "body",
        [described(item) for item in inputs],
        [described(item) for item in outputs],
        [make.make_tensor(name, make.np_dtype_to_tensor_dtype(value.dtype),
                          value.shape, value.tobytes(), raw=True)
         for name, value in constants])


def number(value, kind=np.int64):
    return np.array(value, kind)


def folded():
    """The condition follows from the shapes, or is a constant: the other
    branch may hold anything."""
    m = Model("folded")
    x = m.input("x", floats(1, 4, 3))
    size = m.node("Gather", [m.node("Shape", [x]), m.constant(number(0))])
    one = m.node("Equal", [size, m.constant(number(1))])
    squeeze = body([("Squeeze", ["x", "axes"], ["t"], {})], outputs=["t"],
                   constants=[("axes", number([0]))])
    keep = body([("Identity", ["x"], ["e"], {})], outputs=["e"])
    m.output(m.node("If", [one], then_branch=squeeze, else_branch=keep))
    m.output(m.node("If", [m.constant(np.array(False))],
                    then_branch=squeeze, else_branch=keep))
    # An If within the branch, and tensors of both scopes.
    inner = body([("Mul", ["x", "w"], ["i"], {})], outputs=["i"])
    outer = body([("Constant", [], ["w"],
                   {"value": make.make_tensor("w", TensorProto.FLOAT, [],
                                              [3.0])}),
                  ("If", ["always"], ["o"],
                   {"then_branch": inner, "else_branch": keep})],
                 outputs=["o"], constants=[("always", np.array(True))])
    m.output(m.node("If", [one], then_branch=outer, else_branch=keep))
    m.check(ALL)


def changing():
    """A Loop whose state grows, which only copies of its body can do."""
    m = Model("changing")
    x = m.input("x", floats(1, 3))
    grow = body([("Concat", ["s", "x"], ["t"], {"axis": 0}),
                 ("Mul", ["t", "two"], ["u"], {}),
                 ("ReduceSum", ["u"], ["r"], {"keepdims": 0})],
                [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
                 ("s", TensorProto.FLOAT, ["n", 3])], ["c", "u", "r"],
                [("two", np.array(2, np.float32))])
    for out in m.node("Loop", [m.constant(number(3)), "", x], n=2, body=grow):
        m.output(out)
    m.check(ALL)


def sequences():
    m = Model("sequences")
    x, y = m.input("x", floats(2, 3)), m.input("y", floats(2, 3))
    s = m.node("SequenceConstruct", [x, y])
    s = m.node("SequenceInsert", [s, m.node("Neg", [x])])
    s = m.node("SequenceInsert", [s, m.node("Abs", [y]),
                                  m.constant(number(-2))])
    m.output(m.node("SequenceAt", [s, m.constant(number(1))]))
    m.output(m.node("SequenceLength", [s]))
    short = m.node("SequenceErase", [s, m.constant(number(0))])
    m.output(m.node("ConcatFromSequence", [short], axis=1))
    m.output(m.node("ConcatFromSequence", [s], axis=-1, new_axis=1))
    parts = m.node("SplitToSequence", [x], axis=1, keepdims=0)
    m.output(m.node("SequenceAt", [parts, m.constant(number(-1))]))
    parts = m.node("SplitToSequence", [x, m.constant(number(2))], axis=1)
    m.output(m.node("SequenceAt", [parts, m.constant(number(1))]))
    parts = m.node("SplitToSequence", [x, m.constant(number([1, 2]))], axis=1)
    m.output(m.node("SequenceAt", [parts, m.constant(number(1))]))
    # A Loop that collects its results in a sequence.
    collect = body([("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT}),
                    ("Mul", ["x", "f"], ["v"], {}),
                    ("SequenceInsert", ["s", "v"], ["t"], {})],
                   [("i", TensorProto.INT64, []),
                    ("c", TensorProto.BOOL, [])], ["c", "t"])
    collect.input.append(make.make_tensor_sequence_value_info(
        "s", TensorProto.FLOAT, None))
    collect.output[1].CopyFrom(make.make_tensor_sequence_value_info(
        "t", TensorProto.FLOAT, None))
    s = m.node("Loop", [m.constant(number(4)), "",
                        m.node("SequenceEmpty", [])], body=collect)
    m.output(m.node("ConcatFromSequence", [s], axis=0))
    m.check(ALL)


CASES = [folded, changing, sequences]

for case in CASES:
    if sys.argv[1:] == [case.__name__]:
        case()
        break
else:
    helper.fail("control_flow.py: one of " +
                ", ".join(case.__name__ for case in CASES))
