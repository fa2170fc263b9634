#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names as exporters make them of the paths of modules: comments shorten them, no
two names the same one, and a table at the end of the file has each name that is
shown, whole, once. The metadata have whole names. A model with another node has
the same parts; one whose names are short has no table."""
import json
import os
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

from helper import STRICT, compile_model, execute, fail, work_folder

DEEP = "/model/text_encoder/transformer/encoder/layers.%d/%s"
# Names of which the last parts are the same, and of which all parts are.
ALIKE = ["/%s/module/layers.7/out_projection/with_a_long_name/MatMul" % name
         for name in ("encoder", "decoder")]
ONE_WORD = "averyveryverylongnamewithoutanyseparatorinit" * 4
LONG = 56


class Model:
    def __init__(self, name_of):
        self.rng = np.random.default_rng(5)
        self.name_of = name_of
        self.nodes, self.weights = [], []
        self.last = self.name_of("/model/text_encoder/inputs/" + "x" * 60)
        self.first = self.last

    def add(self, op, path, *constants, **attributes):
        output = self.name_of(path + "_output_0")
        inputs = [self.last]
        for value in constants:
            inputs.append(self.name_of("%s.constant%d" % (path, len(inputs))))
            self.weights.append(numpy_helper.from_array(value, inputs[-1]))
        self.nodes.append(helper.make_node(op, inputs, [output],
                                           self.name_of(path), **attributes))
        self.last = output

    def matrix(self, path):
        self.add("MatMul", path,
                 self.rng.standard_normal((8, 8)).astype(np.float32))

    def branches(self, path):
        """An If, whose comment in the entry function has its name."""
        wanted = self.name_of(path + ".condition")
        output = self.name_of(path + "_output_0")
        arms = []
        for arm, op in (("then", "Relu"), ("else", "Tanh")):
            value = self.name_of("%s/%s_output_0" % (path, arm))
            arms.append(helper.make_graph(
                [helper.make_node(op, [self.last], [value],
                                  self.name_of("%s/%s" % (path, arm)))],
                arm, [], [helper.make_tensor_value_info(
                    value, TensorProto.FLOAT, None)]))
        self.nodes.append(helper.make_node(
            "If", [wanted], [output], self.name_of(path),
            then_branch=arms[0], else_branch=arms[1]))
        self.last = output
        return helper.make_tensor_value_info(wanted, TensorProto.BOOL, [])

    def save(self, more_inputs):
        def info(name):
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 8])
        graph = helper.make_graph(self.nodes, "net", [info(self.first)] +
                                  more_inputs, [info(self.last)], self.weights)
        path = os.path.join(work_folder(), "net.onnx")
        save(helper.make_model(graph, opset_imports=[
            helper.make_opsetid("", 17)], ir_version=8), path)
        return path


def model(name_of=lambda name: name, one_more=False):
    m = Model(name_of)
    scale = np.linspace(.5, 2, 8).astype(np.float32)
    for layer in range(3):
        for part in ("self_attn/q_proj/MatMul", "self_attn/k_proj/MatMul",
                     "mlp/fc1/MatMul"):
            m.matrix(DEEP % (layer, part))
            m.add("Mul", DEEP % (layer, part + "/scale/Mul"), scale)
        m.add("Softmax", DEEP % (layer, "self_attn/Softmax"))
        if one_more and layer == 1:
            m.add("Tanh", DEEP % (layer, "mlp/one/more/activation/Tanh"))
        m.add("LayerNormalization", DEEP % (layer, "final_layer_norm/"
                                            "LayerNormalization"), scale, scale)
    for path in ALIKE:
        m.matrix(path)
        m.add("Softmax", path + "/Softmax")
    m.matrix(ONE_WORD + "1")
    m.matrix("é" * 100)
    wanted = m.branches(DEEP % (3, "early_exit/controller/decision/If"))
    return m.save([wanted])


def table(text):
    """The names by their parts, from the end of a source, and what is before."""
    before, found, rows = text.partition("/* Names of the model that")
    if not found:
        return {}, text
    pairs = re.findall(r'^ \*   (\S.*)\n \*       "(.*)"$', rows, re.M)
    if 2 * len(pairs) != len(rows.strip().split("\n")) - 2:
        fail("rows that are none:\n" + rows)
    if len({part for part, _ in pairs}) != len(pairs) or \
            len({name for _, name in pairs}) != len(pairs):
        fail("the table has a name or a part twice:\n" + rows)
    plain = [pair for pair in pairs if "<U+" not in pair[0]]
    if plain != sorted(plain):
        fail("the table is not sorted:\n" + rows)
    return dict(pairs), before


def check(folder, name, metadata):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        parts, text = table(f.read())
    if not parts:
        fail("%s has no table" % name)
    for part, whole in parts.items():
        if part not in text:
            fail("%s: nothing shows %s" % (name, part))
        if len(part) >= len(whole):
            fail("%s is not shorter than %s" % (part, whole))
    for shown in re.findall(r'(?<=[\s"])\.\.\.[\w<][^\s"]*', text):
        if shown.rstrip(",;:)") not in parts:
            fail("%s: the table lacks %s" % (name, shown))
    for whole in metadata:
        if len(whole) > LONG and whole in text:
            fail("%s shows all of %s" % (name, whole))
    return parts


def names_in(path):
    with open(path, encoding="utf-8") as f:
        facts = json.load(f)
    return {row[key] for row in facts["trace"] for key in ("node", "output")}


def parts_of(path, target, sources):
    """What the table of the last source has, after a check of all."""
    out = compile_model(path, "--name", "net", "--target", target)
    names = names_in(os.path.join(out, "net.json"))
    if not any(len(name) > LONG for name in names):
        fail("the metadata have no long names")
    for source in sources:
        parts = check(out, source, names)
    for name in os.listdir(out):
        if target == "c99" and name.endswith(".c"):
            execute(["cc", "-std=c99", *STRICT, "-fsyntax-only",
                     os.path.join(out, name)])
    return parts


PLAIN = model()
for target, sources in (("misra", ["net.c"]), ("cuda", ["net.cu"]),
                        ("opencl", ["net.c", "net.cl"]), ("c99", ["net.c"])):
    print(target)
    plain = parts_of(PLAIN, target, sources)
more = parts_of(model(one_more=True), "c99", ["net.c"])
if any(more.get(part) != name for part, name in plain.items()):
    fail("another node changes the parts:\n%s\n%s" % (plain, more))
for path in ALIKE:
    if path + "_output_0" not in plain.values():
        fail("the table lacks %s" % path)
if not any("layers.1/" in part and "q_proj/" in part for part in plain):
    fail("no part tells layer and module: %s" % list(plain))

# Comments show both of these names as the same text.
same = Model(lambda name: name)
for path in ("...a\\", "...a/", "b/" * 40 + "\\", "b/" * 41):
    same.matrix(path)
compile_model(same.save([]), "--name", "net")

SHORT = {}
out = compile_model(model(lambda name: SHORT.setdefault(
    name, "name_%d" % len(SHORT))), "--name", "net")
with open(os.path.join(out, "net.c"), encoding="utf-8") as f:
    text = f.read()
if "Names of the model" in text or re.search(r"\.\.\.\w", text):
    fail("a table of short names")
