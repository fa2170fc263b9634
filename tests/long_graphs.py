# SPDX-License-Identifier: Apache-2.0
"""Graphs of any length, to see how generating them grows: chains, ladders
(each step reads the last two), fans, nodes of as many inputs or outputs, and
random graphs."""
import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

SHAPE = [4, 8]
STEPS = ("Relu", "Neg", "Abs", "Floor")
RANDOM_STEPS = (("Relu", 1), ("Neg", 1), ("Tanh", 1), ("Softmax", 1),
                ("MatMul", 1), ("Add", 2), ("Mul", 2), ("Max", 3))


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, **attributes)


def names(letter, n):
    return ["%s%d" % (letter, i) for i in range(n)]


def chain(n):
    t = names("t", n + 1)
    return ([node(STEPS[i % 4], [t[i]], [t[i + 1]]) for i in range(n)],
            {"t0": SHAPE}, {t[n]: SHAPE}, {})


def rows(n):
    t = names("t", n + 1)
    return ([node("Softmax" if i % 2 else "Relu", [t[i]], [t[i + 1]])
             for i in range(n)], {"t0": SHAPE}, {t[n]: SHAPE}, {})


def doubles(n):
    """t + relu(t): written out, twice as long with each step."""
    nodes = []
    for i in range(n // 2):
        nodes += [node("Relu", ["t%d" % i], ["r%d" % i]),
                  node("Add", ["r%d" % i, "t%d" % i], ["t%d" % (i + 1)])]
    return nodes, {"t0": SHAPE}, {"t%d" % (n // 2): SHAPE}, {}


def triples(n):
    """x < 0 ? x * a : x and its like: written out, three times as long with each
    step."""
    t = names("t", n + 1)
    return ([node("LeakyRelu" if i % 2 else "HardSwish", [t[i]], [t[i + 1]])
             for i in range(n)], {"t0": SHAPE}, {t[n]: SHAPE}, {})


def turns(n):
    """A Transpose that moves behind each step, and merges with the next one."""
    nodes = []
    for i in range(n // 2):
        nodes += [node("Transpose", ["t%d" % i], ["s%d" % i], perm=[1, 0]),
                  node("Sin", ["s%d" % i], ["t%d" % (i + 1)])]
    return (nodes, {"t0": SHAPE},
            {"t%d" % (n // 2): SHAPE[::-1] if n // 2 % 2 else SHAPE}, {})


def rows_of(n):
    """Kernels that differ in the index of what they read."""
    r = names("r", n)
    return ([node("Split", ["x"], r, axis=0, num_outputs=n)] +
            [node("Sin", [r[i]], ["y%d" % i]) for i in range(n)],
            {"x": [n, 8]}, {"y%d" % i: [1, 8] for i in range(n)}, {})


def slopes(n):
    """Nodes that differ in a float attribute; all results are live together."""
    y = names("y", n)
    return ([node("LeakyRelu", ["x"], [y[i]], alpha=(i + 1) / (n + 1))
             for i in range(n)] + [node("Max", y, ["y"])],
            {"x": SHAPE}, {"y": SHAPE}, {})


def ladder(n):
    nodes = []
    for i in range(n // 2):
        nodes += [node("MatMul", ["t%d" % i, "w"], ["m%d" % i]),
                  node("Add", ["m%d" % i, "t%d" % i], ["t%d" % (i + 1)])]
    return (nodes, {"t0": SHAPE}, {"t%d" % (n // 2): SHAPE},
            {"w": np.full((8, 8), 0.01, np.float32)})


def layers(n):
    t = names("t", n + 1)
    return ([node("MatMul", [t[i], "w%d" % i], [t[i + 1]]) for i in range(n)],
            {"t0": SHAPE}, {t[n]: SHAPE},
            {"w%d" % i: np.full((8, 8), i % 7, np.float32)
             for i in range(n)})


def fan(n):
    return ([node(STEPS[i % 4], ["x"], ["y%d" % i]) for i in range(n)],
            {"x": SHAPE}, {"y%d" % i: SHAPE for i in range(n)}, {})


def views(n):
    nodes = []
    for i in range(n // 2):
        nodes += [node("Softmax", ["t%d" % i], ["s%d" % i]),
                  node("Reshape", ["s%d" % i, "ab"[i % 2]],
                       ["t%d" % (i + 1)])]
    return (nodes, {"t0": SHAPE},
            {"t%d" % (n // 2): [8, 4] if n // 2 % 2 else SHAPE},
            {"a": np.array([8, 4]), "b": np.array([4, 8])})


def many(kind, result, **attributes):
    def make(n):
        x = names("x", n)
        return ([node(kind, x, ["y"], **attributes)],
                {name: SHAPE for name in x}, {"y": result(n)}, {})
    return make


def split(n):
    y = names("y", n)
    return ([node("Split", ["x"], y, axis=0, num_outputs=n)],
            {"x": [4 * n, 8]}, {name: SHAPE for name in y}, {})


def split_sum(n):
    y = names("y", n)
    return ([node("Split", ["x"], y, axis=0, num_outputs=n),
             node("Sum", y, ["y"])],
            {"x": [4 * n, 8]}, {"y": SHAPE}, {})


def constants(n):
    c = names("c", n + 1)
    return ([node("Mul" if i % 2 else "Add", [c[i], "c0"], [c[i + 1]])
             for i in range(n)] + [node("Add", ["x", c[n]], ["y"])],
            {"x": SHAPE}, {"y": SHAPE}, {"c0": np.ones(SHAPE, np.float32)})


def branch(name, kind, result):
    return helper.make_graph(
        [node(kind, [name], [result])], "branch", [],
        [helper.make_tensor_value_info(result, onnx.TensorProto.FLOAT,
                                       SHAPE)])


def ifs(n):
    """An If of a known condition for each step, which becomes its branch."""
    t = names("t", n + 1)
    return ([node("If", ["go"], [t[i + 1]],
                  then_branch=branch(t[i], STEPS[i % 4], "a%d" % i),
                  else_branch=branch(t[i], "Sqrt", "b%d" % i))
             for i in range(n)],
            {"t0": SHAPE}, {t[n]: SHAPE}, {"go": np.array(True)})


def copies(n):
    """A Loop that becomes n copies of its body: its state is a sequence."""
    info = helper.make_tensor_value_info
    sequence = helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [node("SequenceAt", ["s", "first"], ["e"]),
         node("Neg", ["e"], ["f"]),
         node("SequenceConstruct", ["f"], ["r"])], "body",
        [info("i", onnx.TensorProto.INT64, []),
         info("c", onnx.TensorProto.BOOL, []),
         sequence("s", onnx.TensorProto.FLOAT, SHAPE)],
        [info("c", onnx.TensorProto.BOOL, []),
         sequence("r", onnx.TensorProto.FLOAT, SHAPE)])
    return ([node("SequenceConstruct", ["x"], ["s0"]),
             node("Loop", ["trips", "", "s0"], ["s1"], body=body),
             node("SequenceAt", ["s1", "first"], ["y"])],
            {"x": SHAPE}, {"y": SHAPE},
            {"trips": np.array(n), "first": np.array(0)})


def inserts(n):
    """A sequence that grows by one element with each step."""
    s = names("s", n // 2 + 1)
    nodes = [node("SequenceEmpty", [], ["s0"])]
    for i in range(n // 2):
        nodes += [node(STEPS[i % 4], ["x"], ["e%d" % i]),
                  node("SequenceInsert", [s[i], "e%d" % i], [s[i + 1]])]
    return (nodes + [node("ConcatFromSequence", [s[-1]], ["y"], axis=0)],
            {"x": SHAPE}, {"y": [4 * (n // 2), 8]}, {})


def random_nodes(n):
    """Each node reads some of the last 64 results."""
    draw = random.Random(n)
    open_ends, nodes = {"t0"}, []
    for i in range(n):
        kind, count = draw.choice(RANDOM_STEPS)
        read = ["t%d" % draw.randint(max(0, i - 63), i) for _ in range(count)]
        open_ends.difference_update(read)
        open_ends.add("t%d" % (i + 1))
        nodes.append(node(kind, read + ["w"] * (kind == "MatMul"),
                          ["t%d" % (i + 1)]))
    ends = sorted(open_ends, key=lambda name: int(name[1:]))
    return (nodes + [node("Sum", ends, ["y"])], {"t0": SHAPE},
            {"y": SHAPE}, {"w": np.full((8, 8), 0.01, np.float32)})


KINDS = {
    "chain": chain, "rows": rows, "doubles": doubles, "ladder": ladder,
    "triples": triples, "slopes": slopes, "turns": turns,
    "rows_of": rows_of,
    "layers": layers, "fan": fan, "views": views,
    "concat": many("Concat", lambda n: [4 * n, 8], axis=0),
    "columns": many("Concat", lambda n: [4, 8 * n], axis=1),
    "sum": many("Sum", lambda n: SHAPE),
    "max": many("Max", lambda n: SHAPE),
    "split": split, "split_sum": split_sum, "constants": constants,
    "ifs": ifs, "copies": copies,
    "inserts": inserts, "random": random_nodes,
}


def in_steps(v):
    for i in range(100):
        v = (np.maximum(v, 0), -v, abs(v), np.floor(v))[i % 4]
    return v


def in_triples(v):
    for i in range(100):
        v = np.where(v < 0, v * np.float32(0.01), v) if i % 2 else \
            v * np.clip(v / np.float32(6) + np.float32(0.5), 0, 1)
    return v


def in_turns(v):
    for _ in range(50):
        v = np.sin(v.T)
    return v


# What 100 of some of them give.
EXPECTED = {
    "chain": lambda v: [in_steps(v[0])],
    "triples": lambda v: [in_triples(v[0])],
    "turns": lambda v: [in_turns(v[0])],
    "slopes": lambda v: [np.where(v[0] < 0, v[0] / np.float32(101), v[0])],
    "concat": lambda v: [np.concatenate(v, 0)],
    "columns": lambda v: [np.concatenate(v, 1)],
    "sum": lambda v: [np.sum(v, 0, np.float32)],
    "max": lambda v: [np.max(v, 0)],
    "split": lambda v: np.split(v[0], 100),
    "ifs": lambda v: [in_steps(v[0])],
    "copies": lambda v: [v[0]],
    "split_sum": lambda v: [np.sum(np.split(v[0], 100), 0, np.float32)],
}


def write(path, kind, n):
    """Writes the model; gives the shapes of its inputs."""
    nodes, inputs, outputs, data = KINDS[kind](n)
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, kind,
        [info(k, onnx.TensorProto.FLOAT, v) for k, v in inputs.items()],
        [info(k, onnx.TensorProto.FLOAT, v) for k, v in outputs.items()],
        [numpy_helper.from_array(v, k) for k, v in data.items()])
    onnx.save(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8),
        path)
    return list(inputs.values())
