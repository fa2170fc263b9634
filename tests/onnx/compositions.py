#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compositions.py [PATTERN]: operators that are compositions of others, by
`tirc test` against onnx.reference or numpy, where ONNX's node tests do not
reach: symbolic sizes, optional inputs, types, refusals."""
import os
import sys

import numpy as np
import onnx
from onnx import helper as make
from onnx.reference import ReferenceEvaluator

import turns
from helper import EITHER, compile_model, fail, results_alone, tirc, \
    work_folder
from onnx_data import write_data

results_alone()

PATTERN = sys.argv[1] if len(sys.argv) > 1 else ""
random = np.random.default_rng(11)


def f(*shape, type=np.float32):
    return random.standard_normal(shape).astype(type)


def build(op, inputs, attrs, outputs, domain="", opset=24, symbolic=None,
          name="gate"):
    """A model of one node; `symbolic` gives names to dimensions of inputs:
    {input: {dimension: name}}."""
    names = [make.make_tensor_value_info(
        "x%d" % k, make.np_dtype_to_tensor_dtype(x.dtype),
        [(symbolic or {}).get(k, {}).get(d, n) for d, n in enumerate(x.shape)])
        for k, x in enumerate(inputs) if x is not None]
    node = make.make_node(
        op, ["x%d" % k if x is not None else ""
             for k, x in enumerate(inputs)],
        ["y%d" % k for k in range(outputs)], name=name, domain=domain, **attrs)
    graph = make.make_graph(
        [node], "g", names,
        [make.make_empty_tensor_value_info(o) for o in node.output])
    sets = [make.make_opsetid("", opset)]
    if domain:
        sets.append(make.make_opsetid(domain, 1))
    return make.make_model(graph, ir_version=10, opset_imports=sets)


def save(model):
    path = os.path.join(work_folder(), "m.onnx")
    onnx.save(model, path)
    return path


def check(label, op, inputs, attrs=None, outputs=1, want=None, options=(),
          **form):
    """`want`: the results, else onnx.reference computes them."""
    if PATTERN not in op + " " + label:
        return
    model = build(op, inputs, attrs or {}, outputs, **form)
    given = {"x%d" % k: x for k, x in enumerate(inputs) if x is not None}
    if want is None:
        want = ReferenceEvaluator(model).run(None, given)
    path = save(model)
    write_data(os.path.dirname(path), list(given.items()),
               [("y%d" % k, y) for k, y in enumerate(want)])
    for target in turns.some(op + label, EITHER):
        tirc("test", path, "--rtol", "2e-3" if any(
            y.dtype == np.float16 for y in want) else "1e-4", "--atol", "1e-6",
            *target, *options)


def refuse(op, inputs, attrs, text, outputs=1, **form):
    """The message names the model's node."""
    if PATTERN not in op + " refuse":
        return
    path = save(build(op, inputs, attrs, outputs, **form))
    done = tirc("compile", path, "-o", work_folder(), status=1)
    if text not in done.stderr or "'gate'" not in done.stderr:
        fail("%s: expected '%s':\n%s" % (op, text, done.stderr))


# -- SwiGLU, and the way from a node to its composition

check("symbolic", "SwiGLU", [f(3, 4), f(3, 4)], {"alpha": 2.0}, opset=28,
      symbolic={0: {0: "n"}, 1: {0: "n"}}, options=("--dim", "n=1..8"))
refuse("SwiGLU", [f(3, 4), f(5, 4)], {}, "does not broadcast", opset=28)
refuse("SwiGLU", [f(3, 4)], {}, "input 1 is missing; SwiGLU needs it", opset=28)
refuse("SwiGLU", [f(3, 4), f(3, 4)], {}, "SwiGLU has at most 1", outputs=2,
       opset=28)
if PATTERN in "SwiGLU names":
    folder = compile_model(save(build("SwiGLU", [f(3, 4), f(3, 4)], {}, 1,
                                      opset=28)))
    with open(os.path.join(folder, "g.c"), encoding="utf-8") as source:
        if 'gate (SwiGLU) -> "y0"' not in source.read():
            fail("the emitted code does not name the model's node")

