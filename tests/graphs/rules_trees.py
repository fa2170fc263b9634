# SPDX-License-Identifier: Apache-2.0
"""Rules for ensembles of decision trees and for support vector machines, which
the importer turns into tirc.TreeEnsemble and tirc.PairCoupling."""
import numpy as np

from maker import SYMBOL


def ensemble(g):
    """Complete trees of one depth; node k has the next nodes 2 k + 1 and
    2 k + 2."""
    x = g.data(["float32"], 2, 2,
               lambda shape: 0 not in shape and SYMBOL not in shape[1:])
    trees, depth, targets = g.number(1, 4), g.number(1, 3), g.number(1, 3)
    inner, count = 2 ** depth - 1, 2 ** (depth + 1) - 1
    nodes = [(t, k, k < inner) for t in range(trees) for k in range(count)]
    leaves = [(t, k) for t, k, branch in nodes if not branch]
    features = g.value(x).shape[1]
    g.node("TreeEnsembleRegressor", [x], domain="ai.onnx.ml",
           n_targets=targets,
           nodes_treeids=[t for t, _, _ in nodes],
           nodes_nodeids=[k for _, k, _ in nodes],
           nodes_featureids=[int(g.rng.integers(features)) for _ in nodes],
           nodes_values=[float(np.float32(g.rng.standard_normal()))
                         for _ in nodes],
           nodes_modes=["BRANCH_LEQ" if branch else "LEAF"
                        for _, _, branch in nodes],
           nodes_truenodeids=[2 * k + 1 if b else 0 for _, k, b in nodes],
           nodes_falsenodeids=[2 * k + 2 if b else 0 for _, k, b in nodes],
           target_treeids=[t for t, _ in leaves],
           target_nodeids=[k for _, k in leaves],
           target_ids=[int(g.rng.integers(targets)) for _ in leaves],
           target_weights=[float(np.float32(g.rng.standard_normal()))
                           for _ in leaves])


def machine(g):
    """A support vector machine with the probabilities of two classes, each of
    which has one vector."""
    x = g.data(["float32"], 2, 2,
               lambda shape: 0 not in shape and SYMBOL not in shape[1:])
    features = g.value(x).shape[1]
    numbers = g.rng.standard_normal(2 * features + 5).astype(np.float32)
    vectors, rest = np.split(numbers, [2 * features])
    g.node("SVMClassifier", [x], 2, domain="ai.onnx.ml",
           support_vectors=[float(v) for v in vectors],
           vectors_per_class=[1, 1],
           coefficients=[float(v) for v in rest[:2]],
           rho=[float(rest[2])], prob_a=[float(rest[3])],
           prob_b=[float(rest[4])], classlabels_ints=[3, 5],
           kernel_type="LINEAR", kernel_params=[1.0, 0.0, 0.0])
