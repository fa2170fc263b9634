# SPDX-License-Identifier: Apache-2.0
"""All rules: one for each row of passes/ops/core/ops.def."""
import rules_elements
import rules_flow
import rules_grown
import rules_quantized
import rules_shapes
import rules_sums
import rules_trees
import rules_windows
from helper import HAS_ML, WITHOUT_ML

BY_OPERATOR = {
    **rules_elements.RULES, **rules_shapes.RULES, **rules_sums.RULES,
    **rules_windows.RULES, **rules_quantized.RULES}
LARGE = {
    **rules_shapes.LARGE,
    **rules_sums.LARGE,
    **rules_windows.LARGE,
    **rules_elements.LARGE,
    **rules_quantized.LARGE,
}
# By operator of tirc's own: a rule for nodes that passes turn into it.
OWN = {
    **rules_flow.OWN,
    **rules_quantized.CHAINS,
    "tirc.Band": rules_sums.attention,
    "tirc.BatchNormalization": rules_sums.batch_norm,
    "tirc.Frames": rules_sums.frames,
    "tirc.Inverse": rules_sums.inverse,
    **{"tirc." + op: rules_sums.recurrent(op, gates) for op, gates in
       [("LSTM", 4), ("GRU", 3), ("RNN", 1)]},
    "tirc.LinearAttention": rules_sums.linear_attention,
    "tirc.LowBits": rules_elements.short_input,
    "tirc.DeformSample": rules_windows.deform_conv,
    "tirc.PairCoupling": rules_trees.machine,
    "tirc.Random": rules_elements.certain,
    "tirc.Repeat": rules_grown.grown,
    "tirc.TreeEnsemble": rules_trees.ensemble,
    **{"tirc.Winograd" + part: rules_windows.plain_conv for part in
       ("Weights", "Input", "Product", "Output")}}
# Rows for which the importer makes nodes of operators on strings, which random
# graphs do not have: the cases of tests/onnx/strings.py are theirs.
STRINGS = ["tirc.Automaton", "tirc.ChangeCase", "tirc.FindString",
           "tirc.FormatInteger", "tirc.NGrams", "tirc.ParseInteger",
           "tirc.StringConcat", "tirc.StringPieces", "tirc.Substring"]
# Rows that never become a kernel, with the reason.
FOLDED = {
    "tirc.Random": "--seed makes constants of random numbers",
    "tirc.Repeat": "kernels read the smaller constant at its indices",
    "tirc.WinogradWeights": "only constant weights are transformed, and that "
                            "is folded"}
if not HAS_ML:
    print("skipped, trees and support vector machines: " + WITHOUT_ML)
TREES = [rules_trees.ensemble, rules_trees.machine] if HAS_ML else []
LIST = [BY_OPERATOR[name] for name in sorted(BY_OPERATOR)
        if HAS_ML or BY_OPERATOR[name].__module__ != "rules_trees"] + \
    2 * [rules_quantized.CHAINS[name]
         for name in sorted(rules_quantized.CHAINS)] + \
    3 * [rules_windows.conv, rules_sums.matmul] + \
    3 * [rules_grown.grown] + \
    [rules_windows.plain_conv, rules_windows.deform_conv,
     rules_sums.attention, rules_sums.linear_attention, rules_sums.inverse,
     rules_sums.dynamic_lstm,
     *TREES, rules_elements.certain, rules_elements.short_input,
     *rules_flow.LIST]