# -- losses

labels = np.array([[0, 2, -7], [1, 1, 0]], np.int32)
for how in ("none", "sum", "mean"):
    check(how, "NegativeLogLikelihoodLoss", [f(2, 4, 3), labels, f(4)],
          {"reduction": how, "ignore_index": -7}, opset=22,
          symbolic={0: {0: "n", 2: "d"}, 1: {0: "n", 1: "d"}},
          options=("--dim", "n=1..4", "--dim", "d=1..5"))
check("two results", "SoftmaxCrossEntropyLoss",
      [f(3, 5, type=np.float64), np.array([4, 0, 2], np.int64)], outputs=2)
refuse("NegativeLogLikelihoodLoss", [f(2, 4), labels], {}, "one less")
refuse("SoftmaxCrossEntropyLoss", [f(2, 4, 3), labels], {"reduction": "all"},
       "its attribute reduction is 'all'")

# -- attention and rotary embedding

NAMES = {k: {0: "b", 2: "s"} for k in range(3)}
DIMS = ("--dim", "b=1..3", "--dim", "s=1..6")
check("symbolic", "Attention", [f(2, 4, 5, 8), f(2, 2, 5, 8), f(2, 2, 5, 6)],
      {"is_causal": 1}, symbolic=NAMES, options=DIMS)
check("symbolic flat", "Attention", [f(2, 5, 32), f(2, 5, 16), f(2, 5, 12)],
      {"q_num_heads": 4, "kv_num_heads": 2},
      symbolic={k: {0: "b", 1: "s"} for k in range(3)}, options=DIMS)
check("symbolic past", "Attention",
      [f(2, 4, 1, 8), f(2, 2, 1, 8), f(2, 2, 1, 6), None, f(2, 2, 7, 8),
       f(2, 2, 7, 6)], {"is_causal": 1}, outputs=3,
      symbolic={k: {2: "past"} for k in (4, 5)}, options=("--dim",
                                                          "past=1..9"))
check("float64 window", "Attention",
      [f(1, 2, 6, 4, type=np.float64), f(1, 2, 4, 4, type=np.float64),
       f(1, 2, 4, 3, type=np.float64)],
      {"left_window_size": 1, "right_window_size": 0}, opset=25)
check("heads of no elements", "Attention",
      [f(1, 2, 3, 0), f(1, 2, 5, 0), f(1, 2, 5, 4)])
refuse("Attention", [f(1, 5, 4, 8), f(1, 2, 4, 8), f(1, 2, 4, 8)], {},
       "the first must be a multiple")
refuse("Attention", [f(1, 4, 10), f(1, 4, 10), f(1, 4, 10)],
       {"q_num_heads": 4, "kv_num_heads": 2}, "cannot be split into 4 heads")
check("symbolic", "RotaryEmbedding",
      [f(2, 5, 32), f(9, 3), f(9, 3), random.integers(0, 9, (2, 5))],
      {"num_heads": 4, "rotary_embedding_dim": 6, "interleaved": 1},
      symbolic={0: {0: "b", 1: "s"}, 3: {0: "b", 1: "s"}}, options=DIMS)
refuse("RotaryEmbedding", [f(2, 3, 5, 8), f(9, 3), f(9, 3),
                           np.zeros((2, 5), np.int64)], {},
       "the last of 4 elements")

# -- operators that keep a state

check("symbolic", "CausalConvWithState", [f(2, 3, 5), f(3, 1, 4), f(3)],
      {"activation": "silu"}, outputs=2, opset=27,
      symbolic={0: {0: "b", 2: "s"}}, options=DIMS)
refuse("CausalConvWithState", [f(2, 3, 5), f(3, 1, 4)],
       {"activation": "relu"}, "its attribute activation is 'relu'", opset=27)
check("symbolic", "LinearAttention",
      [f(2, 5, 16), f(2, 5, 8), f(2, 5, 6), f(2, 2, 4, 3), -abs(f(2, 5, 8)),
       abs(f(2, 5, 2))], {"q_num_heads": 4, "kv_num_heads": 2}, outputs=2,
      opset=27, symbolic={k: {0: "b", 1: "s"} for k in (0, 1, 2, 4, 5)},
      options=("--dim", "b=2", "--dim", "s=1..6"))
