#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What patterns find: small models, small backends, and what `tirc partition
--explain` says of each node; what of it is a parameter of the region."""
import json
import os

from helper import TIRC, execute, fail, work_folder
from proto import *

FOLDER = work_folder()
DIMS = (1, 4, 6, 6)


def weights(name, *dims):
    n = 1
    for d in dims:
        n *= d
    return tensor(name, dims, floats(*[(i * 7 % 5 - 2) / 4
                                       for i in range(n)]))


W = weights("w", 4, 4, 3, 3)
B = weights("b", 4, 1, 1)
HALF = tensor("half", [], floats(0.5))
SIX = tensor("six", [], floats(6))
ZERO = tensor("zero", [], floats(0))
PADS = {"pads": [1, 1, 1, 1]}


def write(nodes, initializers, outputs=("y",), dims=DIMS):
    path = os.path.join(FOLDER, "model.onnx")
    with open(path, "wb") as file:
        file.write(model(graph(nodes, [value_info("x", dims)],
                               [value_info(y, None) for y in outputs],
                               initializers)))
    return path


def explain(nodes, initializers, backends, outputs=("y",), options=(),
            dims=DIMS):
    path = write(nodes, initializers, outputs, dims)
    words = []
    for name, patterns in backends.items():
        folder = os.path.join(FOLDER, name)
        more = {}
        if isinstance(patterns, dict):
            patterns, more = patterns["patterns"], patterns
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "backend.json"), "w") as file:
            json.dump(dict(more, description="d", patterns=patterns), file)
        words += ["--byoc", name]
    return execute([TIRC, "partition", path, "--explain", "--byoc-path",
                    FOLDER, *words, *options]).stdout


def expect(name, text, *lines):
    if text.strip() != "\n".join(lines):
        fail("%s: wanted\n%s\ngot\n%s" % (name, "\n".join(lines), text))


def conv(x="x", y="c", **attrs):
    return node("Conv", [x, "w"], [y], y, **dict(PADS, **attrs))


CONV = {"id": "conv", "op": "Conv"}
CONVOLUTION = {"name": "convolution", "nodes": [CONV]}


def follow(*followers, **keys):
    return dict(CONVOLUTION, then=[dict({"max": 8}, one_of=followers,
                                        **keys)])


RELU = {"name": "relu", "op": "Relu"}
SWISH = {"name": "swish", "nodes": [
    {"id": "gate", "op": "Sigmoid", "inputs": ["before"]},
    {"id": "product", "op": "Mul", "inputs": ["before", "gate"],
     "any_order": True}]}
ADD = {"name": "add", "op": "Add", "any_order": True, "inputs": [
    "before", {"is": "variable", "same_shape": "before"}]}


def chains():
    nodes = [conv(), node("Sigmoid", ["c"], ["s"]),
             node("Mul", ["s", "c"], ["m"]), node("Relu", ["m"], ["r"]),
             node("Add", ["x", "r"], ["y"])]
    expect("chains", explain(nodes, [W], {"one": [follow(RELU, SWISH, ADD)]}),
           "Conv -> c: one_0, pattern convolution, 'conv'",
           "Sigmoid -> s: one_0, pattern convolution, follower 0, swish",
           "Mul -> m: one_0, pattern convolution, follower 0, swish",
           "Relu -> r: one_0, pattern convolution, follower 1, relu",
           "Add -> y: one_0, pattern convolution, follower 2, add")
    # The same, from lists with names.
    one = {"patterns": [dict(CONVOLUTION, then=["gated", "added"])],
           "chains": {"gated": [{"one_of": [SWISH]}, {"one_of": [RELU]}],
                      "added": [{"one_of": [ADD]}]}}
    expect("named", explain(nodes, [W], {"one": one}).split("\n", 1)[1],
           "Sigmoid -> s: one_0, pattern convolution, follower 0, swish",
           "Mul -> m: one_0, pattern convolution, follower 0, swish",
           "Relu -> r: one_0, pattern convolution, follower 1, relu",
           "Add -> y: one_0, pattern convolution, follower 2, add")
    # No more than max; what is read twice, or an output, ends a chain.
    expect("max", explain(nodes, [W], {"one": [
        follow(RELU, SWISH, ADD, max=1)]}).splitlines()[3],
        "Relu -> r: generated")
    text = explain(nodes, [W], {"one": [follow(RELU, SWISH, ADD)]},
                   ("y", "r"))
    expect("output", text.split("\n", 4)[4],
           "Add -> y: generated",
           "    one: as 'add' of pattern convolution: its input is also "
           "read outside of the match, or is an output")
    text = explain([conv(), node("Sigmoid", ["c"], ["s"]),
                    node("Mul", ["s", "c"], ["m"]),
                    node("Add", ["m", "s"], ["y"])], [W],
                   {"one": [follow(SWISH)]})
    if "Sigmoid -> s: generated" not in text or \
            "its result is also read outside of the match" not in text:
        fail("a value from within is read outside:\n" + text)
    # The least of a chain.
    text = explain([conv(y="y")], [W], {"one": [follow(RELU, min=1)]})
    if "a node that must follow it is missing" not in text:
        fail("min:\n" + text)


def optional():
    pattern = {"name": "p", "nodes": [
        dict(CONV, inputs=["any", "constant", {"optional": True}]),
        {"id": "bias", "op": "Mul", "inputs": ["conv", "constant"],
         "any_order": True, "optional": True},
        {"id": "act", "op": "Tanh", "inputs": ["bias"]}], "anchor": "conv"}
    tail = ["Tanh -> y: one_0, pattern p, 'act'"]
    expect("without", explain([conv(), node("Tanh", ["c"], ["y"])], [W],
                              {"one": [pattern]}),
           "Conv -> c: one_0, pattern p, 'conv'", *tail)
    text = explain([conv(), node("Exp", ["c"], ["e"]),
                    node("Tanh", ["e"], ["y"])], [W], {"one": [pattern]})
    if "Conv -> c: generated" not in text:
        fail("something else between:\n" + text)
    # A scale that is no constant is not folded, nor is it the bias.
    text = explain([conv(), node("Mul", ["x", "c"], ["m"]),
                    node("Tanh", ["m"], ["y"])], [W], {"one": [pattern]})
    if "one_0" in text:
        fail("no constant:\n" + text)


def dag():
    """Two readers of one node, which meet again."""
    pattern = {"name": "p", "nodes": [
        {"id": "t", "op": "Tanh"}, {"id": "e", "op": "Exp"},
        {"id": "a", "op": "Add", "inputs": ["t", "e"], "any_order": True}],
        "anchor": "a"}
    nodes = [node("Tanh", ["x"], ["t"]), node("Exp", ["x"], ["e"]),
             node("Add", ["e", "t"], ["y"])]
    expect("dag", explain(nodes, [], {"one": [pattern]}),
           "Tanh -> t: one_0, pattern p, 't'",
           "Exp -> e: one_0, pattern p, 'e'",
           "Add -> y: one_0, pattern p, 'a'")
    pattern["anchor"] = "t"  # found forwards, then backwards
    if explain(nodes, [], {"one": [pattern]}).count("one_0") != 3:
        fail("from another anchor")
    # Two results, one of them read by what the other one waits for.
    pair = {"name": "p", "nodes": [
        {"id": "n", "op": "Neg"},
        {"id": "t", "op": "Tanh", "inputs": ["n"]},
        {"id": "e", "op": "Max", "inputs": ["n", "any"],
         "any_order": True}]}
    text = explain([node("Neg", ["x"], ["n"]), node("Tanh", ["n"], ["t"]),
                    node("Exp", ["t"], ["f"]),
                    node("Max", ["n", "f"], ["y"])], [], {"one": [pair]})
    if "one_0" in text or "leads through other nodes" not in text:
        fail("a match that waits for itself:\n" + text)


# attribute or input condition: does it hold for a Conv [4, 4, 3, 3] with
# pads 1 and group 1; why not
CONDITIONS = [
    ({"attributes": {"group": 1}}, "attribute group is absent"),
    ({"attributes": {"group": {"one_of": [1], "or_absent": True}}}, None),
    ({"attributes": {"pads": 1}}, None),
    ({"attributes": {"pads": [1, 1, 1, 1]}}, None),
    ({"attributes": {"pads": {"max": 0}}},
     "attribute pads is 1; 0 or less is required"),
    ({"attributes": {"pads": {"length": 6}}},
     "the length of attribute pads is 4; 6 is required"),
    ({"attributes": {"pads": {"absent": True}}}, "attribute pads is present"),
    ({"attributes": {"auto_pad": {"one_of": ["NOTSET"],
                                  "or_absent": True}}}, None),
    ({"inputs": ["any", "constant"]}, None),
    ({"inputs": ["any", "variable"]}, "input 1 is a constant"),
    ({"inputs": ["constant", "any"]}, "input 0 is not a constant"),
    ({"inputs": ["any", "any", "any"]}, "input 2 is absent"),
    ({"inputs": ["any", "any", "optional"]}, None),
    ({"inputs": [{"dtype": ["f16", "bf16"]}, "any"]},
     "input 0 is float32; float16 or bfloat16 is required"),
    ({"inputs": [{"rank": 3}, "any"]}, "the rank of input 0 is 4; 3 is required"),
    ({"inputs": [{"shape": [1, 4, "..."]}, "any"]}, None),
    ({"inputs": [{"shape": [1, 4]}, "any"]},
     "input 0 has 4 dimensions; 2 are required"),
    ({"inputs": [{"shape": [1, "..."], "other_dims": {"max": 6}}, "any"]},
     None),
    ({"inputs": [{"shape": [1, "..."], "other_dims": {"max": 5}}, "any"]},
     "dimension 2 of input 0 is 6; 5 or less is required"),
    ({"inputs": [{"shape": [None, {"multiple": 8}, "..."]}, "any"]},
     "dimension 1 of input 0 is 4; a multiple of 8 is required"),
    ({"inputs": ["any", {"elems": {"min": 100}}]}, None),
    ({"inputs": ["any", {"elems": {"min": 200}}]},
     "the size of input 1 is 144; 200 or more is required"),
    ({"inputs": [{"users": 1}, "any"]}, None),
    ({"inputs": [{"users": {"min": 2}}, "any"]},
     "the number of users of input 0 is 1; 2 or more is required"),
    ({"inputs": [{"static": True}, "any"]}, None),
    ({"inputs": [{"static": False}, "any"]},
     "the shape of input 0 is fixed"),
    ({"inputs": [{"layout": "rows"}, "any"]}, None),
    ({"inputs": ["any", {"value": 1}]}, "input 1 is -0.5; 1 is required"),
    ({"inputs": [{"same_shape": "conv.inputs.1"}, "any"]},
     "the shapes differ"),
    ({"inputs": [{"row_of": "conv"}, "any"]}, "it is not a row of the other"),
    ({"inputs": ["any", {"row_of": "conv.inputs.1"}]},
     "it is not a row of the other"),
    ({"inputs": ["any", {"same_dtype": "conv"}]}, None),
    ({"outputs": [{"rank": 4}]}, None),
    ({"outputs": [{"same_shape": "conv.inputs.0"}]}, None),
    ({"outputs": ["absent"]}, "output 0 is present; it must be absent"),
    ({"facts": {"group": {"attribute": "group"}}},
     "attribute group is absent"),
    ({"facts": {"group": {"attribute": "group", "default": 1}}}, None),
    ({"facts": {"w": {"input": 1}}},
     "input 1 is not a constant of one element"),
]


def conditions():
    for keys, why in CONDITIONS:
        text = explain([conv(y="y")], [W], {
            "one": [{"name": "p", "nodes": [dict(CONV, **keys)]}]})
        want = ["Conv -> y: one_0, pattern p, 'conv'"] if why is None else [
            "Conv -> y: generated", "    one: as 'conv' of pattern p: " + why]
        expect(json.dumps(keys), text, *want)


def numbers():
    """Numbers are equal as numbers of their type, and nearly equal ones are not;
    bounds in another order than the facts say do not match."""
    near = 1.000008
    elu = {"id": "elu", "op": "Elu"}
    for alpha, value, why in (
            (1.0, 1, None), (0.7, 0.7, None),
            (near, 1, "attribute alpha is 1.00001")):
        text = explain([node("Elu", ["x"], ["y"], alpha=alpha)],
                       [], {"one": [{"name": "p", "nodes": [dict(
                           elu, attributes={"alpha": value})]}]})
        want = ["Elu -> y: one_0, pattern p, 'elu'"] if why is None else [
            "Elu -> y: generated", "    one: as 'elu' of pattern p: " + why]
        expect("Elu %r %r" % (alpha, value), text, *want)
    for at, value, why in (("half", 0.5, None), ("third", 1 / 3, None),
                           ("third", 0.33333, "input 1 is 0.333333; 0.33333 is required")):
        text = explain([node("Mul", ["x", at], ["y"])],
                       [HALF, tensor("third", [], floats(1 / 3))],
                       {"one": [{"name": "p", "nodes": [{
                           "id": "mul", "op": "Mul", "inputs": [
                               "any", {"value": value}]}]}]})
        want = ["Mul -> y: one_0, pattern p, 'mul'"] if why is None else [
            "Mul -> y: generated", "    one: as 'mul' of pattern p: " + why]
        expect("Mul %s %r" % (at, value), text, *want)
    clip = {"id": "clip", "op": "Clip",
            "inputs": ["any", "optional", "optional"],
            "facts": {"low": {"input": 1, "default": "-inf"},
                      "high": {"input": 2, "default": "inf",
                               "at_least": "low"}}}
    for low, high, why in (("zero", "six", None), ("six", "six", None),
                           ("six", "", None), ("", "six", None),
                           ("six", "zero", "high is 0; low or more is "
                                           "required, which is 6")):
        text = explain([node("Clip", ["x", low, high], ["y"])], [ZERO, SIX],
                       {"one": [{"name": "p", "nodes": [clip]}]})
        want = ["Clip -> y: one_0, pattern p, 'clip'"] if why is None else [
            "Clip -> y: generated", "    one: as 'clip' of pattern p: " + why]
        expect("Clip %s %s" % (low, high), text, *want)


def windows():
    """Windows that lie in the padding alone."""
    pool = {"id": "pool", "op": "MaxPool", "full_windows": True}
    for pads, why in ((1, None), (2, "a window along dimension 2 may lie in the "
                                     "padding alone")):
        text = explain([node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2],
                             pads=[pads, 1, 1, 1])], [],
                       {"one": [{"name": "p", "nodes": [pool]}]})
        want = ["MaxPool -> y: one_0, pattern p, 'pool'"] if why is None else [
            "MaxPool -> y: generated", "    one: as 'pool' of pattern p: " + why]
        expect("MaxPool %d" % pads, text, *want)


def differs():
    """What a backend says of its results is said once, of models that it computes
    a part of."""
    for op, times in (("Elu", 1), ("Relu", 0)):
        path = write([node("Elu", ["x"], ["t"]), node("Neg", ["t"], ["u"]),
                      node("Elu", ["u"], ["y"])], [])
        folder = os.path.join(FOLDER, "odd")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "backend.json"), "w") as file:
            json.dump({"description": "d", "differs": "NaN may be 0",
                       "patterns": [{"name": "p", "nodes": [
                           {"id": "a", "op": op}]}]}, file)
        said = execute([TIRC, "partition", path, "--byoc-path", FOLDER,
                        "--byoc", "odd"]).stderr
        if said.count("note: results of the backend odd: NaN may be 0") != times:
            fail("of %s is said: %s" % (op, said))


def rows():
    """What is added to each row alike."""
    bias = {"name": "p", "nodes": [{"id": "add", "op": "Add", "inputs": [
        "any", {"row_of": "add"}]}]}
    for dims, taken in (((6,), True), ((1, 1, 6), True), ((6, 1), False),
                        ((1,), False), ((4, 1, 6), False)):
        text = explain([node("Add", ["x", "b"], ["y"])],
                       [weights("b", *dims)], {"one": [bias]})
        if ("one_0" in text) != taken:
            fail("row of %s:\n%s" % (dims, text))


def sizes():
    """One that is known when it runs is no fixed one."""
    one = [{"name": "p", "nodes": [{"id": "r", "op": "Relu", "inputs": [
        {"static": True}]}]}]
    relu = [node("Relu", ["x"], ["y"])]
    dims = ("n", 4, 6, 6)
    expect("a range", explain(relu, [], {"one": one}, dims=dims,
                              options=("--dim", "n=1..8")),
           "Relu -> y: generated",
           "    one: as 'r' of pattern p: input 0 is float32[n, 4, 6, 6], "
           "which is not fixed; --dim NAME=SIZE makes it so")
    expect("a size", explain(relu, [], {"one": one}, dims=dims,
                             options=("--dim", "n=8")),
           "Relu -> y: one_0, pattern p, 'r'")


def values():
    """A clip by given numbers; others are another's."""
    nodes = [node("Clip", ["x", "zero", "six"], ["y"])]
    six = {"name": "six", "nodes": [{"id": "c", "op": "Clip", "inputs": [
        "any", {"is": "constant", "value": 0},
        {"is": "constant", "value": 6}]}]}
    expect("value", explain(nodes, [ZERO, SIX], {"one": [six]}),
           "Clip -> y: one_0, pattern six, 'c'")
    expect("other value", explain([node("Clip", ["x", "zero", "half"],
                                        ["y"])], [ZERO, HALF],
                                  {"one": [six]}),
           "Clip -> y: generated",
           "    one: as 'c' of pattern six: input 2 is 0.5; 6 is required")


def layouts():
    """What a Transpose leaves together."""
    for perm, have in (([0, 2, 1, 3], "rows"), ([0, 1, 3, 2], "columns"),
                       ([0, 3, 2, 1], "pieces")):
        for wanted in (["rows"], ["columns"], ["rows", "columns"]):
            text = explain([node("Transpose", ["x"], ["y"], perm=perm)], [], {
                "one": [{"name": "p", "nodes": [
                    {"id": "t", "op": "Transpose",
                     "outputs": [{"layout": wanted}]}]}]})
            expect("%s in %s" % (have, wanted), text, *(
                ["Transpose -> y: one_0, pattern p, 't'"] if have in wanted
                else ["Transpose -> y: generated",
                      "    one: as 't' of pattern p: output 0 is stored in %s; %s "
                      "are required" % (have, " or ".join(wanted))]))


def choices():
    """Whose match is taken where several are."""
    nodes = [conv(), node("Relu", ["c"], ["r"]), node("Tanh", ["r"], ["y"])]
    small = dict(CONVOLUTION, name="small")
    large = dict(follow(RELU), name="large")
    pair = {"name": "pair", "nodes": [
        {"id": "r", "op": "Relu"}, {"id": "t", "op": "Tanh",
                                    "inputs": ["r"]}]}
    expect("size", explain(nodes, [W], {"one": [small, large]}),
           "Conv -> c: one_0, pattern large, 'conv'",
           "Relu -> r: one_0, pattern large, follower 0, relu",
           "Tanh -> y: generated",
           "    one: no pattern has the operator Tanh")
    # The higher priority takes its nodes; the other is found with what is
    # left.
    expect("priority", explain(nodes, [W], {
        "one": [small, large, dict(pair, priority=1)]}),
        "Conv -> c: one_0, pattern small, 'conv'",
        "Relu -> r: one_0, pattern pair, 'r'",
        "Tanh -> y: one_0, pattern pair, 't'")
    expect("backends", explain(nodes, [W], {"one": [pair], "two": [large]}),
           "Conv -> c: two_0, pattern large, 'conv'",
           "Relu -> r: one_0, pattern pair, 'r'",
           "Tanh -> y: one_0, pattern pair, 't'")
    text = explain(nodes, [W], {"one": [
        dict(small, cost={"min_macs": 10 ** 6})]})
    if "its 5184 multiply-accumulates are not worth it (1000000 would be)" \
            not in text:
        fail("cost:\n" + text)
    text = explain(nodes, [W], {"one": {
        "patterns": [small], "region": {"min_macs": 10 ** 6}}})
    if "its region has 5184 multiply-accumulates; 1000000 would be worth" \
            not in text:
        fail("cost of a region:\n" + text)
    text = explain(nodes, [W], {"one": [dict(pair, alone=False)]})
    if "one_0" in text or "its pattern needs another one in the same region" not in text:
        fail("alone:\n" + text)


def regions():
    """A region goes around what its own results go through."""
    take = [CONVOLUTION, {"name": "add", "nodes": [
        {"id": "add", "op": "Add", "inputs": ["any", "any"]}]}]
    nodes = [conv(), node("Exp", ["c"], ["e"]),
             node("Add", ["c", "e"], ["a"]), conv("a", "d"),
             node("Add", ["c", "d"], ["y"])]
    expect("regions", explain(nodes, [W], {"one": take}),
           "Conv -> c: one_0, pattern convolution, 'conv'",
           "Exp -> e: generated",
           "    one: no pattern has the operator Exp",
           "Add -> a: one_1, pattern add, 'add'",
           "Conv -> d: one_1, pattern convolution, 'conv'",
           "Add -> y: one_1, pattern add, 'add'")
    text = explain(nodes, [W], {"one": {"patterns": take,
                                        "region": {"max_matches": 2}}})
    if "Add -> y: one_2" not in text:
        fail("max_matches:\n" + text)
    text = explain(nodes, [W], {"one": {"patterns": take,
                                        "region": {"merge": False}}})
    if "Conv -> d: one_2" not in text or "Add -> y: one_3" not in text:
        fail("merge:\n" + text)
    done = execute([TIRC, "partition", os.path.join(FOLDER, "model.onnx"),
                    "--byoc-path", FOLDER, "--byoc", "one",
                    "--print-after", "partition"]).stdout
    for line in ["  region one_1:\n", "  # one.add add\n",
                 "4 regions: 4 of 5 nodes (80.0 %)"]:
        if line not in done:
            fail("print: no %r in\n%s" % (line, done))


def command_pass():
    """What a command leaves are other nodes; the reasons stay theirs."""
    nodes = [conv(), node("Exp", ["c"], ["e"]), conv("e", "y", group=1)]
    patterns = [{"name": "p", "nodes": [dict(
        CONV, attributes={"group": {"absent": True}})]}]
    plain = explain(nodes, [W], {"one": patterns})
    if "attribute group" not in plain:
        fail("no reason:\n" + plain)
    for stage in ("annotated", "merged", "partitioned"):
        expect("after " + stage, explain(nodes, [W], {"one": {
            "patterns": patterns, "passes": [
                {"name": "same", "after": stage, "command": "cat"}]}}),
            *plain.strip().split("\n"))


PARAMETERS = """static void
{{region}}({{open}}{{#parameters}}{{text}}{{^last}},{{br}}{{/last}}{{/parameters}}{{close}})
{
	/*{{#constants}} {{name}}{{/constants}} of{{#tensors}} {{name}}{{/tensors}} */
}
"""


def told():
    """What a fact tells of is no parameter, unless the pattern says so; what
    the pattern says is none, neither."""
    any_, none = "any", {"is": "any", "parameter": False}
    kept = {"is": "constant", "parameter": True}
    low = {"low": {"input": 1}}
    clip = [node("Clip", ["x", "zero", "six"], ["y"])]
    added = [node("Add", ["zero", "x"], ["y"])]
    for nodes, op, keys, want in (
            (clip, "Clip", {"inputs": [any_] * 3}, "low high of x low high y"),
            (clip, "Clip", {"inputs": [any_] * 3, "facts": low},
             "high of x high y"),
            (clip, "Clip", {"inputs": [any_, kept, any_], "facts": low},
             "low high of x low high y"),
            (clip, "Clip", {"inputs": [any_, any_, none], "facts": low},
             "of x y"),
            (clip, "Clip", {"inputs": [any_], "rest": none}, "of x y"),
            (added, "Add", {"inputs": ["variable", none], "any_order": True},
             "of x y")):
        folder = os.path.join(FOLDER, "told")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "region.tmpl"), "w") as file:
            file.write(PARAMETERS)
        with open(os.path.join(folder, "backend.json"), "w") as file:
            json.dump({"description": "d", "templates": {
                "region": "region.tmpl"}, "patterns": [{
                    "name": "p", "nodes": [dict({"id": "n", "op": op},
                                                **keys)]}]}, file)
        out = os.path.join(FOLDER, "out")
        execute([TIRC, "compile", "-q", write(nodes, [ZERO, SIX]), "--byoc",
                 "told", "--byoc-path", FOLDER, "--name", "m", "-o", out])
        with open(os.path.join(out, "m.c")) as file:
            text = file.read()
        if "\t/* %s */" % want not in text and "\t/*%s */" % want not in text:
            fail("%s: not '%s':\n%s" % (keys, want, text))


def low_bits():
    """Elements of fewer than 8 bits, whose bytes may have more of them set: only
    patterns that name the type take them."""
    nodes = [node("DequantizeLinear", ["q", "half"], ["y"])]
    constant = tensor("q", DIMS, bytes(72), 22)
    for q, named, want in (("any", False, False), ("any", True, True),
                           ({"is": "any", "dtype": "f32"}, False, False)):
        if named:
            q = {"is": "any", "dtype": ["i8", "i4"]}
        pattern = {"name": "p", "nodes": [{
            "id": "n", "op": "DequantizeLinear", "inputs": [q, "any"]}]}
        for inputs, constants in (([value_info("q", DIMS, 22)], []),
                                  ([value_info("x", [1])], [constant])):
            folder = os.path.join(FOLDER, "one")
            path = os.path.join(FOLDER, "model.onnx")
            os.makedirs(folder, exist_ok=True)
            with open(path, "wb") as file:
                file.write(model(graph(nodes, inputs, [value_info("y", None)],
                                       [HALF, *constants]), version=21))
            with open(os.path.join(folder, "backend.json"), "w") as file:
                json.dump({"description": "d", "patterns": [pattern]}, file)
            text = execute([TIRC, "partition", path, "--explain",
                            "--disable-pass", "fold", "--byoc", "one",
                            "--byoc-path", FOLDER]).stdout
            if ("one_0" in text) != want or (
                    q == "any" and "of which the low bits count" not in text):
                fail("%s: int4 of %d inputs:\n%s" % (q, len(inputs), text))


chains()
optional()
dag()
conditions()
rows()
numbers()
windows()
differs()
sizes()
values()
layouts()
choices()
regions()
command_pass()
told()
low_bits()
