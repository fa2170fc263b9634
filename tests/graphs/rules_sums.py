# SPDX-License-Identifier: Apache-2.0
"""Rules for reductions, products, normalisations and Einsum."""
import numpy as np

import values
from maker import SYMBOL
from reference import Rejected
from large import F, IMAGE, ROW, case, floats, ints


def reduce(op):
    def rule(g):
        x = g.data(g.types(op))
        rank = g.value(x).ndim
        axes = [d - (rank if g.chance() else 0) for d in range(rank)
                if g.chance()]
        inputs = [x]
        if axes or g.chance(0.3):
            inputs.append(g.constant(axes))
        g.node(op, inputs, keepdims=g.number(0, 1),
               noop_with_empty_axes=g.number(0, 1) if g.chance(0.3) else 0)
    return rule


def arg(op):
    def rule(g):
        x = g.data(g.types(op), 1, 4, lambda s: 0 not in s,
                   g.choice(["integers", None]))
        rank = g.value(x).ndim
        g.node(op, [x], axis=g.number(-rank, rank - 1),
               keepdims=g.number(0, 1), select_last_index=g.number(0, 1))
    return rule


def top_k(g):
    x = g.data(g.types("TopK"), 1, 4, lambda s: 0 not in s,
               g.choice(["integers", None]))
    shape = g.value(x).shape
    axis = g.number(-len(shape), len(shape) - 1)
    k = np.array([g.number(1, shape[axis])], np.int64)
    g.node("TopK", [x, g.add(k, "constant")], 2, axis=axis,
           largest=g.number(0, 1))


def along_axis(op, **more):
    def rule(g):
        x = g.data(g.types(op), 1, 4)
        rank = g.value(x).ndim
        extra = {"axis": g.number(-rank, rank - 1)} if g.chance(0.8) else {}
        if op == "LpNormalization":
            extra["p"] = g.number(1, 2)
        g.node(op, [x], **extra)
    return rule


def matmul(g):
    a = g.data(g.types("MatMul"), 1, 4)
    shape = g.value(a).shape
    k = shape[-1]
    batch = [n if g.chance(0.6) and n != SYMBOL else 1 for n in shape[:-2]]
    if g.chance(0.3):
        batch = []
    other = [k] if g.chance(0.15) and not batch else \
        batch + [k, g.size()]
    b = g.exact(g.dtype(a), other, constant=None if g.chance(0.5) else True)
    if g.chance(0.2) and len(other) > 1 and len(shape) > 1:
        # the new tensor is on the left
        m = g.size()
        left = g.exact(g.dtype(a), batch + [m, shape[-2]])
        g.node("MatMul", [left, a])
        return
    g.node("MatMul", [a, b])


def gemm(g):
    a = g.data(g.types("Gemm"), 2, 2)
    shape = g.value(a).shape
    trans_a, trans_b = g.number(0, 1), g.number(0, 1)
    m, k = shape[::-1] if trans_a else shape
    n = g.size()
    b = g.exact(g.dtype(a), [n, k] if trans_b else [k, n],
                constant=None if g.chance(0.5) else True)
    inputs = [a, b]
    if g.chance(0.7):
        c = g.choice([[n], [1, n], [m, 1], [m, n], [1], [], [1, 1]])
        inputs.append(g.exact(g.dtype(a), c))
    more = {}
    if g.chance(0.4):
        integer = values.is_integer(g.value(a))
        more = {"alpha": float(g.choice([2, 3]) if integer
                               else g.choice([0.5, -1.5, 0.0])),
                "beta": float(g.choice([1, 2]) if integer
                              else g.choice([0.25, 2, 0.0]))}
    g.node("Gemm", inputs, transA=trans_a, transB=trans_b, **more)


EQUATIONS = [
    "ij,jk->ik", "ij,jk", "bij,bjk->bik", "bij,bkj->bik", "ij->ji", "ij->",
    "ij->j", "i,j->ij", "i,i->", "...ij,...jk->...ik", "bhc,hkc->bhk",
    "ij,ij->", "ij,ij->i", "ijk->ik", "abc,cd,de->abe", "bqhd,bkhd->bhqk",
    "ii->i", "ii", "i,ij,j->", "...i->...", "ij,kj->ikj"]


def einsum(g):
    equation = g.choice(EQUATIONS)
    kind = g.type(g.types("Einsum"))
    sizes = {letter: g.size(6) for letter in "abcdehijkq"}
    dots = [g.size(4) for _ in range(g.number(0, 2))]
    inputs = []
    for term in equation.split("->")[0].split(","):
        shape = dots if term.startswith("...") else []
        shape = list(shape) + [sizes[c] for c in term.replace("...", "")]
        inputs.append(g.exact(kind, shape))
    g.node("Einsum", inputs, equation=equation)