refuse("LinearAttention", [f(2, 5, 16), f(2, 5, 8), f(2, 5, 6)],
       {"q_num_heads": 4, "kv_num_heads": 2}, "needs a decay", opset=27)
check("no places", "TensorScatter", [f(2, 6, 3), f(2, 4, 3)],
      symbolic={0: {1: "n"}}, options=("--dim", "n=4..6"))
refuse("TensorScatter", [f(2, 3, 3), f(2, 4, 3)], {}, "does not fit")
TRAINING = "ai.onnx.preview.training"
count = np.array(3, np.int64)
check("float64", "Adam", [np.array(0.1), count] +
      [abs(f(2, 3, type=np.float64)) for _ in range(4)],
      {"norm_coefficient": 0.1, "norm_coefficient_post": 0.2, "alpha": 0.9,
       "beta": 0.99, "epsilon": 1e-6}, outputs=3, domain=TRAINING)
refuse("Momentum", [f(), count, f(3), f(3)], {}, "for each tensor",
       domain=TRAINING)
refuse("MelWeightMatrix", [np.array(n, np.float32) for n in range(5)], {},
       "make it constant")

# -- of com.microsoft, what onnxruntime has no kernel for on a CPU; more in
# microsoft.py

MICROSOFT = {"domain": "com.microsoft", "opset": 17}
x, w, b, z = f(2, 5, 6, 4), f(3, 4, 2, 2), f(3), f(2, 4, 5, 3)
plain = ReferenceEvaluator(build("Conv", [x.transpose(0, 3, 1, 2), w, b], {},
                                 1)).run(
    None, {"x0": x.transpose(0, 3, 1, 2), "x1": w, "x2": b})[0]
check("sum", "NhwcFusedConv", [x, w, b, z], {"activation": "Relu"},
      want=[np.maximum(plain.transpose(0, 2, 3, 1) + z, 0)], **MICROSOFT)
for kind, zeros in (np.uint8, True), (np.int8, True), (np.int8, False):
    x = random.integers(0, 100, (2, 3, 4)).astype(kind)
    zero = np.array(4, kind)
    want = np.rint((x - 4.0 * zeros).mean((0, 2)) * 0.5 / 0.75) + 4 * zeros
    check("%s %s" % (kind.__name__, zeros), "QLinearReduceMean",
          [x, np.float32(0.5), zero if zeros else None, np.float32(0.75),
           zero if zeros else None], {"axes": [0, 2], "keepdims": 0},
          want=[want.astype(kind)], **MICROSOFT)


def group_norm(x, gamma, beta, groups, silu, last):
    """Of images."""
    x = np.moveaxis(x, -1, 1) if last else x
    parts = x.reshape(len(x), groups, -1).astype(np.float64)
    parts = (parts - parts.mean(-1, keepdims=True)) / np.sqrt(
        parts.var(-1, keepdims=True) + 1e-5)
    y = parts.reshape(x.shape) * gamma.reshape(-1, 1, 1) + \
        beta.reshape(-1, 1, 1)
    y = y / (1 + np.exp(-y)) if silu else y
    return (np.moveaxis(y, 1, -1) if last else y).astype(np.float32)


gamma, beta, bias = f(6), f(6), f(6)
for silu, last in (0, 1), (1, 1), (1, 0):
    x = f(2, 4, 5, 6) if last else f(2, 6, 4, 5)
    attrs = {"groups": 3, "activation": silu, "channels_last": last}
    check("%s" % attrs, "GroupNorm", [x, gamma, beta], attrs,
          want=[group_norm(x, gamma, beta, 3, silu, last)], **MICROSOFT)
    for skip in (f(*x.shape), f(2, 6)):
        s = x + (skip if skip.ndim == 4 else skip[:, None, None] if last
                 else skip[:, :, None, None]) + (
                     bias if last else bias[:, None, None])
        check("%s" % attrs, "SkipGroupNorm", [x, gamma, beta, skip, bias],
              attrs, outputs=2,
              want=[group_norm(s, gamma, beta, 3, silu, last), s], **MICROSOFT)
