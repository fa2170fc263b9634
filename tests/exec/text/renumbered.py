# SPDX-License-Identifier: Apache-2.0
"""The same model as another run of its exporter would write it: names that only
count are other ones, independent nodes stand in another order, an Identity more
is there. Used by small_diff.py."""
import random

from onnx import helper


def insert_identity(model, at):
    """Behind the at-th node: whoever read its first output reads a copy of
    it."""
    graph = model.graph
    name = graph.node[at].output[0]
    for node in graph.node:
        for i, x in enumerate(node.input):
            if x == name:
                node.input[i] = name + "_copy"
    graph.node.insert(at + 1, helper.make_node(
        "Identity", [name], [name + "_copy"], "an_identity"))


def reorder(model, seed):
    """Any other order in which each node stands behind what it reads."""
    rng = random.Random(seed)
    nodes = list(model.graph.node)
    made = {name for node in nodes for name in node.output}
    ready = set()
    del model.graph.node[:]
    while nodes:
        free = [n for n in nodes if all(
            x not in made or x in ready for x in n.input)]
        node = rng.choice(free)
        nodes.remove(node)
        ready.update(node.output)
        model.graph.node.append(node)


def rename(model, style, start):
    """Names as exporters give them, counted from `start` on.

    numbers  nodes "Conv_12", tensors "123"
    scopes   nodes "/model/layer1/Conv", tensors "/model/layer1/Conv_output_0",
             constants "onnx::Conv_123"
    values   nodes "node_Conv_12", tensors "val_17"
    """
    graph = model.graph
    fixed = {x.name for x in [*graph.input, *graph.output]}
    constants = {x.name for x in graph.initializer}
    names, place = {}, {}
    for n, node in enumerate(graph.node, start):
        scope = "/model/%s" % "/".join(
            part for part in scope_of(graph, node).split(".") if part)
        if style == "scopes":
            node.name = scope + "/" + node.op_type
            place[node.name] = place.get(node.name, -1) + 1
            if place[node.name]:
                node.name += "_%d" % place[node.name]
        else:
            node.name = ("node_%s_%d" if style == "values" else "%s_%d") % (
                node.op_type, n)
        for k, out in enumerate(node.output):
            if out and out not in fixed:
                names[out] = {
                    "numbers": "%d" % (2 * n + k),
                    "scopes": "%s_output_%d" % (node.name, k),
                    "values": "val_%d" % (2 * n + k)}[style]
    if style == "scopes":
        for n, node in enumerate(graph.node):
            for x in node.input:
                if x in constants and x not in names:
                    names[x] = "onnx::%s_%d" % (node.op_type,
                                                7 * start + len(names))
    for node in graph.node:
        for names_of in (node.input, node.output):
            for i, x in enumerate(names_of):
                names_of[i] = names.get(x, x)
    for x in [*graph.initializer, *graph.value_info]:
        x.name = names.get(x.name, x.name)


def scope_of(graph, node):
    """What the first constant it reads is called, without the last word."""
    constants = {x.name for x in graph.initializer}
    for x in node.input:
        if x in constants and "." in x:
            return x.rsplit(".", 1)[0]
    return "main"