def layer_norm(op):
    def rule(g):
        x = g.data(g.types(op), 1, 4, lambda s: 0 not in s)
        shape = list(g.value(x).shape)
        axis = g.number(0, len(shape) - 1)
        if SYMBOL in shape[axis:]:
            raise Rejected("a symbolic scale")
        scale = shape[axis:]
        inputs = [x, g.exact(g.dtype(x), scale)]
        more = {"epsilon": g.choice([1e-5, 1e-3])} if g.chance(0.7) else {}
        if g.chance(0.7) or axis != len(shape) - 1:
            more["axis"] = axis - (len(shape) if g.chance() else 0)
        outputs = 1
        if op == "LayerNormalization":
            if g.chance():
                inputs.append(g.exact(g.dtype(x), scale))
            outputs = g.choice([1, 1, 1, 2, 3])
        g.node(op, inputs, outputs, **more)
    return rule


def channels(g, op, low=2):
    """A tensor with a second dimension, and that dimension's size."""
    x = g.data(g.types(op), low, 4, lambda s: 0 not in s and s[1] != SYMBOL)
    return x, g.value(x).shape[1]


def attention(g):
    """With what makes tirc.Band: a causal mask."""
    kind = g.choice(["float32", "float64", "float16"])
    batch, heads, size = g.number(1, 2), g.number(1, 3), g.number(1, 5)
    tokens, keys = g.number(1, 6), g.number(1, 6)
    g.node("Attention", [g.exact(kind, [batch, heads, tokens, size]),
                         g.exact(kind, [batch, heads, keys, size]),
                         g.exact(kind, [batch, heads, keys, g.number(1, 4)])],
           is_causal=1)


def linear_attention(g):
    heads, values = g.number(1, 3), g.number(1, 4)
    tokens, keys = g.number(1, 5), g.number(1, 4)
    shape = [g.number(1, 2), tokens, heads * keys]
    data = [g.exact("float32", shape) for _ in range(2)]
    data.append(g.exact("float32", shape[:2] + [heads * values]))
    g.node("LinearAttention", data, update_rule="linear", q_num_heads=heads,
           kv_num_heads=heads)


def recurrent(op, gates):
    """Makes the operator of recurrent.c."""
    def rule(g):
        times, rows, size, hidden = (g.number(1, 4) for _ in range(4))
        both = g.number(1, 2)
        more = {"linear_before_reset": g.number(0, 1)} if op == "GRU" else {}
        x = g.exact("float32", [times, rows, size])
        parts = [g.fresh("float32", [both, *shape], constant=g.chance(0.8))
                 for shape in ([gates * hidden, size], [gates * hidden, hidden],
                               [2 * gates * hidden])]
        g.node(op, [x, *parts], g.number(1, 2), hidden_size=hidden,
               direction=["forward", "bidirectional"][both - 1], **more)
    return rule


def dynamic_lstm(g):
    """Makes tirc.LSTM with weights of bytes."""
    times, rows, size, hidden = (g.number(1, 4) for _ in range(4))
    both = g.number(1, 2)
    inputs = [g.exact("float32", [times, rows, size])]
    kind = g.choice(["int8", "uint8"])
    inputs += [g.exact(kind, [both, n, 4 * hidden], "large", True)
               for n in (size, hidden)]
    inputs += [g.fresh("float32", [both, 8 * hidden], constant=True)
               if g.chance() else None] + [None] * 4
    for _ in range(2):
        of = g.choice([[both], [both, 4 * hidden]])
        inputs.append(g.add(g.rng.uniform(0.001, 0.02, of).astype(
            np.float32), "constant"))
        inputs.append(g.exact(kind, of, "large", True))
    g.node("DynamicQuantizeLSTM", inputs, g.number(1, 3),
           domain="com.microsoft", hidden_size=hidden,
           direction=["forward", "bidirectional"][both - 1])


def frames(g):
    """Makes tirc.Frames."""
    length = g.number(1, 6)
    x = g.exact("float32", [g.number(1, 2), length + g.number(0, 9), 1])
    g.node("STFT", [x, g.constant(g.number(1, 4)), None,
                    g.constant(length)])


def determinant(g):
    kind = g.choice(["float32", "float64", "float16"])
    size = g.number(1, 4)
    g.node("Det", [g.exact(kind, [g.number(1, 3), size, size])])