x, b, skip = f(2, 3, 8), f(8), f(2, 3, 8)
check("", "BiasAdd", [x, b, skip], want=[x + b + skip], **MICROSOFT)
gelu = ReferenceEvaluator(build("Gelu", [x], {}, 1))
gelu_tanh = ReferenceEvaluator(build("Gelu", [x], {"approximate": "tanh"}, 1))
halves = np.split(x + b, 2, -1)
check("", "BiasSplitGelu", [x, b],
      want=[halves[0] * gelu.run(None, {"x0": halves[1]})[0]], **MICROSOFT)
w = f(8, 5)
for given in ([x, w], [x, w, f(5)]):
    product = np.matmul(x, w) + (given[2] if len(given) > 2 else 0)
    check("%d inputs" % len(given), "GemmFastGelu", given,
          want=gelu_tanh.run(None, {"x0": product}), **MICROSOFT)
x, w = f(3, 4), f(5, 4)
for name, attrs, of in (
        ("Relu", {}, lambda y: np.maximum(y, 0)),
        ("LeakyRelu", {"activation_alpha": 0.2},
         lambda y: np.where(y < 0, np.float32(0.2) * y, y)),
        ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.4},
         lambda y: np.clip(0.3 * y + 0.4, 0, 1).astype(np.float32))):
    check(name, "FusedMatMulActivation", [x, w],
          {"activation": name, "transB": 1, "alpha": 0.5, **attrs},
          want=[of(np.float32(0.5) * x @ w.T)], **MICROSOFT)
refuse("FusedConv", [f(1, 2, 5, 5), f(3, 2, 3, 3)],
       {"activation": "Clip", "activation_params": [0.5] * 70000},
       "a list of more than 65536 elements", **MICROSOFT)
refuse("FusedMatMulActivation", [x, w], {"activation": "Softmax"},
       "the activation 'Softmax' is not supported", **MICROSOFT)
scores, mask = f(2, 3, 4, 5), f(2, 1, 1, 5)
for axis in (3, 2, -2):
    flat = np.exp(scores + mask).reshape(2, 3, 4 if axis == 3 else 1, -1)
    check("axis %d" % axis, "BiasSoftmax", [scores, mask],
          {"axis": axis, "is_inner_broadcast": 0},
          want=[(flat / flat.sum(-1, keepdims=True)).reshape(scores.shape)],
          **MICROSOFT)

# The norms of query and key of GroupQueryAttention.


def normed_heads(x, w, epsilon):
    heads = x.reshape(*x.shape[:2], -1, len(w))
    heads = heads / np.sqrt((heads * heads).mean(-1, keepdims=True) + epsilon)
    return (heads * w).reshape(x.shape).astype(np.float32)


parts = [f(1, 3, 16), f(1, 3, 8), f(1, 3, 8)]
norms = [f(8), f(8)]
q, k = (normed_heads(x, w, 1e-3) for x, w in zip(parts, norms))
q, k, v = (x.reshape(1, 3, -1, 8).transpose(0, 2, 1, 3)
           for x in (q, k, parts[2]))
scores = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(8)
scores = np.exp(np.where(np.tri(3) > 0, scores, -np.inf))
want = np.matmul(scores / scores.sum(-1, keepdims=True), v)
check("norms", "GroupQueryAttention",
      [*parts, None, None, np.array([2], np.int32), np.array([3], np.int32),
       *[None] * 7, *norms], {"num_heads": 2, "kv_num_heads": 1,
                              "qk_norm_epsilon": 1e-3}, outputs=3,
      want=[want.transpose(0, 2, 1, 3).reshape(1, 3, 16).astype(np.float32),
            k, v],
      options=("--const-input", "x6"), **MICROSOFT)
refuse("CDist", [f(2, 3), f(2, 3)], {"metric": "cosine"}, "'cosine' is not",
       **MICROSOFT)
