#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each row of passes/ops/core/ops.def has a rule for random graphs, and each rule
makes its operator: a new operator without one fails here."""
import sys

import helper

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    helper.skip(str(missing))

import rules
from maker import Maker, rows
from reference import Evaluator, Rejected


def main():
    table, known = rows(), {
        **rules.BY_OPERATOR, **rules.OWN, **dict.fromkeys(rules.STRINGS)}
    wrong = ["no rule for " + name for name in sorted(set(table) - set(known))]
    wrong += ["a rule for %s, which is no row" % name
              for name in sorted(set(known) - set(table))]
    evaluator = Evaluator()
    for name, rule in sorted(rules.BY_OPERATOR.items()):
        made = False
        for seed in range(30):
            maker = Maker(np.random.default_rng(seed), evaluator)
            try:
                rule(maker)
            except Rejected:
                continue
            made = any(node.op_type == name for node in maker.graph.nodes)
            if made:
                break
        if not made:
            wrong.append("the rule for %s makes none" % name)
    print("%d operators; %s" % (len(table), evaluator.by))
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