def inverse(g):
    """Makes tirc.Inverse, of matrices that are far from singular ones."""
    size = g.number(1, 4)
    x = g.rng.uniform(-1, 1, (g.number(1, 3), size, size)) + \
        3 * np.eye(size)[g.rng.permutation(size)]
    g.node("Inverse", [g.add(x.astype(np.float32), "input")],
           domain="com.microsoft")


def batch_norm(g):
    x, c = channels(g, "BatchNormalization")
    kind = g.dtype(x)
    parts = [g.exact(kind, [c], constant=None if g.chance(0.2) else True)
             for _ in range(3)]
    variance = g.fresh(kind, [c], "positive", g.chance(0.8))
    more = {"epsilon": 1e-3} if g.chance() else {}
    if g.chance(0.15):
        g.node("BatchNormalization", [x, *parts, variance],
               g.choice([1, 3]), training_mode=1, momentum=0.7, **more)
        return
    g.node("BatchNormalization", [x, *parts, variance], **more)


def instance_norm(g):
    x, c = channels(g, "InstanceNormalization", 3)
    kind = g.dtype(x)
    g.node("InstanceNormalization", [x, g.exact(kind, [c]),
                                     g.exact(kind, [c])],
           epsilon=g.choice([1e-5, 1e-2]))


def group_norm(g):
    x, c = channels(g, "GroupNormalization")
    kind = g.dtype(x)
    groups = g.choice([n for n in range(1, c + 1) if c % n == 0])
    of = [groups if g.graph.opset < 21 else c]
    g.node("GroupNormalization", [x, g.exact(kind, of), g.exact(kind, of)],
           num_groups=groups, epsilon=g.choice([1e-5, 1e-2]))


def mean_variance(g):
    x = g.data(g.types("MeanVarianceNormalization"), 4, 4,
               lambda s: 0 not in s)
    more = {}
    if g.chance(0.4):
        more["axes"] = [int(d) for d in np.sort(
            g.rng.permutation(4)[:g.number(1, 3)])]
    g.node("MeanVarianceNormalization", [x], **more)


def lrn(g):
    x = g.data(g.types("LRN"), 4, 4, lambda s: 0 not in s)
    more = {name: value for name, value in
            (("alpha", 0.02), ("beta", 0.6), ("bias", 1.5)) if g.chance(0.6)}
    g.node("LRN", [x], size=g.choice([1, 3, 5]), **more)


RULES = {op: reduce(op) for op in [
    "ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin",
    "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
    "ReduceLogSumExp"]}
RULES.update({op: along_axis(op) for op in [
    "Softmax", "LogSoftmax", "Hardmax", "LpNormalization"]})
RULES.update({
    "TopK": top_k, "ArgMax": arg("ArgMax"), "ArgMin": arg("ArgMin"),
    "MatMul": matmul, "Gemm": gemm, "Einsum": einsum, "Det": determinant,
    "LayerNormalization": layer_norm("LayerNormalization"),
    "RMSNormalization": layer_norm("RMSNormalization"),
    "BatchNormalization": batch_norm,
    "InstanceNormalization": instance_norm,
    "GroupNormalization": group_norm,
    "MeanVarianceNormalization": mean_variance, "LRN": lrn})

# One node of the size that models have, for tests/ops/work.py.
LARGE = {
    "Softmax": case([ROW]),
    "LogSoftmax": case([ROW]),
    "Hardmax": case([ROW]),
    "Det": case([(F, [64, 8, 8])], products=64 * 8 * 8 * 8),
    "MatMul": case([(F, [64, 128]), (F, [128, 96])], products=64 * 128 * 96),
    "Gemm": case([(F, [64, 128]), (F, [128, 96]), (F, [96])], products=64 * 128
        * 96),
    "Einsum": case([(F, [4, 64, 32]), (F, [4, 32, 48])], products=4 * 64 * 32 *
        48, equation="bij,bjk->bik"),
    "BatchNormalization": case([IMAGE] + [floats(16)] * 4),
    "InstanceNormalization": case([IMAGE, (F, [16]), (F, [16])]),
    "GroupNormalization": case([IMAGE, (F, [16]), (F, [16])], num_groups=4),
    "LayerNormalization": case([ROW, (F, [512]), (F, [512])]),
    "RMSNormalization": case([ROW, (F, [512])]),
    "MeanVarianceNormalization": case([IMAGE]),
    "LRN": case([IMAGE], products=16 * 1600 * 5, size=5),
    "LpNormalization": case([ROW]),
}
for name in ("Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "SumSquare",
             "LogSum", "LogSumExp"):
    LARGE["Reduce" + name] = case([ROW, ints(1)])
LARGE["TopK"] = case([ROW, ints(10)], outputs=2)
for name in ("ArgMax", "ArgMin"):
    LARGE[name] = case([ROW], axis=1)