byte = np.array([3], np.uint8)
refuse("QLinearAdd", [byte, np.float32(1), None, byte], {},
       "input 4 is missing", **MICROSOFT)
refuse("EmbedLayerNormalization",
       [np.zeros((2, 3), np.int32), None, f(4, 8), f(3, 8), f(2, 8), f(8),
        f(8)], {}, "are given together", **MICROSOFT)
refuse("GroupQueryAttention",
       [f(1, 2, 32), f(1, 2, 32), None, None, None, np.array([1], np.int32),
        np.array(2, np.int32)], {"num_heads": 4, "kv_num_heads": 4},
       "are given together", outputs=3, **MICROSOFT)
refuse("GatherBlockQuantized", [byte.reshape(1, 1), np.zeros(2, np.int64),
                                f(1, 1)],
       {"gather_axis": 1, "quantize_axis": 0}, "not supported", **MICROSOFT)

# -- Gradient, against differences


def forward_of(nodes, given, last):
    """The sum of the tensor `last` as a function of the inputs."""
    graph = make.make_graph(nodes, "g", [
        make.make_tensor_value_info(n, onnx.TensorProto.DOUBLE, x.shape)
        for n, x in given.items()], [make.make_empty_tensor_value_info(last)])
    model = make.make_model(graph, ir_version=10,
                            opset_imports=[make.make_opsetid("", 24)])
    evaluator = ReferenceEvaluator(model)
    return lambda values: evaluator.run(None, values)[0].sum()


def difference(run, given, name, step=1e-5):
    """The derivative of run by the input, element by element."""
    slope = np.zeros_like(given[name])
    for at in np.ndindex(slope.shape):
        both = []
        for sign in (1, -1):
            moved = {n: x.copy() for n, x in given.items()}
            moved[name][at] += sign * step
            both.append(run(moved))
        slope[at] = (both[0] - both[1]) / (2 * step)
    return slope


def gradient(label, text, given, xs, zs=(), fed=None, text_of=None,
             options=(), symbolic=None):
    """text: nodes "y = Op a b; …", of which the last is y. fed: what the
    Gradient has as inputs, by name, where that is another tensor. text_of: the
    message of a refusal."""
    if PATTERN not in "Gradient " + label:
        return
    nodes = []
    for line in text.split("; "):
        out, op, *names = line.replace(" = ", " ").split()
        attrs = {}
        while names and "=" in names[-1]:
            key, value = names.pop().split("=")
            attrs[key] = eval(value)
        nodes.append(make.make_node(op, names, [out], name=out, **attrs))
    y, fed = nodes[-1].output[0], fed or {}
    names = [*xs, *zs]
    values = {**given, **{n: given[fed[n]] for n in fed}}
    step = make.make_node(
        "Gradient", [fed.get(n, n) for n in names],
        ["d" + n for n in xs], name="gate", domain=TRAINING, xs=list(xs),
        y=y, **({"zs": list(zs)} if zs else {}))
    graph = make.make_graph(nodes + [step], "g", [
        make.make_tensor_value_info(
            n, onnx.TensorProto.DOUBLE,
            [(symbolic or {}).get(n, {}).get(d, s)
             for d, s in enumerate(x.shape)])
        for n, x in given.items()],
        [make.make_empty_tensor_value_info("d" + n) for n in xs])
    path = save(make.make_model(graph, ir_version=10, opset_imports=[
        make.make_opsetid("", 24), make.make_opsetid(TRAINING, 1)]))
    if text_of:
        done = tirc("compile", path, "-o", work_folder(), status=1)
        if text_of not in done.stderr or "'gate'" not in done.stderr:
            fail("%s: expected '%s':\n%s" % (label, text_of, done.stderr))
        return
    own = [n for n in nodes if not set(n.output) & set(names)]
    leaves = {n: values[n] for n in names}
    run = forward_of(own, {**given, **leaves}, y)
    write_data(os.path.dirname(path), list(given.items()),
               [("d" + n, difference(run, {**given, **leaves}, n))
                for n in xs])
    for target in turns.some(label, EITHER):
        tirc("test", path, "--rtol", "1e-5", "--atol", "1e-7", *target,
             *options)


