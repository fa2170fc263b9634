#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If, Loop, Scan, sequences and optionals against onnxruntime.

    control_flow.py NAME

NAME is a function here; it makes models and checks each with several
targets."""
import re
import sys

import helper

try:
    import numpy as np
    import onnx
    from onnx import TensorProto
    from onnx import helper as make
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

ALL = ["c99", "gnu-c", "misra", "opencl", "opencl-cpu", "cuda"]
rng = np.random.default_rng(6)


def floats(*shape):
    return rng.integers(-8, 9, shape).astype(np.float32) / 4


def check(m, targets):
    """Of c99 with all warnings as errors."""
    m.check([target for target in targets if target != "c99"])
    m.check(["c99"], "--cflags", "-std=c99 -O2 " + " ".join(helper.STRICT))


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
    check(m, ALL)
    # A loop that makes no turn, behind another one; tirc test looks at the bodies
    # of a model whose results differ.
    state = [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
             ("s", TensorProto.FLOAT, [3])]
    count = ("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT})
    never = body([count, ("Add", ["s", "f"], ["s1"], {}),
                  ("ReduceMax", ["s1"], ["m"], {"keepdims": 0}),
                  ("Less", ["m", "f"], ["c1"], {})], state, ["c1", "s1"])
    turns = body([("Sin", ["s"], ["s1"], {})], state, ["c", "s1"])
    for wrong in (0, 1):
        m = Model("never")
        x = m.input("x", floats(3))
        m.input("n", number(3))
        a = m.node("Loop", ["n", "", x], body=turns)
        b = m.node("Loop", [m.constant(number(0)), "", x], body=never)
        y = m.node("Add", [a, b])
        m.output(y)
        if wrong:
            m.outputs[y] = m.reference()[y] + 1
        done = helper.tirc("test", m.write(), "--target", "c99", status=wrong)
        if ("beyond" in done.stdout) != bool(wrong):
            helper.fail(done.stdout + done.stderr)


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
    check(m, ALL)


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
    check(m, ALL)


def branches():
    """A condition of the input, branches within branches, tensors of all
    scopes; each way is taken."""
    for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        m = Model("branches")
        x = m.input("x", floats(6, 8))
        p = m.node("Greater", [m.input("a", number(a, np.float32)),
                               m.constant(number(0, np.float32))])
        q = m.node("Greater", [m.input("b", number(b, np.float32)),
                               m.constant(number(0, np.float32))])
        w = m.node("Relu", [x], names=["w"])
        inner = body([("Mul", ["s", "s"], ["i"], {})], outputs=["i"])
        keep = body([("Sub", ["s", "w"], ["e"], {})], outputs=["e"])
        outer = body([("Add", ["x", "w"], ["s"], {}),
                      ("If", [q], ["o"], {"then_branch": inner,
                                          "else_branch": keep}),
                      ("Transpose", ["o"], ["r"], {}),
                      ("Identity", ["x"], ["x1"], {})],
                     outputs=["r", "x1", "o"])
        other = body([("MatMul", ["x", "m"], ["k"], {}),
                      ("Transpose", ["w"], ["r"], {}),
                      ("Identity", ["k"], ["v"], {})],
                     outputs=["r", "k", "v"],
                     constants=[("m", floats(8, 8))])
        r, k, v = m.node("If", [p], n=3, then_branch=outer, else_branch=other)
        m.output(r)
        m.output(m.node("Neg", [k]))
        m.output(m.node("Add", [v, w]))
        check(m, ALL)


def sized():
    """Branches whose results differ in a size, which data decide in one of
    them: the rows whose largest number is over a limit, or none."""
    for flag in (True, False):
        m = Model("sized")
        x, c = m.input("x", floats(6, 4)), m.input("c", number(flag, bool))
        m.node("Greater", [m.node("ReduceMax", [x, m.constant(number([1]))],
                                  keepdims=0),
                           m.constant(number(0.5, np.float32))],
               names=["high"])
        none = body([], outputs=["none"],
                    constants=[("none", np.zeros((0, 4), np.float32))])
        some = body([("NonZero", ["high"], ["i"], {}),
                     ("Squeeze", ["i", "first"], ["j"], {}),
                     ("Gather", ["x", "j"], ["e"], {"axis": 0})],
                    outputs=["e"], constants=[("first", number([0]))])
        y = m.node("If", [c], names=["result"], then_branch=none,
                   else_branch=some)
        m.output(y)
        m.output(m.node("Neg", [y]))
        check(m, ALL)
    # Branches within a branch, where a sum relates two sizes that data decide.
    for flag, limit in [(True, 0.5), (True, 9), (True, -9), (False, 0)]:
        m = Model("nested")
        x, t = m.input("x", floats(6)), m.input("t", number(limit, np.float32))
        c = m.input("c", number(True, bool))
        d = m.input("d", number(flag, bool))
        sums = body([("Greater", [x, t], ["g"], {}),
                     ("NonZero", ["g"], ["i"], {}),
                     ("Squeeze", ["i", "first"], ["j"], {}),
                     ("Gather", [x, "j"], ["e"], {"axis": 0}),
                     ("GreaterOrEqual", [x, t], ["h"], {}),
                     ("NonZero", ["h"], ["k"], {}),
                     ("Squeeze", ["k", "first"], ["l"], {}),
                     ("Gather", [x, "l"], ["f"], {"axis": 0}),
                     ("Add", ["e", "f"], ["s"], {})],
                    outputs=["s"], constants=[("first", number([0]))])
        zeros = body([], outputs=["n"],
                     constants=[("n", np.zeros(2, np.float32))])
        outer = body([("If", [d], ["r"], {"then_branch": sums,
                                          "else_branch": zeros}),
                      ("Neg", ["r"], ["o"], {})], outputs=["o"])
        other = body([], outputs=["p"],
                     constants=[("p", np.ones(3, np.float32))])
        y = m.node("If", [c], names=["result"], then_branch=outer,
                   else_branch=other)
        m.output(y)
        m.output(m.node("Exp", [y]))
        check(m, ["c99", "misra", "cuda"])


    # What a branch computes after a result whose size it gives.
    for flag in (True, False):
        m = Model("followed")
        x, c = m.input("x", floats(6, 4)), m.input("c", number(flag, bool))
        turned = [("Transpose", ["rows"], ["t"], {"perm": [1, 0]}),
                  ("MatMul", ["rows", "t"], ["p"], {}),
                  ("Softmax", ["p"], ["q"], {}),
                  ("ReduceMax", ["q"], ["most"], {"keepdims": 0})]
        two = body([("Slice", [x, "from", "to"], ["rows"], {}), *turned],
                   outputs=["rows", "most"],
                   constants=[("from", number([1])), ("to", number([3]))])
        all_of_them = body([("Neg", [x], ["rows"], {}), *turned],
                           outputs=["rows", "most"])
        for y in m.node("If", [c], n=2, then_branch=two,
                        else_branch=all_of_them):
            m.output(y)
        check(m, ALL)
    # A branch in a loop and in another branch, whose result nobody reads.
    x_rows = body([("Neg", ["x"], ["rows"], {})], outputs=["rows"])
    two = body([("Slice", ["x", "from", "to"], ["rows"], {})], outputs=["rows"],
               constants=[("from", number([1])), ("to", number([3]))])
    unread = ("If", ["c"], ["unread"], {"then_branch": two,
                                        "else_branch": x_rows})
    step = body([unread, ("Neg", ["s"], ["t"], {})],
                [("i", TensorProto.INT64, []), ("on", TensorProto.BOOL, []),
                 ("s", TensorProto.FLOAT, [6, 4])], ["on", "t"])
    for trips in (0, 1, 2):
        m = Model("unread")
        x, _ = m.input("x", floats(6, 4)), m.input("c", number(False, bool))
        m.node("If", ["c"], then_branch=body([unread, ("Neg", ["x"], ["y"], {})],
                                             outputs=["y"]),
               else_branch=body([("Abs", ["x"], ["z"], {})], outputs=["z"]))
        m.output(m.node("Loop", [m.constant(number(trips)), "", x], body=step))
        m.check(["c99"])
    # How many slices a loop stacks, where nothing reads these.
    step = body([("Add", ["s", "one"], ["t"], {}),
                 ("ReduceSum", ["t"], ["sum"], {"keepdims": 0}),
                 ("Less", ["sum", "most"], ["go"], {}),
                 ("Neg", ["t"], ["slice"], {})],
                [("i", TensorProto.INT64, []), ("on", TensorProto.BOOL, []),
                 ("s", TensorProto.FLOAT, [3])], ["go", "t", "slice"],
                [("one", number(1, np.float32)), ("most", number(11, np.float32))])
    for first in (0, 1, 5):
        m = Model("slices")
        s = m.input("s", np.full(3, first, np.float32))
        last, slices = m.node("Loop", [m.constant(number(7)), "", s], n=2,
                              body=step)
        m.output(last)
        m.output(m.node("ReduceSum", [m.node("ConstantOfShape", [m.node(
            "Shape", [slices])], value=make.make_tensor("one", TensorProto.FLOAT,
                                                        [1], [1]))]))
        m.check(["c99", "misra", "cuda"])


def sized_iterations():
    """Each iteration has sizes of its own that data decide: what is left over
    a limit that grows, nothing at last; a number of elements that the bound
    of an option limits; both behind a condition."""
    carried = [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
               ("s", TensorProto.FLOAT, [])]
    left = [("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT}),
            ("Sub", ["x", "f"], ["d"], {}),
            ("Relu", ["d"], ["r"], {}),
            ("NonZero", ["r"], ["at"], {}),
            ("Transpose", ["at"], ["rows"], {}),
            ("GatherND", ["d", "rows"], ["e"], {}),
            ("Exp", ["e"], ["g"], {}),
            ("ReduceSum", ["g"], ["t"], {"keepdims": 0}),
            ("Add", ["s", "t"], ["u"], {})]
    for trips in (0, 1, 5):
        m = Model("left")
        m.input("x", floats(3, 5))
        n, s = m.input("n", number(trips)), m.input("s0", floats())
        m.output(m.node("Loop", [n, "", s], body=body(left, carried,
                                                      ["c", "u"])))
        check(m, ALL if trips == 5 else ["c99"])
    # A loop within the loop, and a condition.
    inner = body(left, carried, ["c", "u"])
    outer = body([("Loop", ["three", "", "s"], ["v"], {"body": inner}),
                  ("Less", ["v", "most"], ["on"], {})], carried, ["on", "v"],
                 [("three", number(3)), ("most", number(9, np.float32))])
    m = Model("nested_left")
    m.input("x", np.abs(floats(7)) + 1)
    n, s = m.input("n", number(100)), m.input("s0", floats())
    m.output(m.node("Loop", [n, "", s], body=outer))
    check(m, ["c99", "misra", "cuda"])
    count = body([("Range", ["zero", "i", "one"], ["r"], {}),
                  ("Cast", ["r"], ["f"], {"to": TensorProto.FLOAT}),
                  ("ReduceSum", ["f"], ["t"], {"keepdims": 0}),
                  ("Add", ["s", "t"], ["u"], {})], carried, ["c", "u"],
                 [("zero", number(0)), ("one", number(1))])
    m = Model("triangles")
    n, s = m.input("n", number(6)), m.input("s0", floats())
    m.output(m.node("Loop", [n, "", s], names=["y"], body=count))
    bound = re.search(r"--bound (\S+)=N", refuse(m, "--bound")).group(1)
    m.check(["c99", "gnu-c", "cuda"], "--bound", bound + "=5")
    helper.tirc("test", m.write(), "--bound", bound + "=4", status=1)
    refuse(m, "choose another target", "--bound", bound + "=5", "--target",
           "misra")
    # A size that all iterations share.
    m = Model("kept")
    m.input("x", floats(3, 5))
    s = m.input("s0", floats())
    kept = body(left, carried, ["c", "u", "e"])
    for out in m.node("Loop", [m.constant(number(40)), "", s],
                      names=["last", "all"], body=kept):
        m.output(out)
    refuse(m, "which all iterations share")


def counted():
    """A Loop of many iterations: a state in place, one that takes turns, two
    that change places, slices, tensors of outside, the iteration's number."""
    m = Model("counted")
    x, a = m.input("x", floats(5)), m.input("a", floats(5, 5) / 4)
    step = body([
        ("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT}),
        ("Add", ["sum", "f"], ["sum1"], {}),
        ("MatMul", ["v", a], ["av"], {}),
        ("Tanh", ["av"], ["v1"], {}),
        ("Add", ["p", "q"], ["pq"], {}),
        ("Mul", ["pq", "half"], ["q1"], {}),
        ("Identity", ["q"], ["p1"], {}),
        ("Mul", ["v1", "f"], ["slice"], {}),
        ("Exp", [a], ["expa"], {}),
        ("ReduceSum", ["expa"], ["suma"], {"keepdims": 0}),
        ("Mul", ["suma", "v"], ["slice2"], {}),
    ], [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
        *[(name, TensorProto.FLOAT, [5])
          for name in ("sum", "v", "p", "q", "fixed")]],
        ["c", "sum1", "v1", "p1", "q1", "fixed", "slice", "slice2"],
        [("half", number(0.5, np.float32))])
    for trips in (17, 20):
        m.outputs.clear()
        m.nodes.clear()
        for out in m.node("Loop", [m.constant(number(trips)), "", x, x, x,
                                   m.node("Neg", [x]), x], n=7, body=step):
            m.output(out)
        check(m, ALL)


def scans():
    """A Scan with two states and slices from both ends and along other axes;
    an LSTM cell; a Scan in a Scan."""
    m = Model("scans")
    x, y = m.input("x", floats(9, 4)), m.input("y", floats(4, 9))
    zero = m.constant(np.zeros(4, np.float32))
    step = body([("Add", ["s", "a"], ["s1"], {}),
                 ("Mul", ["p", "b"], ["pb"], {}),
                 ("Sub", ["pb", "s1"], ["p1"], {}),
                 ("Mul", ["a", "b"], ["o"], {}),
                 ("Identity", ["p1"], ["o2"], {})],
                [(n, TensorProto.FLOAT, [4]) for n in ("s", "p", "a", "b")],
                ["s1", "p1", "o", "o2"])
    for out in m.node("Scan", [zero, x, x, y], n=4, body=body(
            [("Add", ["s", "a"], ["s1"], {}), ("Mul", ["a", "b"], ["o"], {}),
             ("Neg", ["s1"], ["o2"], {}), ("Abs", ["s"], ["o3"], {})],
            [(n, TensorProto.FLOAT, [4]) for n in ("s", "a", "b", "d")],
            ["s1", "o", "o2", "o3"]), num_scan_inputs=3,
            scan_input_axes=[0, 0, 1], scan_input_directions=[0, 1, 0],
            scan_output_axes=[1, 0, 1], scan_output_directions=[1, 1, 0]):
        m.output(out)
    first = m.node("Relu", [m.node("Slice", [
        x, m.constant(number([0])), m.constant(number([1])),
        m.constant(number([0]))])])
    first = m.node("Reshape", [first, m.constant(number([4]))])
    for out in m.node("Scan", [zero, first, x, m.node("Transpose", [y])], n=4,
                      body=step, num_scan_inputs=2,
                      scan_input_directions=[1, 0]):
        m.output(out)
    check(m, ALL)

    m = Model("lstm")
    x = m.input("x", floats(12, 2, 6))
    h, c = m.input("h", floats(2, 8)), m.input("c", floats(2, 8))
    cell = body([
        ("MatMul", ["xt", "w"], ["xw"], {}), ("MatMul", ["h", "r"], ["hr"], {}),
        ("Add", ["xw", "hr"], ["g"], {}), ("Add", ["g", "bias"], ["gates"], {}),
        ("Split", ["gates"], ["i", "o", "f", "z"],
         {"axis": 1, "num_outputs": 4}),
        ("Sigmoid", ["i"], ["si"], {}), ("Sigmoid", ["o"], ["so"], {}),
        ("Sigmoid", ["f"], ["sf"], {}), ("Tanh", ["z"], ["tz"], {}),
        ("Mul", ["sf", "c"], ["fc"], {}), ("Mul", ["si", "tz"], ["iz"], {}),
        ("Add", ["fc", "iz"], ["c1"], {}), ("Tanh", ["c1"], ["tc"], {}),
        ("Mul", ["so", "tc"], ["h1"], {}), ("Identity", ["h1"], ["y"], {})],
        [("h", TensorProto.FLOAT, [2, 8]), ("c", TensorProto.FLOAT, [2, 8]),
         ("xt", TensorProto.FLOAT, [2, 6])], ["h1", "c1", "y"],
        [("w", floats(6, 32) / 4), ("r", floats(8, 32) / 4),
         ("bias", floats(32))])
    for out in m.node("Scan", [h, c, x], n=3, body=cell, num_scan_inputs=1):
        m.output(out)
    check(m, ALL)

    m = Model("nested")
    x = m.input("x", floats(7, 9, 3))
    inner = body([("Add", ["t", "e"], ["t1"], {}),
                  ("Mul", ["t1", "s"], ["u"], {})],
                 [("t", TensorProto.FLOAT, [3]),
                  ("e", TensorProto.FLOAT, [3])], ["t1", "u"])
    outer = body([("Neg", ["s"], ["n"], {}),
                  ("Scan", ["n", "row"], ["s1", "u"],
                   {"body": inner, "num_scan_inputs": 1,
                    "scan_input_directions": [1]})],
                 [("s", TensorProto.FLOAT, [3]),
                  ("row", TensorProto.FLOAT, [9, 3])], ["s1", "u"])
    for out in m.node("Scan", [m.constant(np.ones(3, np.float32)), x], n=2,
                      body=outer, num_scan_inputs=1):
        m.output(out)
    check(m, ALL)


def counting():
    """Loops without a number of iterations, whose condition counts them: their
    stacked results have a size of compile time, or of the inputs' sizes."""
    def step(nodes, next_count, *constants):
        return body([*nodes, ("Tanh", ["s"], ["s2"], {}),
                     ("Identity", ["s2"], ["e"], {}),
                     ("Identity", ["n"], ["n2"], {})],
                    [("t", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
                     ("i", TensorProto.INT32, []), ("n", TensorProto.INT32, []),
                     ("s", TensorProto.FLOAT, [3])],
                    ["on", next_count, "n2", "s2", "e"],
                    [(name, number(v, np.int32)) for name, v in constants])

    def as_float(x, y):
        return (("Cast", [x], [y], {"to": TensorProto.FLOAT}))

    add = ("Add", ["i", "by"], ["i2"], {})
    less = [as_float("i2", "fi"), as_float("n", "fn"),
            ("Less", ["fi", "fn"], ["lt"], {}),
            ("Cast", ["lt"], ["on"], {"to": TensorProto.BOOL})]
    forms = {  # nodes, next counter, step, the same test before, inclusive
        "less": ([add, *less], "i2", 1, "Less"),
        "by3": ([add, *less], "i2", 3, "Less"),
        "equal": ([add, ("LessOrEqual", ["i2", "n"], ["on"], {})], "i2", 2,
                  "LessOrEqual"),
        "greater": ([add, ("Greater", ["n", "i2"], ["on"], {})], "i2", 1, ""),
        "before": ([add, ("GreaterOrEqual", ["n", "i"], ["on"], {})], "i2", 2,
                   ""),
        "and": ([add, *less[:-1], ("Cast", ["t"], ["t32"],
                                   {"to": TensorProto.INT32}),
                 ("Add", ["t32", "by"], ["ahead"], {}),
                 ("Less", ["ahead", "most"], ["few"], {}),
                 ("And", ["lt", "few"], ["on"], {})], "i2", 1, ""),
    }
    for name, (nodes, count, by, test) in forms.items():
        for first, steps in ((0, 7), (0, 1), (5, 6), (9, 4)):
            m = Model("counting_" + name)
            s = m.input("s", floats(3))
            x = m.input("x", floats(steps, 2))
            i = m.constant(number(first, np.int32))
            n = m.node("Cast", [m.node("Gather", [
                m.node("Shape", [x]), m.constant(number(0))])],
                to=TensorProto.INT32)
            on = m.node(test, [i, n]) if test else m.constant(np.array(True))
            for out in m.node("Loop", ["", on, i, n, s],
                              names=["count", "limit", "last", "all"],
                              body=step(nodes, count, ("by", by),
                                        ("most", 3))):
                if out:
                    m.output(out)
            m.check(["c99", "misra"])
    # The size is a parameter: the result's is, too.
    nodes, count, by, test = forms["by3"]
    m = Model("counting_sizes")
    s = m.input("s", floats(3))
    x = m.input("x", floats(8, 2))
    i = m.constant(number(0, np.int32))
    n = m.node("Cast", [m.node("Gather", [
        m.node("Shape", [x]), m.constant(number(0))])], to=TensorProto.INT32)
    on = m.node(test, [m.constant(number(0, np.float32)),
                       m.node("Cast", [n], to=TensorProto.FLOAT)])
    m.output(m.node("Loop", ["", on, i, n, s],
                    names=["count", "limit", "last", "all"],
                    body=step(nodes, count, ("by", by)))[3])
    proto = m.proto()
    proto.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "rows"
    m.proto = lambda: proto
    path = m.write()
    helper.tirc("test", path, "--dim", "rows=1..20")
    said = helper.tirc("compile", path, "--dim", "rows=1..20", "-o",
                       helper.work_folder()).stdout
    if not re.search(r"output +all +float32 \[\(rows \+ 2\) // 3, 3\]", said):
        helper.fail("the size of 'all' in: " + said)
    # A narrow counter wraps.
    for kind, first, by in ((np.uint8, 250, 10), (np.int8, 100, 50)):
        m = Model("counting_" + np.dtype(kind).name)
        s = m.input("s", floats(3))
        code = make.np_dtype_to_tensor_dtype(np.dtype(kind))
        narrow = body([
            ("Add", ["i", "by"], ["i2"], {}),
            ("Cast", ["i2"], ["w"], {"to": TensorProto.INT32}),
            ("Less", ["w", "n"], ["on"], {}), ("Tanh", ["s"], ["s2"], {}),
            ("Identity", ["s2"], ["e"], {})],
            [("t", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
             ("i", code, []), ("s", TensorProto.FLOAT, [3])],
            ["on", "i2", "s2", "e"],
            [("by", number(by, kind)), ("n", number(5, np.int32))])
        for out in m.node("Loop", ["", m.constant(np.array(True)),
                                   m.constant(number(first, kind)), s],
                          names=["count", "last", "all"], body=narrow):
            m.output(out)
        refuse(m, "give its largest value with --bound all=N")
    # What does more than count keeps its condition.
    others = {
        "data": [add, ("ReduceMax", ["s"], ["r"], {"keepdims": 0}),
                 as_float("i2", "fi"), ("Less", ["r", "fi"], ["no"], {}),
                 ("Not", ["no"], ["on"], {})],
        "twice": [("Add", ["i", "i"], ["ii"], {}),
                  ("Add", ["ii", "by"], ["i2"], {}),
                  ("Less", ["i2", "n"], ["on"], {})],
        "narrow": [("Add", ["i", "by"], ["i2"], {}),
                   ("Cast", ["i2"], ["b"], {"to": TensorProto.INT8}),
                   ("Cast", ["b"], ["w"], {"to": TensorProto.INT32}),
                   ("Less", ["w", "n"], ["on"], {})],
    }
    for name, nodes in others.items():
        m = Model("counting_" + name)
        s = m.input("s", floats(3))
        i, n = (m.constant(number(v, np.int32)) for v in (1, 6))
        for out in m.node("Loop", ["", m.constant(np.array(True)), i, n, s],
                          names=["count", "limit", "last", "all"],
                          body=step(nodes, "i2", ("by", 1))):
            if out:
                m.output(out)
        refuse(m, "give its largest value with --bound all=N")
        m.check(["c99"], "--bound", "all=8")


def conditional():
    """Loops that end when data says so; a branch in a loop; a number of
    iterations that is an input."""
    for limit, trips in ((100, 5), (40, 0), (1000, 30)):
        m = Model("conditional")
        x = m.input("x", floats(4) / 8 + 1)
        n = m.input("n", number(trips))
        step = body([
            ("Mul", ["s", "two"], ["s1"], {}),
            ("ReduceMax", ["s1"], ["r"], {"keepdims": 0}),
            ("Less", ["r", "limit"], ["c1"], {}),
            ("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT}),
            ("MatMul", ["v", "turn"], ["v0"], {}),
            ("Greater", ["r", "some"], ["big"], {}),
            ("If", ["big"], ["v1"], {
                "then_branch": body([("Add", ["v0", "f"], ["vt"], {})],
                                    outputs=["vt"]),
                "else_branch": body([("Sub", ["v0", x], ["ve"], {})],
                                    outputs=["ve"])}),
        ], [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
            ("s", TensorProto.FLOAT, [4]), ("v", TensorProto.FLOAT, [4])],
            ["c1", "s1", "v1"],
            [("two", number(2, np.float32)),
             ("limit", number(limit, np.float32)),
             ("some", number(8, np.float32)),
             ("turn", np.eye(4, dtype=np.float32)[::-1].copy())])
        go = m.constant(np.array(True))
        for inputs in ([n, go], ["", go], [n, m.node("Less", [
                n, m.constant(number(20))])]):
            for out in m.node("Loop", [*inputs, x, x], n=2, body=step):
                m.output(out)
        count = body([("MatMul", ["v", "turn"], ["v1"], {}),
                      ("Add", ["s", "i"], ["s1"], {})],
                     [("i", TensorProto.INT64, []),
                      ("c", TensorProto.BOOL, []),
                      ("v", TensorProto.FLOAT, [4]),
                      ("s", TensorProto.INT64, [])], ["c", "v1", "s1"],
                     [("turn", np.eye(4, dtype=np.float32)[[1, 2, 3, 0]])])
        for out in m.node("Loop", [n, "", x, m.constant(number(3))], n=2,
                          body=count):
            m.output(out)
        check(m, ALL)


def refuse(m, words, *options):
    folder = helper.work_folder()
    path = folder + "/model.onnx"
    onnx.save(m.proto(), path)
    said = helper.tirc("compile", path, "-o", folder + "/out", *options,
                       status=1).stderr
    if words not in said:
        helper.fail("'%s' is not in: %s" % (words, said))
    return said


def refused():
    """What is not supported is said, with the value's name."""
    grow = body([("Concat", ["s", "s"], ["u"], {"axis": 0})],
                [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
                 ("s", TensorProto.FLOAT, ["n"])], ["c", "u"])
    m = Model("grows")
    x = m.input("x", floats(2))
    n = m.input("n", number(3))
    m.output(m.node("Loop", [n, "", x], body=grow))
    refuse(m, "its state")

    m = Model("differ")
    x, c = m.input("x", floats(2, 3)), m.input("c", np.array(True))
    m.output(m.node("If", [c], names=["result"], then_branch=body(
        [("Neg", ["x"], ["t"], {})], outputs=["t"]), else_branch=body(
            [("ReduceSum", ["x"], ["e"], {"keepdims": 0})], outputs=["e"])))
    refuse(m, "the branches give 'result' different types")

    m = Model("stacked")
    x, n = m.input("x", floats(2)), m.input("n", number(3))
    step = body([("Neg", ["s"], ["u"], {}), ("Abs", ["s"], ["o"], {})],
                [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
                 ("s", TensorProto.FLOAT, [2])], ["c", "u", "o"])
    for out in m.node("Loop", [n, "", x], names=["last", "all"], body=step):
        m.output(out)
    refuse(m, "give its largest value with --bound all=N")

    m = Model("endless")
    x = m.input("x", floats(2))
    for out in m.node("Loop", ["", "", x], names=["last", "all"], body=step):
        m.output(out)
    refuse(m, "neither a number of iterations nor a condition ends it",
           "--bound", "all=9")

    m = Model("list")
    x, n = m.input("x", floats(2)), m.input("n", number(3))
    m.output(m.node("Loop", [n, "", x], names=["last", ""], body=step)[0])
    refuse(m, "use --form aot", "--form", "graph")


def shared():
    """A state to which iterations append, with another reader of its value: a
    result, the condition, a branch, a second state. Copies of the body can do
    it, a loop cannot."""
    head = [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
            ("a", TensorProto.FLOAT, [None]), ("b", TensorProto.FLOAT, [None])]
    append = [("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT}),
              ("Add", ["x", "f"], ["d"], {}),
              ("Concat", ["a", "d"], ["a2"], {"axis": 0})]
    total = ("ReduceSum", ["a2"], ["e"], {"keepdims": 0})
    size = [("Size", ["a2"], ["q"], {}), ("Less", ["q", "five"], ["on"], {})]
    branch = ("If", ["c"], ["e"], {
        "then_branch": body([total], outputs=["e"]),
        "else_branch": body([("Neg", ["f"], ["e"], {})], outputs=["e"])})
    for nodes, outputs in [
            (append + [total], ["c", "a2", "b", "e"]),
            (append + size, ["on", "a2", "b", "d"]),
            (append + [branch], ["c", "a2", "b", "e"]),
            (append, ["c", "a2", "a2", "d"]),
            (append, ["c", "a2", "a", "d"]),
            (append + [("Identity", ["a2"], ["a3"], {})],
             ["c", "a3", "a2", "d"])]:
        graph = body(nodes, head, outputs, [("five", number(5))])
        for trips in (3, 100)[nodes[-1][0] in ("If", "Less"):]:
            m = Model("shared")
            m.input("x", floats(1))
            none = m.constant(np.zeros(0, np.float32))
            go = "" if trips == 3 else m.node("Less", [
                m.input("s", number(1)), m.constant(number(2))])
            for out in m.node("Loop", [m.constant(number(trips)), go, none,
                                       none],
                              names=["a9", "b9", "e9"], body=graph):
                m.output(out)
            if trips == 3:
                m.check(["c99"])
            else:
                refuse(m, "a loop needs states of one shape")


def stacked():
    """The number of slices depends on data: what iterations append to a state
    of some rows or none, along either axis; slices; a condition."""
    head = [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, [])]
    states = head + [("a", TensorProto.FLOAT, [None, 2]),
                     ("b", TensorProto.FLOAT, [1, None])]
    step = body([("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT}),
                 ("Add", ["x", "f"], ["d"], {}),
                 ("Cast", ["a"], ["a1"], {"to": TensorProto.FLOAT}),
                 ("Concat", ["a1", "d"], ["a2"], {"axis": 0}),
                 ("ReduceSum", ["d", "zero"], ["e"], {}),
                 ("Concat", ["b", "e", "e"], ["b2"], {"axis": 1})],
                states, ["c", "a2", "b2", "e"], [("zero", number([0]))])

    def loop(name, count, condition="", graph=step):
        m = Model(name)
        m.input("x", floats(3, 2))
        inputs = [count(m), condition,
                  m.constant(np.zeros((0, 2), np.float32)),
                  m.input("b0", floats(1, 3))]
        for out in m.node("Loop", inputs, names=["a9", "b9", "e9"],
                          body=graph):
            m.output(out)
        return m
    for trips in (0, 1, 5):
        m = loop("given", lambda m: m.input("n", number(trips)))
        m.check(ALL if trips == 5 else ["c99"], "--bound", "e9=8")
    refuse(m, "--bound a9=N")
    helper.tirc("test", loop("more", lambda m: m.input("n", number(9)))
                .write(), "--bound", "e9=8", status=1)
    # The number of iterations is a size that has a bound.
    m = loop("found", lambda m: m.node("Gather", [m.node("Shape", [m.node(
        "NonZero", [m.input("y", floats(7) > 0)])]), m.constant(number(1))]))
    m.check(["c99", "gnu-c", "opencl-cpu"])
    # It ends when a sum is large; after all of its iterations.
    nodes = list(step.node) + [
        make.make_node("ReduceMax", ["d"], ["most"], keepdims=0),
        make.make_node("Less", ["most", "limit"], ["on"])]
    for limit in (-9, 4, 100):
        until = make.make_graph(
            nodes, "until", step.input,
            [make.make_empty_tensor_value_info(name)
             for name in ("on", "a2", "b2", "e")], list(step.initializer) +
            [make.make_tensor("limit", TensorProto.FLOAT, [], [limit])])
        m = loop("until", lambda m: m.constant(number(20)), graph=until)
        check(m, ALL if limit == 4 else ["c99"])
        if limit == 4:
            m = loop("open", lambda m: "", graph=until)
            m.check(["c99", "gnu-c"], "--bound", "a9=12")
            path = m.write()
            helper.tirc("test", path, "--bound", "a9=2", status=1)


def ended():
    """A condition ends a Loop with a state and a stacked result; the state is
    read or not; the most iterations are known, a size, or an input."""
    step = body([("Cast", ["i"], ["f"], {"to": TensorProto.FLOAT}),
                 ("Add", ["s", "f"], ["s2"], {}),
                 ("Less", ["s2", "limit"], ["on"], {}),
                 ("Neg", ["s2"], ["e"], {})],
                [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
                 ("s", TensorProto.FLOAT, [])], ["on", "s2", "e"],
                [("limit", number(9, np.float32))])
    for read in (True, False):
        for kind in ("known", "size", "input"):
            m = Model("ended")
            s = m.input("s", number(1, np.float32))
            flags = m.input("flags", np.arange(6) % 3 > 0)
            two = m.node("Squeeze", [m.node("Mul", [m.node("Slice", [
                m.node("Shape", [m.node("NonZero", [flags])]),
                m.constant(number([1])), m.constant(number([2]))]),
                m.constant(number([2]))])])
            n = {"known": lambda: m.constant(number(200)),
                 "size": lambda: two,
                 "input": lambda: m.input("n", number(7))}[kind]()
            for out in m.node("Loop", [n, "", s],
                              names=["last" if read else "", "all"],
                              body=step):
                if out:
                    m.output(out)
            if not read:  # onnxruntime fails for a Loop without the state
                m.reference = lambda: {"all": -np.array([1, 2, 4, 7, 11],
                                                        np.float32)}
            if kind != "input":
                m.check(["c99", "misra"] if read else ["c99"])
                continue
            m.check(["c99", "cuda"], "--bound", "all=9")
            helper.tirc("test", m.write(), "--bound", "all=6", status=1)
            refuse(m, "--bound all=N")
    # The bound of the fourth stacked result.
    names = "pqrt"
    m = Model("fourth")
    s, n = m.input("s", floats(2)), m.input("n", number(3))
    step = body([("Add", ["v", "v"], ["w"], {})] +
                [("Exp", ["w"], [name], {}) for name in names],
                [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
                 ("v", TensorProto.FLOAT, [2])], ["c", "w", *names])
    for out in m.node("Loop", [n, "", s],
                      names=["last"] + [name + "9" for name in names],
                      body=step):
        m.output(out)
    m.check(["c99"], "--bound", "t9=4")


def sized_scans():
    """A Scan over as many slices as a size says: two states and slices from both
    ends and along other axes; a Scan in a Scan; sizes that may differ."""
    step = body([("Add", ["s", "a"], ["s1"], {}), ("Mul", ["a", "b"], ["o"], {}),
                 ("Neg", ["s1"], ["o2"], {}), ("Abs", ["s"], ["o3"], {})],
                [(n, TensorProto.FLOAT, [4]) for n in ("s", "a", "b", "d")],
                ["s1", "o", "o2", "o3"])
    inner = body([("Add", ["t", "e"], ["t1"], {}),
                  ("Mul", ["t1", "s"], ["u"], {})],
                 [(n, TensorProto.FLOAT, [4]) for n in "te"], ["t1", "u"])
    outer = body([("Neg", ["s"], ["n"], {}),
                  ("Scan", ["n", "row"], ["s1", "u"],
                   {"body": inner, "num_scan_inputs": 1,
                    "scan_input_directions": [1]})],
                 [("s", TensorProto.FLOAT, [4]),
                  ("row", TensorProto.FLOAT, ["K", 4])], ["s1", "u"])
    for length, rows in ((1, 1), (2, 5), (9, 3)):
        m = Model("sized_scans")
        x, y = m.input("x", floats(length, 4)), m.input("y", floats(4, length))
        z = m.input("z", floats(length, rows, 4))
        m.sizes = {"x": ["L", 4], "y": [4, "L"], "z": ["L", "K", 4]}
        zero = m.constant(np.zeros(4, np.float32))
        for out in m.node("Scan", [zero, x, x, y], n=4, body=step,
                          num_scan_inputs=3, scan_input_axes=[0, 0, 1],
                          scan_input_directions=[0, 1, 0],
                          scan_output_axes=[1, 0, 1],
                          scan_output_directions=[1, 1, 0]):
            m.output(out)
        for out in m.node("Scan", [zero, z], n=2, body=outer,
                          num_scan_inputs=1):
            m.output(out)
        m.check(ALL, "--dim", "L=1..9", "--dim", "K=1..5")
    m.sizes["y"] = [4, "N"]
    said = refuse(m, "make them equal with --dim", "--dim", "L=1..9", "--dim",
                  "N=1..9", "--dim", "K=1..5")
    if "L and N slices" not in said:
        helper.fail("the sizes are not named: " + said)
    m.check(["c99"], "--dim", "L=1..9", "--dim", "N=L", "--dim", "K=1..5")
    m.sizes["x"] = [0, 4]
    refuse(m, "0 and", "--dim", "N=1..9", "--dim", "L=1..9", "--dim", "K=1..5")


def unchanged():
    """States that no iteration changes, and the first condition, which other
    states and stacked results take; an inner loop that starts from them."""
    head = [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, [])]
    kinds = {"a": (TensorProto.FLOAT, [3]), "b": (TensorProto.FLOAT, [3]),
             "q": (TensorProto.BOOL, [])}
    keep = ("Identity", ["a"], ["a1"], {})
    less = ("Less", ["i", "n"], ["on"], {})
    inner = ("Loop", ["four", "", "a"], ["v"], {"body": body(
        [("Add", ["e", "b"], ["e1"], {})],
        [("j", TensorProto.INT64, []), ("d", TensorProto.BOOL, []),
         ("e", TensorProto.FLOAT, [3])], ["d", "e1"])})
    for nodes, states, outputs in [
            ([keep], "ab", ["c", "a1", "a"]),
            ([keep], "ba", ["c", "a", "a1"]),
            ([keep, less], "ab", ["on", "a1", "a"]),
            ([keep, less], "ba", ["on", "a", "a1"]),
            ([], "ab", ["c", "a", "a", "a", "b"]),
            ([keep], "ab", ["c", "a1", "a", "a", "a1"]),
            ([less], "qab", ["on", "c", "a", "a"]),
            ([("Add", ["a", "b"], ["s"], {})], "qab", ["c", "c", "a", "s"]),
            ([inner], "ba", ["c", "v", "a"]),
            ([inner, less], "ab", ["on", "a", "v", "a"]),
            ([inner, less], "ab", ["on", "a", "a", "b"])]:
        if outputs[0] == "c" and len(states) < len(outputs) - 1:
            trips = (2, 30)
        else:
            trips = (30,)
        for count in trips:
            m = Model("unchanged")
            first = {"a": m.input("x", floats(3)), "b": m.input("y", floats(3)),
                     "q": m.input("t", number(False, bool))}
            m.input("n", number(5))
            graph = body(nodes, head + [(s, *kinds[s]) for s in states],
                         outputs, [("four", number(40))])
            for out in m.node("Loop", [m.constant(number(count)), "",
                                       *(first[s] for s in states)],
                              n=len(outputs) - 1, body=graph):
                m.output(out)
            m.check(["c99", "misra", "cuda"])
    # A state that the body does not read, whose first value is read later.
    fresh = body([("Sin", ["b"], ["b1"], {}), ("Cos", ["b"], ["a1"], {})],
                 [*head, ("a", *kinds["a"]), ("b", *kinds["b"])],
                 ["c", "a1", "b1"])
    for both in (False, True):
        m = Model("unread")
        x, y = m.input("x", floats(3)), m.input("y", floats(3))
        start = m.node("Tanh", [m.node("Mul", [x, y])])
        m.input("n", number(5))
        for out in m.node("Loop", ["n", "", start, start if both else x], n=2,
                          body=fresh):
            m.output(m.node("Neg", [out]))
        m.output(m.node("Sub", [y, start]))
        m.check(["c99", "misra", "cuda"])


def first_condition():
    """A condition that iterations keep, whose first value is an input."""
    step = body([("Add", ["s", "s"], ["s1"], {}),
                 ("Identity", ["c"], ["on"], {})],
                [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
                 ("s", TensorProto.FLOAT, [3])], ["on", "s1"])
    for go in (True, False):
        for trips in (0, 1, 2, 30):
            m = Model("first")
            x, c = m.input("x", floats(3)), m.input("go", number(go, bool))
            m.output(m.node("Loop", [m.constant(number(trips)), c, x],
                            body=step))
            m.check(["c99", "gnu-c", "cuda"])
    # Views of inputs, which no kernel reads.
    m = Model("viewed")
    x, c = m.input("x", floats(3)), m.input("go", number([True], bool))
    n = m.input("n", number([3]))
    m.output(m.node("Loop", [m.node("Squeeze", [n]), m.node("Squeeze", [c]), x],
                    body=step))
    m.output(m.node("If", [m.node("Squeeze", [c])], then_branch=body(
        [("Exp", [x], ["t"], {})], [], [("t", TensorProto.FLOAT, [3])]),
        else_branch=body([("Neg", [x], ["e"], {})], [],
                         [("e", TensorProto.FLOAT, [3])])))
    m.check(["c99", "gnu-c", "cuda"])


def decided():
    """Results of an If and of a Loop that no kernel reads: they decide another If,
    the count and the first condition of a Loop, and a size. Other results are
    computed before."""
    def one_of(m, kind, first, second):
        """A number of the kind: `first` if p, else `second`."""
        branch = [body([("Mul" if kind == np.int64 else "And", [a, b], ["r"], {})],
                       [], [("r", make.np_dtype_to_tensor_dtype(np.dtype(kind)), [])])
                  for a, b in (first, second)]
        return m.node("If", ["p"], then_branch=branch[0], else_branch=branch[1])

    state = [("i", TensorProto.INT64, []), ("c", TensorProto.BOOL, []),
             ("s", TensorProto.FLOAT, [4])]
    step = body([("Add", ["s", "n"], ["s1"], {}), ("Identity", ["c"], ["c1"], {})],
                state, ["c1", "s1"])
    last = body([("Identity", ["c"], ["c1"], {}), ("Xor", ["q", "p"], ["q1"], {})],
                [*state[:2], ("q", TensorProto.BOOL, [])], ["c1", "q1"])
    for p in (True, False):
        m = Model("decided")
        m.input("p", number(p, bool))
        m.input("q", number(not p, bool))
        m.input("two", number(2))
        m.input("three", number(3))
        m.input("x", floats(4))
        truth = one_of(m, bool, ("p", "p"), ("q", "p"))
        count = one_of(m, np.int64, ("two", "three"), ("two", "two"))
        size = one_of(m, np.int64, ("two", "two"), ("two", "three"))
        odd = m.node("Loop", ["three", "", "q"], body=last)
        m.node("Softmax", ["x"], names=["n"])
        for condition in truth, odd:
            m.output(m.node("If", [condition], then_branch=body(
                [("Identity", ["n"], ["t"], {})], [], [("t", TensorProto.FLOAT, [4])]),
                else_branch=body([("Exp", ["n"], ["e"], {})], [],
                                 [("e", TensorProto.FLOAT, [4])])))
        m.output(m.node("Loop", [count, "", "n"], body=step))
        m.output(m.node("Loop", ["three", truth, "n"], body=step))
        many = m.node("Unsqueeze", [size, m.constant(number([0]))])
        m.output(m.node("Expand", [m.node("Slice", [
            "n", m.constant(number([0])), m.constant(number([1]))]), many]))
        m.check(["c99", "gnu-c", "misra", "cuda"], "--bound", "unsqueeze_10=6")


CASES = [branches, changing, conditional, counted, counting, decided, ended,
         first_condition, folded, refused, scans, sequences, shared, sized,
         sized_iterations, sized_scans, stacked, unchanged]

for case in CASES:
    if sys.argv[1:] == [case.__name__]:
        case()
        break
else:
    helper.fail("control_flow.py: one of " +
                ", ".join(case.__name__ for case in CASES))
