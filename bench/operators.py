#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single operators beside onnxruntime: a model of one node each, one thread.

The sizes are those of real networks, the data are random. Both run in turn, a
few milliseconds each; a time is the least median of such a turn, which other
load on the machine changes least. Results are compared before."""
import argparse
import fnmatch
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests"))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx import helper as oh  # noqa: E402
import cpu  # noqa: E402
import cpu_driver  # noqa: E402

TURN_SECONDS = 0.003
CASES = {}
RNG = np.random.default_rng(0)


def case(name, op_type, inputs, constants=(), outputs=("y",), domain="",
         kind=TensorProto.FLOAT, **attributes):
    """inputs: arrays, of which those in `constants` are initializers; None is
    an absent input."""
    CASES[name] = (op_type, inputs, constants, outputs, domain, kind,
                   attributes)


def make(name, path):
    """Writes the model of a case; its inputs."""
    op_type, inputs, constants, outputs, domain, kind, attributes = CASES[name]
    inputs = inputs()
    names = ["x%d" % i if a is not None else "" for i, a in enumerate(inputs)]
    given, weights = [], []
    for i, array in enumerate(inputs):
        if array is None:
            continue
        if i in constants:
            weights.append(numpy_helper.from_array(array, names[i]))
        else:
            given.append(oh.make_tensor_value_info(
                names[i], oh.np_dtype_to_tensor_dtype(array.dtype),
                array.shape))
    kinds = kind if isinstance(kind, tuple) else (kind,) * len(outputs)
    graph = oh.make_graph(
        [oh.make_node(op_type, names, outputs, domain=domain, **{
            key: value() if callable(value) else value
            for key, value in attributes.items()})], "g", given,
        [oh.make_tensor_value_info(o, k, None)
         for o, k in zip(outputs, kinds) if o], weights)
    model = oh.make_model(graph, ir_version=10, opset_imports=[
        oh.make_opsetid("", 23), oh.make_opsetid("ai.onnx.ml", 3)])
    onnx.save(model, path)
    return {v.name: inputs[int(v.name[1:])] for v in given}


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def recurrent(op_type, gates, times, rows, inputs=128, hidden=256):
    case("%s, %d times, %d row%s" % (op_type, times, rows, "s" * (rows > 1)),
         op_type,
         lambda: [normal(times, rows, inputs),
                  normal(1, gates * hidden, inputs) / 16,
                  normal(1, gates * hidden, hidden) / 16,
                  normal(1, 2 * gates * hidden)],
         (1, 2, 3), ("y", "h"), hidden_size=hidden)


for _op, _gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
    recurrent(_op, _gates, 50, 1)
    recurrent(_op, _gates, 20, 16)


def attention(name, heads, tokens, kept, key_heads=None, **attributes):
    key_heads = key_heads or heads

    def inputs():
        made = [normal(1, heads, tokens, 64), normal(1, key_heads, tokens, 64),
                normal(1, key_heads, tokens, 64)]
        if kept:
            made += [None, normal(1, key_heads, kept, 64),
                     normal(1, key_heads, kept, 64)]
        return made

    case("Attention, " + name, "Attention", inputs,
         outputs=("y", "k", "v") if kept else ("y",), **attributes)


attention("12 heads, 197 tokens", 12, 197, 0)
attention("12 heads, 256 tokens, causal", 12, 256, 0, is_causal=1)
attention("12 heads, a token, 511 kept", 12, 1, 511)
attention("32 heads, 8 of keys, a token, 511 kept", 32, 1, 511, 8)


def simple(op_type, shape, *constants, **attributes):
    """An operator of one array of this shape, and of constants: (type, values),
    None for an absent one. The name of the case has the short constants."""
    words = [str(values).replace(" ", "") for _, values in constants
             if values is not None and np.size(values) <= 8]
    words += ["%s=%s" % item for item in sorted(attributes.items())
              if item[0] != "kind"]
    case(", ".join([op_type, "x".join(map(str, shape)), *words]), op_type,
         lambda: [normal(*shape)] + [None if values is None
                                     else np.array(values, kind)
                                     for kind, values in constants],
         range(1, 1 + len(constants)), **attributes)


for _op in ("Tanh", "Erf", "Sigmoid", "Softplus", "Exp", "Log", "Gelu", "Elu",
            "HardSwish", "Sin", "Cos"):
    simple(_op, (1, 64, 56, 56))
for _shape in ((1, 1000), (12, 128, 128), (12, 197, 197), (64, 30522)):
    simple("Softmax", _shape)
simple("Softmax", (1, 21, 128, 128), axis=1)
simple("LogSoftmax", (64, 1000))
for _op in ("ReduceSum", "ReduceMax", "ReduceMean"):
    for _axes in ([1], [2, 3], [3], [0, 1]):
        simple(_op, (8, 64, 56, 56), ("int64", _axes), keepdims=0)
for _axis in (1, 3):
    simple("ArgMax", (8, 64, 56, 56), axis=_axis, kind=TensorProto.INT64)
simple("CumSum", (64, 1000), ("int64", 1))
simple("Tile", (1, 64, 28, 28), ("int64", [1, 1, 2, 2]))
simple("Expand", (64, 1, 28, 1), ("int64", [64, 28, 28, 28]))
for _mode in ("constant", "edge", "reflect"):
    simple("Pad", (1, 64, 56, 56), ("int64", [0, 0, 1, 1, 0, 0, 1, 1]),
           mode=_mode)
simple("Transpose", (1, 64, 56, 56), perm=[0, 2, 3, 1])
simple("Transpose", (1, 12, 197, 64), perm=[0, 2, 1, 3])
simple("Slice", (1, 64, 56, 56), ("int64", [1]), ("int64", [55]),
       ("int64", [3]), ("int64", [2]))
simple("Gather", (30522, 256), ("int64", list(range(0, 12800, 100))))
simple("DepthToSpace", (1, 64, 56, 56), blocksize=2)
for _mode in ("nearest", "linear", "cubic"):
    simple("Resize", (1, 64, 28, 28), ("float32", None),
           ("float32", [1, 1, 2, 2]), mode=_mode)
for _op in ("MaxPool", "AveragePool"):
    simple(_op, (1, 64, 56, 56), kernel_shape=[3, 3], strides=[2, 2])
simple("GlobalAveragePool", (1, 512, 7, 7))
simple("InstanceNormalization", (1, 64, 56, 56), ("float32", [1] * 64),
       ("float32", [0] * 64))
simple("LayerNormalization", (197, 768), ("float32", [1] * 768),
       ("float32", [0] * 768))
simple("LRN", (1, 64, 56, 56), size=5)

def top_k(rows, size, k, **attributes):
    case("TopK, %d of %d, %d row%s" % (k, size, rows, "s" * (rows > 1)),
         "TopK", lambda: [normal(rows, size), np.array([k])], (1,),
         ("y", "i"), kind=(TensorProto.FLOAT, TensorProto.INT64),
         **attributes)


for _rows, _size, _k in ((64, 1000, 1), (2000, 80, 1), (64, 1000, 5),
                         (64, 1000, 100),
                         (64, 1000, 1000), (1, 30000, 1), (1, 30000, 50),
                         (1, 30000, 3000), (1, 30000, 30000)):
    top_k(_rows, _size, _k)


def suppression(name, classes, boxes, most, least=None):
    def inputs():
        at = RNG.uniform(0, 600, (1, boxes, 2))
        size = RNG.uniform(10, 60, (1, boxes, 2))
        made = [np.concatenate([at, at + size], -1).astype(np.float32),
                RNG.uniform(0, 1, (1, classes, boxes)).astype(np.float32),
                np.array([most]), np.array([0.5], np.float32)]
        if least is not None:
            made.append(np.array([least], np.float32))
        return made

    case("NonMaxSuppression, " + name, "NonMaxSuppression", inputs,
         (2, 3, 4), kind=TensorProto.INT64)


suppression("1,000 boxes, all", 1, 1000, 1000)
suppression("1,000 boxes, first 100", 1, 1000, 100)
suppression("80 classes, 2,000 boxes, 2 % above the least score", 80, 2000,
            100, 0.98)


def sample(mode, padding, channels=32, side=64):
    def inputs():
        lines = np.linspace(-1, 1, side)
        grid = np.stack(np.meshgrid(lines, lines), -1)[None]
        grid = grid + RNG.uniform(-0.1, 0.1, grid.shape)
        return [normal(1, channels, side, side), grid.astype(np.float32)]

    case("GridSample, %s, %s" % (mode, padding), "GridSample", inputs,
         mode=mode, padding_mode=padding)


sample("linear", "zeros")
sample("linear", "border")
sample("nearest", "zeros")
sample("cubic", "zeros")


def forest(rows, trees, depth, trained, classes=0, grown="RandomForest"):
    """Trees that scikit-learn grows; without a depth, until the leaves are
    pure."""
    fitted = []

    def nodes():
        from sklearn import ensemble  # takes seconds
        if fitted:
            return fitted[0]
        rng = np.random.default_rng(1)
        x = rng.standard_normal((trained, 10)).astype(np.float32)
        y = x[:, 0] * 2 + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3]
        which = getattr(ensemble, grown + (
            "Classifier" if classes else "Regressor"))
        model = which(trees, max_depth=depth, random_state=0).fit(
            x, (y > 0).astype(int) + (y > 2) if classes else y)
        part = "class" if classes else "target"
        found = {key: [] for key in (
            "nodes_treeids", "nodes_nodeids", "nodes_featureids",
            "nodes_values", "nodes_modes", "nodes_truenodeids",
            "nodes_falsenodeids", part + "_treeids", part + "_nodeids",
            part + "_ids", part + "_weights")}
        for t, one in enumerate(model.estimators_):
            tree = one.tree_
            for i in range(tree.node_count):
                leaf = tree.children_left[i] < 0
                for key, value in (
                        ("treeids", t), ("nodeids", i),
                        ("featureids", max(0, int(tree.feature[i]))),
                        ("values", 0.0 if leaf else float(tree.threshold[i])),
                        ("modes", "LEAF" if leaf else "BRANCH_LEQ"),
                        ("truenodeids", max(0, int(tree.children_left[i]))),
                        ("falsenodeids", max(0, int(tree.children_right[i])))):
                    found["nodes_" + key].append(value)
                for k, w in enumerate(tree.value[i].ravel() if leaf else ()):
                    for key, value in (("treeids", t), ("nodeids", i),
                                       ("ids", k),
                                       ("weights", float(w) / trees)):
                        found["%s_%s" % (part, key)].append(value)
        fitted.append(found)
        return found

    words = {key: (lambda key=key: nodes()[key]) for key in (
        "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_values",
        "nodes_modes", "nodes_truenodeids", "nodes_falsenodeids")}
    part = "class" if classes else "target"
    for key in ("treeids", "nodeids", "ids", "weights"):
        words["%s_%s" % (part, key)] = (
            lambda key="%s_%s" % (part, key): nodes()[key])
    if classes:
        words["classlabels_int64s"] = list(range(classes))
    else:
        words["n_targets"] = 1
    case("trees, %d%s, %s, %d row%s" % (
        trees, " of %d classes" % classes if classes else "",
        "depth %d" % depth if depth else "whole", rows, "s" * (rows > 1)),
         "TreeEnsembleClassifier" if classes else "TreeEnsembleRegressor",
         lambda: [normal(rows, 10)], domain="ai.onnx.ml",
         outputs=("label", "y") if classes else ("y",),
         kind=(TensorProto.INT64, TensorProto.FLOAT) if classes
         else TensorProto.FLOAT, **words)


forest(1, 30, 6, 300)
forest(8, 30, 6, 300)
forest(8, 30, 6, 300, 3)
forest(8, 20, None, 300, grown="ExtraTrees")
forest(1000, 30, 6, 300)
forest(1000, 30, 6, 300, 3)
forest(1, 100, 8, 10000)
forest(100, 100, 8, 10000)
forest(5000, 100, 8, 10000)


def least_times(pair, rounds):
    """Microseconds of a run of both."""
    least = [process.seconds(3) for process in pair]
    for _ in range(rounds):
        for which, process in enumerate(pair):
            runs = max(1, min(1000, int(TURN_SECONDS / least[which])))
            least[which] = min(least[which], process.seconds(runs))
    return [1e6 * seconds for seconds in least]


def measure(name, folder, args):
    """Microseconds of tirc and of onnxruntime."""
    path = os.path.join(folder, "model.onnx")
    inputs = {}
    for given, array in make(name, path).items():
        file = os.path.join(folder, given)
        np.ascontiguousarray(array).tofile(file)
        inputs[given] = (file, str(array.dtype), list(array.shape))
    built = args.keep and os.path.join(args.keep, "".join(
        c if c.isalnum() else "_" for c in name))
    built = built or os.path.join(folder, "built")
    reference = os.path.join(folder, "reference.npz")
    program, facts, _ = cpu_driver.build(path, built, args.target, args.cc,
                                         args.option, cflags=args.cflags)
    pair = [cpu.Process([program, built] + [f for f, _, _ in inputs.values()],
                        1),
            cpu.Process([sys.executable, os.path.join(HERE, "cpu_ort.py"),
                         path, "1", reference, json.dumps(inputs)], 1)]
    try:
        error = cpu.agree(facts, built, reference)
        if not error <= cpu.TOLERANCE:
            sys.exit("%s: the outputs differ by %.3g of the allowed error" % (
                name, error))
        return least_times(pair, args.rounds)
    finally:
        for process in pair:
            process.stop()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="cases with such names alone (TopK*)")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--target", default="native")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--cflags", help="in place of the target's, for "
                        "example \"-std=c99 -O3 -march=native\"")
    parser.add_argument("--option", action="append", default=[],
                        help="one more word for `tirc compile`")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--keep", metavar="FOLDER",
                        help="leave the sources and programs there")
    args = parser.parse_args()
    args.target = cpu_driver.resolved(args.target, args.cc)
    print("target: " + args.target)
    print("%-60s %9s %9s %6s" % ("operator", "tirc us", "ort us", "ratio"))
    for name in CASES:
        if args.only and not any(fnmatch.fnmatch(name, p) for p in args.only):
            continue
        if args.list:
            print(name)
            continue
        with tempfile.TemporaryDirectory(prefix="tirc-operator-") as folder:
            mine, theirs = measure(name, folder, args)
            print("%-60s %9.1f %9.1f %6.2f" % (name, mine, theirs,
                                               mine / theirs), flush=True)


if __name__ == "__main__":
    main()
