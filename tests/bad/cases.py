#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cases.py NAME: one case of bad input, made here byte by byte.

Refused ones: exit status 1, a message with the given words, nothing written.
Odd but valid ones must pass. Run without NAME it lists them; `--write DIR`
puts all of them there, as seeds for a fuzzer."""
import os
import struct
import subprocess
import sys

from helper import TIRC, execute, fail, work_folder
from proto import *

DUMP = os.environ.get("ONNX_DUMP")
ODD = "odd\"name\\with'quotes/and\nnewline\t%s*/ // ??/"
LONG = "a" * 40


def relu(**options):
    return simple([node("Relu", ["x"], ["y"], "relu")], **options)


def between(initializer, dims=(2, 3), out=(2, 3)):
    return simple([node("Add", ["x", "w"], ["y"], "add")], [initializer],
                  dims, out)


def constant(attributes):
    return simple([node("Constant", [], ["w"], "const",
                        attributes=attributes),
                   node("Add", ["x", "w"], ["y"])])


def gradients(count):
    """Each Gradient differentiates the result of the one before."""
    names = ["t"] + ["g%d" % i for i in range(count - 1)] + ["y"]
    return simple(
        [node("Tanh", ["x"], ["t"])] +
        [node("Gradient", ["x"], [names[i + 1]],
              domain="ai.onnx.preview.training",
              attributes=[texts("xs", "x")], y=names[i])
         for i in range(count)],
        more=blob(8, opset(1, "ai.onnx.preview.training")))


def nested(depth):
    """An If in an If in an If."""
    body = graph([node("Relu", ["x"], ["y"])], [], [])
    for _ in range(depth):
        attr = blob(1, "then_branch") + blob(6, body) + number(20, 5)
        body = graph([node("If", ["x"], ["y"], attributes=[attr])], [], [])
    return model(body)


def call(functions, op="F", **attrs):
    return simple([node(op, ["x"], ["y"], "call", "local", **attrs)],
                  functions=functions)


def learned(op, attributes, dims=(2, 2), **attrs):
    """A node of ai.onnx.ml."""
    return simple([node(op, ["x"], ["y"], op.lower(), "ai.onnx.ml", attributes,
                        **attrs)], [], dims, None,
                  more=blob(8, opset(3, "ai.onnx.ml")))


def scan(count):
    """A Scan of x that says to have `count` sliced inputs."""
    body = graph([node("Relu", ["a"], ["b"])], [value_info("a", [3])],
                 [value_info("b", [3])])
    return simple([node("Scan", ["x"], ["y"], "scan", num_scan_inputs=count,
                        attributes=[nested_graph("body", body)])])


def if_of(condition):
    """An If whose condition is an input of the given shape."""
    def branch(name, op):
        return nested_graph(name, graph([node(op, ["x"], ["t"])], [],
                                        [value_info("t", [3])]))
    return model(graph(
        [node("If", ["c"], ["y"], "if", attributes=[
            branch("then_branch", "Neg"), branch("else_branch", "Abs")])],
        [value_info("x", [3]), value_info("c", condition, BOOL)],
        [value_info("y", [3])]))


def loop(count, condition, counted=INT64, test=BOOL):
    """A Loop whose number of iterations and condition are inputs of the given
    shapes and types."""
    body = graph([node("Neg", ["s"], ["t"])],
                 [value_info("i", [], INT64), value_info("c", condition, test),
                  value_info("s", [3])],
                 [value_info("c", condition, test), value_info("t", [3])])
    return model(graph(
        [node("Loop", ["m", "c0", "x"], ["y"], "loop",
              attributes=[nested_graph("body", body)])],
        [value_info("x", [3]), value_info("m", count, counted),
         value_info("c0", condition, test)], [value_info("y", [3])]))


# name: (file's bytes, words of the message), or (…, …, files beside it)
REFUSED = {
    "empty_file": (b"", "empty"),
    "text_file": (b"hello, this is not an ONNX model\n", "not an ONNX model"),
    "zeros": (bytes(1000), "not an ONNX model"),
    "no_graph": (number(1, 8) + blob(8, opset(21)), "no graph"),
    "field_zero": (b"\x02\x00" + chain(), "not an ONNX model"),
    "long_varint": (number(1, 8) + b"\x28" + b"\xff" * 11, "not an ONNX model"),
    "group_field": (b"\x0b\x0c", "not an ONNX model"),
    "huge_length": (b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                    "not an ONNX model"),
    "deep_nesting": (nested(1000), "nested too deep"),
    "graph_twice": (chain() + blob(7, b""), "twice"),
    "unknown_operators": (
        simple([node("Frobnicate", ["x"], ["a"], "one"),
                node("Relu", ["a"], ["b"], "two"),
                node("Whatever", ["b"], ["y"], "three", "com.example")]),
        ["Frobnicate", "'one'", "Whatever", "'three'"]),
    # together, domain and name look like SequenceAt, If and FlexAttention
    "cut_operators": (
        simple([node("t", ["x"], ["a"], "one", "Sequence"),
                node("f", ["a"], ["b"], "two", "If"),
                node("ai.onnx.preview.FlexAttention", ["b", "b", "b"], ["y"],
                     "three")]),
        ["operator Sequence.t is not", "operator If.f is not",
         "operator ai.onnx.preview.FlexAttention is not"]),
    "no_opset": (relu(version=None), "operator set"),
    "old_opset": (relu(version=0), "version 0"),
    "old_dropout": (simple([node("Dropout", ["x"], ["y"], "drop")],
                           version=6), ["is_test", "'drop'"]),
    "old_batch_norm": (simple(
        [node("BatchNormalization", ["x", "w", "w", "w", "w"],
              ["y", "m", "v", "sm", "sv"], "norm")],
        [tensor("w", [3], floats(1, 2, 3))], version=6), "it trains"),
    "old_broadcast": (simple(
        [node("Add", ["x", "w"], ["y"], "add", broadcast=1, axis=2)],
        [tensor("w", [3], floats(1, 2, 3))], version=6), "does not fit"),
    "old_cast": (simple([node("Cast", ["x"], ["y"], "cast", to="FLAOT")],
                        version=5), "names no type"),
    "old_lp_pool": (simple([node("GlobalLpPool", ["x"], ["y"], p=1.5)],
                           version=1), "whole number"),
    "old_lp_pool_infinite": (
        simple([node("GlobalLpPool", ["x"], ["y"], p=float("inf"))],
               version=1), "whole number"),
    "old_tile": (simple([node("Tile", ["x", "x", "x"], ["y"])], version=5),
                 "are not constant whole numbers"),
    "top_k_too_large": (simple(
        [node("TopK", ["x", "k"], ["y", "i"])],
        [tensor("k", [1], struct.pack("<q", 4), 7)]), "larger than"),
    "future_opset": (relu(version=99), "version 99"),
    "no_operator": (simple([node("", ["x"], ["y"])]), "no operator"),
    "cycle": (simple([node("Add", ["x", "b"], ["a"], "one"),
                      node("Relu", ["a"], ["b"], "two"),
                      node("Relu", ["b"], ["y"], "three")]), "cycle"),
    "self_cycle": (simple([node("Add", ["x", "y"], ["y"], "self")]),
                   "cycle"),
    "missing_inputs": (
        simple([node("Add", ["x", "nowhere"], ["a"], "one"),
                node("Add", ["a", "nothing"], ["y"], "two")]),
        ["'nowhere'", "'one'", "'nothing'", "'two'"]),
    "missing_output": (
        model(graph([node("Relu", ["x"], ["z"])], [value_info("x", [2])],
                    [value_info("y", [2])])), "output 'y'"),
    "no_outputs": (model(graph([node("Relu", ["x"], ["y"])],
                               [value_info("x", [2])], [])), "no outputs"),
    "two_producers": (simple([node("Relu", ["x"], ["y"], "one"),
                              node("Abs", ["x"], ["y"], "two")]), "'y'"),
    "input_overwritten": (simple([node("Relu", ["y"], ["x"], "one"),
                                  node("Relu", ["x"], ["y"], "two")]),
                          "'x'"),
    "two_inputs_alike": (model(graph(
        [node("Relu", ["x"], ["y"])],
        [value_info("x", [2]), value_info("x", [2])],
        [value_info("y", [2])])), "two inputs"),
    "two_initializers_alike": (
        simple([node("Add", ["x", "w"], ["y"])],
               [tensor("w", [1], floats(1)), tensor("w", [1], floats(2))]),
        "two initializers"),
    "unnamed_initializer": (between(tensor("", [1], floats(1))), "no name"),
    "shapes_clash": (between(tensor("w", [4], floats(1, 2, 3, 4))),
                     "broadcast"),
    "output_type_clash": (model(graph(
        [node("Relu", ["x"], ["y"])], [value_info("x", [2])],
        [value_info("y", [2], INT64)])), "declares"),
    "huge_input": (relu(dims=(1 << 62,), out=(1 << 62,)), "2^48"),
    "huge_product": (relu(dims=(1 << 31, 1 << 31, 1 << 31), out=None),
                     "2^48"),
    "huge_initializer": (between(tensor("w", [1 << 62], floats(1))),
                         "2^48"),
    "huge_result": (simple([node("Unsqueeze", ["x", "a"], ["u"]),
                            node("Expand", ["u", "s"], ["y"], "huge")],
                           [tensor("a", [1], ints(0), INT64),
                            tensor("s", [3], ints(1 << 62, 1, 1), INT64)],
                           out=None), ""),
    "many_dimensions": (relu(dims=[1] * 1000, out=None), "1000 dimensions"),
    "negative_input": (relu(dims=(2, -3), out=None), "-3"),
    "negative_initializer": (between(tensor("w", [-1], floats(1))), "-1"),
    "no_input_shape": (relu(dims=None, out=None), "--input-shape"),
    "open_sizes": (relu(dims=("rows", "columns"), out=None),
                   ["'rows'", "'columns'", "--dim"]),
    "no_input_type": (model(graph([node("Relu", ["x"], ["y"])],
                                  [blob(1, "x")], [value_info("y", [2])])),
                      "input 'x'"),
    "sequence_input": (model(graph(
        [node("Relu", ["x"], ["y"])],
        [blob(1, "x") + blob(2, blob(4, blob(1, b"")))],
        [value_info("y", [2])])), "--sequence x=N"),
    "string_input": (model(graph(
        [node("Relu", ["x"], ["y"])], [value_info("x", [2], STRING)],
        [value_info("y", [2], STRING)])), "Relu of strings"),
    "string_initializer": (between(tensor("w", [1], None, STRING,
                                          blob(6, "text"))),
                           "Add of strings"),
    "string_with_zero": (between(tensor("w", [1], None, STRING,
                                        blob(6, b"a\0b"))), "zero byte"),
    "few_strings": (between(tensor("w", [2], None, STRING,
                                   blob(6, "text"))), "1 strings"),
    "unknown_type": (between(tensor("w", [1], floats(1), 77)), "77"),
    "short_data": (between(tensor("w", [3], floats(1, 2))), "8 bytes"),
    "long_data": (between(tensor("w", [3], floats(1, 2, 3, 4))),
                  "16 bytes"),
    "no_data": (between(tensor("w", [3], None)), "'w'"),
    "short_list": (simple([node("Add", ["x", "w"], ["y"])],
                          [tensor("w", [3], None, FLOAT,
                                  blob(4, floats(1)))]), "'w'"),
    "segment": (between(tensor("w", [1], floats(1), FLOAT,
                               blob(3, number(1, 0)))), "segments"),
    "sparse_initializer": (model(graph(
        [node("Relu", ["x"], ["y"])], [value_info("x", [2])],
        [value_info("y", [2])], more=blob(15, b""))), "sparse"),
    "external_missing": (between(external("w", [3], location="gone.bin")),
                         ["gone.bin", "'w'"]),
    "external_outside": (between(external("w", [3],
                                          location="../secret.bin")),
                         "outside"),
    "external_absolute": (between(external("w", [3],
                                           location="/etc/passwd")),
                          "outside"),
    "external_hidden_outside": (
        between(external("w", [3], location="a/./../../b")), "outside"),
    "external_no_location": (between(external("w", [3], offset=0)),
                             "no location"),
    "external_short": (between(external("w", [3], location="w.bin")),
                       "8 bytes", {"w.bin": floats(1, 2)}),
    "external_past_end": (
        between(external("w", [3], location="w.bin", offset=8, length=12)),
        "12 bytes from byte 8", {"w.bin": floats(1, 2, 3)}),
    "external_offset_overflow": (
        between(external("w", [3], location="w.bin",
                         offset=(1 << 64) - 4, length=12)),
        "w.bin", {"w.bin": floats(1, 2, 3)}),
    "external_bad_offset": (
        between(external("w", [3], location="w.bin", offset="-4")),
        "offset", {"w.bin": floats(1, 2, 3)}),
    "external_folder": (between(external("w", [3], location=".")), "'w'"),
    "constant_without_value": (constant([]), "exactly one"),
    "constant_two_values": (
        constant([attribute("value_float", 1.0),
                  attribute("value_int", 1)]), "exactly one"),
    "constant_text": (constant([attribute("value_string", "x")]),
                      "Add of strings"),
    "constant_other_attribute": (constant([attribute("worth", 1.0)]),
                                 "'worth'"),
    "unnamed_attribute": (simple([node("LeakyRelu", ["x"], ["y"],
                                       attributes=[real(2, 1.0)])]),
                          "no name"),
    "attribute_twice": (
        simple([node("LeakyRelu", ["x"], ["y"], attributes=[
            attribute("alpha", 1.0), attribute("alpha", 2.0)])]), "twice"),
    "too_few_inputs": (simple([node("Add", ["x"], ["y"], "add")]),
                       "'add'"),
    "too_many_inputs": (simple([node("Relu", ["x", "x"], ["y"], "relu")]),
                        "'relu'"),
    "too_many_outputs": (simple([node("Relu", ["x"], ["y", "z"], "relu")]),
                         "'relu'"),
    "empty_input_name": (simple([node("Relu", [""], ["y"], "relu")]),
                         "'relu'"),
    "stft_short_signal": (simple(
        [node("STFT", ["x", "step", "window"], ["y"], "s")],
        [tensor("step", [], ints(1), INT64), tensor("window", [8], floats(*[1] * 8))],
        (1, 4, 1), None), "shorter than a frame"),
    "stft_long": (simple(
        [node("STFT", ["x", "step", "", "length"], ["y"], "s")],
        [tensor("step", [], ints(1), INT64),
         tensor("length", [], ints(2 ** 63 - 1), INT64)], (1, 4, 1), None), "too long"),
    "col2im_wraps": (simple(
        [node("Col2Im", ["x", "image", "block"], ["y"], "c", pads=[1 << 31] * 4)],
        [tensor("image", [2], ints(1, 1), INT64),
         tensor("block", [2], ints(1 << 32, 1 << 32), INT64)], (1, 1, 1), None),
        "constants that fit each other"),
    "bad_reshape": (simple([node("Reshape", ["x", "s"], ["y"], "shape")],
                           [tensor("s", [2], ints(4, 4), INT64)],
                           out=(4, 4)), "'shape'"),
    "negative_reshape": (
        simple([node("Reshape", ["x", "s"], ["y"], "shape")],
               [tensor("s", [2], ints(-5, 2), INT64)], out=None),
        "'shape'"),
    "many_gradients": (gradients(20), "nest fewer"),
    "compress_axis": (simple(
        [node("Compress", ["x", "c"], ["y"], "pick", axis=2**63 - 1)],
        [tensor("c", [3], b"\1\0\1", 9)], out=None),
        "the axis of Compress is beyond the rank"),
    "bad_axis": (simple([node("Softmax", ["x"], ["y"], "soft", axis=7)]),
                 "'soft'"),
    "matmul_clash": (simple([node("MatMul", ["x", "w"], ["y"], "mat")],
                            [tensor("w", [4, 1], floats(1, 2, 3, 4))],
                            out=(2, 1)), "'mat'"),
    "internal_operator": (
        simple([node("WinogradProduct", ["x", "w"], ["y"], "inner", "tirc")],
               [tensor("w", [3], floats(1, 2, 3))]), "'inner'"),
    "function_calls_itself": (
        call([function("F", "local", ["x"], ["y"],
                       [node("F", ["x"], ["y"], "again", "local")])]),
        "calls itself"),
    "function_explodes": (
        call([function("F%d" % i, "local", ["x"], ["y"],
                       [node("F%d" % (i + 1), ["x"], ["a"], "a", "local"),
                        node("F%d" % (i + 1), ["a"], ["y"], "b", "local")])
              for i in range(40)], "F0"), "nodes"),
    "function_without_output": (
        call([function("F", "local", ["x"], ["y"],
                       [node("Relu", ["x"], ["z"])])]), "function 'F'"),
    "function_missing_input": (
        call([function("F", "local", ["x"], ["y"],
                       [node("Relu", ["q"], ["y"])])]), "'q'"),
    "function_too_many_inputs": (
        call([function("F", "local", [], ["y"],
                       [node("Relu", ["q"], ["y"])])]), "more inputs"),
    "function_unnamed": (call([function("", "local", ["x"], ["y"], [])]),
                         "no name"),
    "svm_negative_class": (learned(
        "SVMClassifier",
        [reals("coefficients", *range(5)), reals("rho", 1.0),
         reals("support_vectors", *range(10))],
        classlabels_ints=[0, 1], vectors_per_class=[10, -5]), "lengths"),
    "svm_endless_class": (learned(
        "SVMClassifier", [reals("rho", 1.0)], classlabels_ints=[0, 1],
        vectors_per_class=[2**63 - 1, 2**63 - 1]), "lengths"),
    "svm_endless_vectors": (learned(
        "SVMRegressor", [reals("coefficients", 1, 2), reals("rho", 1.0)],
        (0, 2**62), n_supports=2), "lengths"),
    "linear_of_no_features": (learned(
        "LinearRegressor", [reals("coefficients", 1.0)], (2, 0)), "lengths"),
    "trees_endless_targets": (learned(
        "TreeEnsembleRegressor",
        [reals("nodes_values", 0.0), texts("nodes_modes", "LEAF")],
        n_targets=2**62, nodes_treeids=[0], nodes_nodeids=[0],
        nodes_featureids=[0], nodes_truenodeids=[0], nodes_falsenodeids=[0]),
        "trees are not valid"),
    "features_without_indices": (learned("ArrayFeatureExtractor", []),
                                 "no indices"),
    "sequence_without_position": (simple(
        [node("SequenceConstruct", ["x"], ["s"], "list"),
         node("SequenceAt", ["s"], ["y"], "at")]), "at least 2"),
    "sequence_with_more_inputs": (simple(
        [node("SequenceConstruct", ["x"], ["s"], "list"),
         node("SequenceLength", ["s", "x"], ["y"], "length")]), "at most 1"),
    "sequence_of_nothing": (simple(
        [node("SequenceConstruct", ["", "x"], ["s"], "list"),
         node("ConcatFromSequence", ["s"], ["y"], "join", axis=0)]),
        "input 0 is missing"),
    "if_of_many": (if_of([2]), "not one truth value"),
    "if_of_none": (if_of([0]), "not one truth value"),
    "loop_of_many": (loop([2], []), "not one integer"),
    "loop_of_none": (loop([0], []), "not one integer"),
    "loop_of_floats": (loop([], [], FLOAT), "not one integer"),
    "loop_while_many": (loop([], [2]), "not one truth value"),
    "loop_while_none": (loop([], [0]), "not one truth value"),
    "loop_while_floats": (loop([], [], test=FLOAT), "not one truth value"),
    "scan_of_fewer": (scan(-2**31), "body"),
    "scan_of_more": (scan(2**32 + 1), "body"),
    "scan_to_far_axis": (simple(
        [node("Scan", ["x"], ["y"], "scan", num_scan_inputs=1,
              scan_output_axes=[2**32],
              attributes=[nested_graph("body", graph(
                  [node("Relu", ["a"], ["b"])] + [
                      node("Relu", ["b"], ["b%d" % k]) for k in range(40)],
                  [value_info("a", [3])], [value_info("b", [3])]))])]),
        "axis"),
    "bool_bytes": (simple(
        [node("Where", ["w", "x", "x"], ["y"], "where")],
        [tensor("w", [3], b"\0\1\2", 9)]), ["element 2", "neither 0 nor 1"]),
    "bool_numbers": (simple(
        [node("Where", ["w", "x", "x"], ["y"], "where")],
        [tensor("w", [3], None, 9, blob(5, b"\1\1\3"))]),
        "neither 0 nor 1"),
    "function_inputs_alike": (
        call([function("F", "local", ["x", "x"], ["y"],
                       [node("Relu", ["x"], ["y"])])]),
        "same name"),
}

ACCEPTED = {
    "zero_input": relu(dims=(2, 0), out=None),
    "chain": chain(),
    "odd_names": model(graph(
        [node("Relu", [ODD], [ODD + "1"], ODD),
         node("Abs", [ODD + "1"], [ODD + "2"], ODD)],
        [value_info(ODD, [2, 3])], [value_info(ODD + "2", [2, 3])],
        name=ODD)),
    "keywords": model(graph(
        [node("Relu", ["int"], ["while"], "for"),
         node("Abs", ["while"], ["return"], "float"),
         node("Neg", ["return"], ["main"], "expf")],
        [value_info("int", [2, 3])], [value_info("main", [2, 3])],
        name="struct")),
    "long_names": model(graph(
        [node("Relu", ["x" * 300], ["y" * 300], "n" * 300)],
        [value_info("x" * 300, [2, 3])], [value_info("y" * 300, [2, 3])],
        name="g" * 300)),
    "late_difference": model(graph(
        [node("Relu", [LONG + "x"], [LONG + "a"], LONG + "1"),
         node("Abs", [LONG + "a"], [LONG + "b"], LONG + "2"),
         node("Neg", [LONG + "b"], [LONG + "y"], LONG + "3")],
        [value_info(LONG + "x", [2, 3])],
        [value_info(LONG + "y", [2, 3])], name=LONG + "g")),
    "digits_first": model(graph(
        [node("Relu", ["0"], ["1"], ""), node("Neg", ["1"], ["2"], "")],
        [value_info("0", [2, 3])], [value_info("2", [2, 3])], name="9")),
    "not_ascii": model(graph(
        [node("Relu", ["größe"], ["高さ"], "узел")],
        [value_info("größe", [2, 3])], [value_info("高さ", [2, 3])],
        name="模型")),
    "unsorted": simple([node("Neg", ["b"], ["y"], "3"),
                        node("Abs", ["a"], ["b"], "2"),
                        node("Relu", ["x"], ["a"], "1")]),
    "output_is_input": model(graph(
        [node("Relu", ["x"], ["y"])], [value_info("x", [2, 3])],
        [value_info("x", [2, 3]), value_info("y", [2, 3])])),
    "output_is_constant": model(graph(
        [node("Add", ["x", "w"], ["y"]),
         node("Constant", [], ["c"], value_ints=[1, 2])],
        [value_info("x", [3])],
        [value_info("w", [3]), value_info("y", [3]),
         value_info("c", [2], INT64)], [tensor("w", [3], floats(1, 2, 3))])),
    "unknown_fields": chain() + blob(100, b"future") + number(101, 5),
    "function": call(
        [function("F", "local", ["x"], ["y"],
                  [node("LeakyRelu", ["x"], ["a"], "l",
                        attributes=[blob(1, "alpha") + blob(21, "slope")
                                    + number(20, 1)]),
                   node("Relu", ["a"], ["y"], "r")], ["slope"])],
        slope=0.5),
    "far_diagonals": model(graph(
        [node("EyeLike", ["x"], ["a"], "eye", k=2**63 - 1),
         node("EyeLike", ["x"], ["b"], "eyes", k=-2**63),
         node("Trilu", ["x", "far"], ["c"], "triangle"),
         node("Sum", ["a", "b", "c"], ["y"], "sum")],
        [value_info("x", [2, 3])], [value_info("y", [2, 3])],
        [tensor("far", [], ints(-2**63), INT64)])),
    "function_passes_input": simple(
        [node("F", ["x"], ["a"], "call", "local"),
         node("Relu", ["a"], ["y"])],
        functions=[function("F", "local", ["x"], ["x"], [])]),
}


def can_compile():
    return subprocess.run([TIRC, "compile", "--help"],
                          capture_output=True).returncode == 0


def write(folder, case):
    path = os.path.join(folder, "case.onnx")
    with open(path, "wb") as file:
        file.write(case[0])
    for name, data in (case[2] if len(case) > 2 else {}).items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    return path


def refused(case):
    words = [case[1]] if isinstance(case[1], str) else case[1]
    folder = work_folder()
    path = write(folder, case)
    out = os.path.join(folder, "out")
    commands = [[DUMP, path]] if DUMP else []
    if can_compile():
        commands.append([TIRC, "compile", path, "-o", out])
    for command in commands:
        done = execute(command, status=1, timeout=20)
        lines = done.stderr.strip().splitlines()
        print(done.stderr)
        for word in words:
            if word not in done.stderr:
                fail("the message lacks %r:\n%s" % (word, done.stderr))
        if not 1 <= len(lines) <= max(2, len(words)):
            fail("%d lines of messages" % len(lines))
        if done.stdout.strip() or os.path.exists(out):
            fail("something was written")


def accepted(data):
    folder = work_folder()
    path = write(folder, (data, ""))
    out = os.path.join(folder, "out")
    if DUMP:
        print(execute([DUMP, path], timeout=20).stdout)
    if can_compile():
        execute([TIRC, "compile", path, "-o", out], timeout=60)
        sources = [os.path.join(out, f) for f in sorted(os.listdir(out))
                   if f.endswith(".c")]
        execute(["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic",
                 "-Werror", "-fsyntax-only", *sources], timeout=120)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        print("\n".join([*REFUSED, *ACCEPTED]))
    elif sys.argv[1] == "--write":
        everything = {**REFUSED, **{k: (v,) for k, v in ACCEPTED.items()}}
        for name, case in everything.items():
            with open(os.path.join(sys.argv[2], name + ".onnx"), "wb") as f:
                f.write(case[0])
    elif sys.argv[1] in REFUSED:
        refused(REFUSED[sys.argv[1]])
    else:
        accepted(ACCEPTED[sys.argv[1]])
