#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ml.py [PATTERN]: operators of ai.onnx.ml, imported as other operators and
computed from their definitions, against onnxruntime (or numpy, where a case
brings its own answer)."""
import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import helper as make, numpy_helper

from helper import HAS_ML, WITHOUT_ML, fail, skip, tirc, work_folder

try:
    import exact
except ImportError:
    skip("onnxruntime is not installed")

PROGRAM = os.environ["EVALUATE_MODEL"]
random = np.random.default_rng(3)
failures, done = [], 0
nan = float("nan")


def f(*shape):
    return random.standard_normal(shape).astype(np.float32)


def model_of(op, inputs, attrs, outputs, version):
    names = ["i%d" % k for k in range(len(inputs))]
    node = make.make_node(op, names, ["o%d" % k for k in range(outputs)],
                          name="n", domain="ai.onnx.ml", **attrs)
    graph = make.make_graph(
        [node], "g", [],
        [make.make_empty_tensor_value_info(o) for o in node.output],
        [numpy_helper.from_array(x, n) for x, n in zip(inputs, names)])
    return make.make_model(graph, ir_version=9, opset_imports=[
        make.make_opsetid("", 17), make.make_opsetid("ai.onnx.ml", version)])


def check(op, inputs, attrs=None, outputs=1, want=None, version=3):
    global done
    attrs = attrs or {}
    name = "%s %s" % (op, {key: value for key, value in attrs.items()
                           if len(str(value)) < 40})
    if len(sys.argv) > 1 and sys.argv[1] not in name:
        return
    model = model_of(op, inputs, attrs, outputs, version)
    expected = exact.run(model) if want is None else want
    folder = work_folder()
    path = os.path.join(folder, "m.onnx")
    onnx.save(model, path)
    run = subprocess.run([PROGRAM, path, folder], capture_output=True,
                         text=True)
    done += 1
    if run.returncode != 0:
        failures.append("%s: %s" % (name, run.stderr.strip()[-300:]))
        return
    for k, value in enumerate(expected):
        tensor = onnx.TensorProto()
        with open(os.path.join(folder, "output_%d.pb" % k), "rb") as file:
            tensor.ParseFromString(file.read())
        got = numpy_helper.to_array(tensor)
        if got.shape != value.shape or got.dtype != value.dtype or \
                not np.allclose(got, value, 1e-4, 1e-5, equal_nan=True):
            failures.append("%s: output %d is\n%s\nnot\n%s" % (
                name, k, got[:5], value[:5]))


def refused():
    """Without ai.onnx.ml, its operators are refused by name."""
    path = os.path.join(work_folder(), "m.onnx")
    onnx.save(model_of("Scaler", [f(2, 3)], {}, 1, 3), path)
    said = tirc("compile", path, "-o", work_folder(), status=1).stderr
    if "Scaler 'n'" not in said or "-Dml=true" not in said:
        fail("Scaler is not refused by name: " + said)
    skip(WITHOUT_ML)


if not HAS_ML:
    refused()

# -- elements and features
x = f(4, 3)
check("ArrayFeatureExtractor", [x, np.array([[2, 0, 2]])])
check("ArrayFeatureExtractor", [x[0], np.array([1, 2])])
check("Binarizer", [x], {"threshold": 0.3})
check("Binarizer", [x])
check("Scaler", [x], {"offset": [1.0, 2.0, -1.0], "scale": [0.5, 2.0, 3.0]})
check("Scaler", [x], {"offset": [1.0], "scale": [0.5]})
for kind in np.int64, np.int32, np.float64:
    check("Scaler", [(x * 5).astype(kind)], {"offset": [1.0], "scale": [0.5]})
lonely = np.concatenate([x, np.zeros((1, 3), np.float32)])
for norm in "MAX", "L1", "L2":
    check("Normalizer", [lonely], {"norm": norm})
check("Normalizer", [np.array([[3, 4], [5, 12]], np.int64)], {"norm": "L2"})
lost = x.copy()
lost[1, 2] = lost[0, 0] = np.nan
check("Imputer", [lost], {"imputed_value_floats": [1.0, 2.0, 3.0],
                          "replaced_value_float": nan})
check("Imputer", [lost], {"imputed_value_floats": [7.0],
                          "replaced_value_float": float(x[2, 1])})
check("Imputer", [np.array([[1, 0, 3], [0, 5, 0]], np.int64)],
      {"imputed_value_int64s": [9, 8, 7], "replaced_value_int64": 0})
check("OneHotEncoder", [np.array([[2, 5], [7, 3]], np.int64)],
      {"cats_int64s": [5, 2, 3], "zeros": 1})
check("OneHotEncoder", [np.array([3.0, 5.0, 1.0], np.float32)],
      {"cats_int64s": [5, 2, 3], "zeros": 1})
whole = np.array([[3, 1, 9], [4, 3, 3]], np.int64)
check("LabelEncoder", [whole], {"keys_int64s": [1, 3, 4],
                                "values_floats": [0.5, 1.5, 2.5],
                                "default_float": -2.0}, version=2)
check("LabelEncoder", [whole], {"keys_int64s": [1, 3, 4],
                                "values_int64s": [10, 30, 40]}, version=2)
check("LabelEncoder", [np.array([0.5, nan, 7.0], np.float32)],
      {"keys_floats": [nan, 0.5], "values_int64s": [1, 2],
       "default_int64": 5}, want=[np.array([2, 1, 5])], version=2)
check("LabelEncoder", [np.array([2, 7], np.int16)],
      {"keys_tensor": numpy_helper.from_array(np.array([7, 2], np.int16)),
       "values_tensor": numpy_helper.from_array(np.array([1.5, 2.5])),
       "default_tensor": numpy_helper.from_array(np.array([0.0]))},
      want=[np.array([2.5, 1.5])], version=4)
check("FeatureVectorizer", [x, f(4, 2)], {"inputdimensions": [3, 2]})

# -- linear models
check("LinearRegressor", [x], {"coefficients": [1.0, -2.0, 0.5],
                               "intercepts": [0.25]})
check("LinearRegressor", [x], {"coefficients": [float(v) for v in f(6)],
                               "targets": 2})
for post in "NONE", "SOFTMAX", "LOGISTIC":
    check("LinearClassifier", [x], {
        "coefficients": [float(v) for v in f(9)],
        "intercepts": [0.1, -0.2, 0.3], "classlabels_ints": [4, 7, -1],
        "multi_class": 1, "post_transform": post}, 2, version=1)
    check("LinearClassifier", [x], {
        "coefficients": [1.0, -2.0, 0.5, -1.0, 2.0, -0.5],
        "intercepts": [0.1, -0.1], "classlabels_ints": [0, 1],
        "post_transform": post}, 2, version=1)
for post in "NONE", "LOGISTIC":
    check("LinearClassifier", [x], {
        "coefficients": [1.0, -2.0, 0.5], "intercepts": [0.1],
        "classlabels_ints": [3, 5], "post_transform": post}, 2, version=1)

# -- support vector machines
vectors = f(5, 3)
flat = [float(v) for v in vectors.ravel()]
for kernel in "LINEAR", "POLY", "RBF", "SIGMOID":
    kind = {"kernel_type": kernel, "kernel_params": [0.4, 0.3, 3.0]}
    check("SVMRegressor", [x], {
        "support_vectors": flat, "n_supports": 5, "rho": [0.2],
        "coefficients": [float(v) for v in f(5)], **kind}, version=1)
    for sizes in [2, 3], [1, 2, 2]:
        n = len(sizes)
        check("SVMClassifier", [x], {
            "support_vectors": flat, "vectors_per_class": sizes,
            "coefficients": [float(v) for v in f(5 * (n - 1))],
            "rho": [float(v) for v in f(n * (n - 1) // 2)],
            "classlabels_ints": list(range(3, 3 + n)), **kind}, 2, version=1)
check("SVMRegressor", [x], {
    "support_vectors": flat, "n_supports": 5, "rho": [-0.2], "one_class": 1,
    "coefficients": [1.0, 0.5, 0.5, 1.0, 0.2], "kernel_type": "RBF",
    "kernel_params": [0.4, 0.3, 3.0]}, version=1)
check("SVMRegressor", [x], {"coefficients": [1.0, -2.0, 0.5], "rho": [0.2]},
      want=[x @ np.array([[1], [-2], [0.5]], np.float32) + np.float32(0.2)],
      version=1)


for sizes in [2, 3], [1, 2, 2], [2, 1, 1, 1]:
    n = len(sizes)
    pairs = n * (n - 1) // 2
    check("SVMClassifier", [f(20, 3)], {
        "support_vectors": flat, "vectors_per_class": sizes,
        "coefficients": [float(v) for v in f(5 * (n - 1))],
        "rho": [float(v) for v in f(pairs)],
        "prob_a": [float(v) - 1.5 for v in f(pairs)],
        "prob_b": [float(v) / 10 for v in f(pairs)],
        "classlabels_ints": list(range(n)), "kernel_type": "RBF",
        "kernel_params": [0.4, 0.0, 0.0]}, 2, version=1)


# -- trees
class Trees:
    """Random trees as lists of attributes."""

    def __init__(self, n_trees, depth, features, modes=("BRANCH_LEQ",),
                 missing=False):
        self.nodes = {key: [] for key in (
            "treeids", "nodeids", "featureids", "values", "modes",
            "truenodeids", "falsenodeids", "missing_value_tracks_true")}
        self.leaves = []
        for tree in range(n_trees):
            self.count = 0
            self.grow(tree, depth, features, modes, missing)

    def add(self, **more):
        for key, values in self.nodes.items():
            values.append(more[key])

    def grow(self, tree, depth, features, modes, missing):
        me = self.count
        self.count += 1
        at = len(self.nodes["treeids"])
        if depth == 0 or me > 0 and random.random() < 0.15:
            self.add(treeids=tree, nodeids=me, featureids=0, values=0.0,
                     modes="LEAF", truenodeids=0, falsenodeids=0,
                     missing_value_tracks_true=0)
            self.leaves.append((tree, me))
            return me
        mode = str(random.choice(modes))
        value = round(float(random.standard_normal()), 1)
        self.add(treeids=tree, nodeids=me,
                 featureids=int(random.integers(features)), values=value,
                 modes=mode, truenodeids=0, falsenodeids=0,
                 missing_value_tracks_true=int(
                     missing and random.random() < 0.5))
        for side in "truenodeids", "falsenodeids":
            self.nodes[side][at] = self.grow(tree, depth - 1, features, modes,
                                             missing)
        return me

    def attributes(self, what, targets, each=1, low=-1.0):
        """Weights for `each` targets at each leaf; 0: for all."""
        rows = [(tree, node, int(k)) for tree, node in self.leaves
                for k in (range(targets) if not each else
                          random.permutation(targets)[:each])]
        return {**{"nodes_" + key: values
                   for key, values in self.nodes.items()},
                what + "_treeids": [r[0] for r in rows],
                what + "_nodeids": [r[1] for r in rows],
                what + "_ids": [r[2] for r in rows],
                what + "_weights": [float(random.uniform(low, 1))
                                    for _ in rows]}


ALL = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ",
       "BRANCH_NEQ"]
samples = np.round(f(40, 5), 1)
holes = samples.copy()
holes[random.random(holes.shape) < 0.2] = np.nan
for modes in [["BRANCH_LEQ"], ["BRANCH_LT"], ["BRANCH_GTE"], ALL]:
    for missing, data in (False, samples), (False, holes), (True, holes):
        trees = Trees(5, 5, 5, modes, missing)
        check("TreeEnsembleRegressor", [data], {
            **trees.attributes("target", 1), "n_targets": 1,
            "base_values": [0.5]})
trees = Trees(6, 4, 5)
for how in "SUM", "AVERAGE", "MIN", "MAX":
    check("TreeEnsembleRegressor", [samples], {
        **trees.attributes("target", 1), "n_targets": 1,
        "aggregate_function": how})
    for each in 1, 2, 0:
        check("TreeEnsembleRegressor", [samples], {
            **trees.attributes("target", 3, each), "n_targets": 3,
            "aggregate_function": how,
            # onnxruntime adds none where no tree has a weight for a target.
            **({} if each else {"base_values": [1.0, 2.0, 3.0]})})
for post in "NONE", "SOFTMAX", "LOGISTIC":
    for each in 1, 0:
        check("TreeEnsembleClassifier", [samples], {
            **trees.attributes("class", 3, each, -1 if each == 0 else 0.01),
            "post_transform": post, "classlabels_int64s": [5, 3, 8]}, 2)
    for low in -1.0, 0.0:
        for base in None, [0.25]:
            attributes = trees.attributes("class", 1, 1, low)
            attributes["class_weights"] = [
                w / 3 for w in attributes["class_weights"]]
            if base is not None:
                attributes["base_values"] = base
            attributes.update(classlabels_int64s=[0, 1], post_transform=post)
            check("TreeEnsembleClassifier", [samples], attributes, 2)
        # Of two classes with weights, onnxruntime takes the second one if its
        # score is above 0; ONNX's reference takes the better one.
        attributes = {**trees.attributes("class", 2, 0, low),
                      "classlabels_int64s": [0, 1], "post_transform": post}
        scores = exact.run(model_of("TreeEnsembleClassifier", [samples],
                                    attributes, 2, 3))[1]
        check("TreeEnsembleClassifier", [samples], attributes, 2,
              [scores.argmax(1), scores])
given = trees.attributes("target", 1)
for name in "nodes_values", "target_weights":
    given[name + "_as_tensor"] = numpy_helper.from_array(
        np.array(given.pop(name)))
check("TreeEnsembleRegressor", [samples.astype(np.float64)],
      {**given, "n_targets": 1})

print("%d of %d agree" % (done - len(failures), done))
if failures:
    fail("\n".join(failures))