def pair():
    return {"a": f(3, 4, type=np.float64), "b": f(4, type=np.float64)}


def some(*shape):
    return {"a": 0.5 + abs(f(*shape, type=np.float64))}


gradient("broadcast", "s = Add a b; p = Mul s a; q = Sub p b; y = Div q b",
         pair(), ["a", "b"])
gradient("symbolic", "s = Add a b; p = Mul s a; y = Sub p b", pair(),
         ["a", "b"], symbolic={"a": {0: "n"}}, options=("--dim", "n=1..4"))
for op in ("Neg", "Exp", "Log", "Sqrt", "Tanh", "Sigmoid", "Relu"):
    gradient(op, "t = %s a; y = Mul t a" % op, some(2, 3), ["a"])
gradient("Relu", "y = Relu a", {"a": f(4, 5, type=np.float64)}, ["a"])
gradient("moved", "t = Transpose a perm=[2,0,1]; s = Flatten t axis=2; "
         "e = Exp s; i = Identity e; y = Sum i e", some(2, 3, 4), ["a"])
for op in ("ReduceSum", "ReduceMean"):
    gradient(op, "m = %s a keepdims=0; y = Mul m a" % op, some(3, 4), ["a"])
gradient("MatMul", "p = MatMul a b; e = Tanh p; y = ReduceSum e",
         {"a": f(2, 1, 3, 4, type=np.float64),
          "b": f(3, 4, 5, type=np.float64)}, ["a", "b"])
gradient("constant", "p = Mul a b; y = Exp p", pair(), ["a"], ["b"])
gradient("absent", "y = Exp a", pair(), ["b", "a"])
gradient("inner", "h = Exp a; p = Mul h b; y = Tanh p",
         {**pair(), "h1": f(3, 4, type=np.float64)}, ["h", "b"],
         fed={"h": "h1"})
gradient("refuse", "h = Erf a; y = Mul h a", some(3), ["a"],
         text_of="the gradient of Erf, which is not supported")
gradient("refuse vector", "y = MatMul a b", pair(), ["a", "b"],
         text_of="MatMul of a vector")
refuse("Gradient", [f(3)], {"xs": ["x0", "x1"], "y": "x0"},
       "an input for each of xs and zs", domain=TRAINING)
refuse("Gradient", [f(3)], {"xs": ["absent"], "y": "x0"},
       "names a tensor that the model does not have", domain=TRAINING)

# -- Dropout in training mode: the mask of numpy's RandomState

for trained in (True, False):
    check("training %s" % trained, "Dropout",
          [f(3, 40, type=np.float64), np.array(0.3), np.array(trained)],
          {"seed": 12345}, outputs=2, opset=22)

# -- recurrent operators and transforms; more in tests/exec/operators/recurrent.py and
# fourier.py

for op, gates in ("LSTM", 4), ("GRU", 3), ("RNN", 1):
    weights = [f(1, gates * 3, 4), f(1, gates * 3, 3), f(1, 2 * gates * 3)]
    check("symbolic", op, [f(5, 2, 4), *weights], {"hidden_size": 3},
          outputs=2, opset=22, symbolic={0: {0: "t", 1: "b"}},
          options=("--dim", "t=1..9", "--dim", "b=1..3"))
    refuse(op, [f(5, 2, 4), *weights], {"activations": ["Cosine"] * gates},
           "its attribute activations is 'Cosine'; it must be 'Affine'",
           opset=22)
    refuse(op, [f(5, 2, 4), *weights], {"direction": "bidirectional"},
           "for 2 directions", opset=22)
check("symbolic", "DFT", [f(3, 4, 2)], symbolic={0: {0: "n"}}, opset=20,
      options=("--dim", "n=1..5"))
refuse("DFT", [f(3, 4, 2), np.array(3)], {}, "must be one constant integer",
       opset=20)
refuse("DFT", [f(3, 4, 3)], {}, "is not 1 (real) or 2 (complex)", opset=20)
refuse("STFT", [f(3, 40, 1), np.array(3)], {}, "must be one constant integer",
       opset=17)
