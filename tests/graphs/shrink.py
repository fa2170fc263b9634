# SPDX-License-Identifier: Apache-2.0
"""Reduces a graph that fails: it keeps failing with fewer outputs, fewer nodes
(the results of a removed node become inputs of the same value), fewer
attributes and fewer constants."""
import copy
import os
import re

import onnx
from onnx import numpy_helper


def kind(text):
    """The kind of failure, without names and numbers: a reduced graph must fail
    in the same way."""
    if text.startswith("refused"):
        return re.sub(r"'[^']*'|-?\d+", "", text)
    for word in ("does not compile", "exit status", "tirc:", "writes",
                 "more than"):
        if text.startswith(word):
            return word
    return "values"


def clone(graph):
    other = copy.copy(graph)
    other.nodes = [copy.deepcopy(node) for node in graph.nodes]
    other.tensors = {n: copy.copy(t) for n, t in graph.tensors.items()}
    other.outputs = list(graph.outputs)
    return other


def tidy(graph):
    """The graph without unused tensors and outputs, or None where nothing is
    left."""
    made = {name for node in graph.nodes for name in node.output}
    used = {name for node in graph.nodes for name in node.input}
    graph.outputs = [n for n in graph.outputs if n in made]
    for name in list(graph.tensors):
        if name not in used | made:
            del graph.tensors[name]
        elif graph.tensors[name].kind == "result" and name not in made:
            graph.tensors[name].kind = "input"
    return graph if graph.nodes and graph.outputs else None


def without_node(graph, index):
    other = clone(graph)
    gone = other.nodes.pop(index)
    ends = [n for n in gone.output if n in other.outputs]
    other.outputs = [n for n in other.outputs if n not in gone.output]
    if ends and not other.outputs:
        made = {name for node in other.nodes for name in node.output}
        other.outputs = [n for n in gone.input if n in made][:1]
    return tidy(other)


def without_dead(graph):
    """The graph without the nodes that no output needs."""
    other = clone(graph)
    needed = set(other.outputs)
    for index in range(len(other.nodes) - 1, -1, -1):
        node = other.nodes[index]
        if needed & set(node.output):
            needed |= set(node.input)
        else:
            del other.nodes[index]
    return tidy(other)


def candidates(graph):
    """Graphs with one thing less."""
    for name in graph.outputs:
        if len(graph.outputs) > 1:
            other = clone(graph)
            other.outputs = [name]
            yield without_dead(other)
    for name in graph.outputs:
        if len(graph.outputs) > 1:
            other = clone(graph)
            other.outputs.remove(name)
            yield without_dead(other)
    yield without_dead(graph)
    for index in range(len(graph.nodes)):
        yield without_node(graph, index)
    if graph.symbolic:
        other = clone(graph)
        other.symbolic = False
        yield other
    if graph.options:
        other = clone(graph)
        other.options = []
        yield other
    for index, node in enumerate(graph.nodes):
        for a in range(len(node.attribute)):
            other = clone(graph)
            del other.nodes[index].attribute[a]
            yield other
    for name, tensor in graph.tensors.items():
        if tensor.kind == "constant":
            other = clone(graph)
            other.tensors[name].kind = "input"
            yield tidy(other)


def size(graph):
    return (len(graph.nodes), len(graph.outputs), graph.symbolic,
            len(graph.options),
            sum(len(n.attribute) for n in graph.nodes),
            sum(t.kind == "constant" for t in graph.tensors.values()))


def smallest(graph, result, attempt, tries=150):
    """The smallest graph that fails in the same way, and its Result, after at
    most so many tries. `attempt` gives the Result of a graph."""
    going = True
    while going and tries > 0:
        going = False
        for other in candidates(graph):
            if other is None or size(other) >= size(graph):
                continue
            tries -= 1
            try:
                found = attempt(other)
            except Exception:  # no valid graph any more
                continue
            if found.what == "failed" and \
                    kind(found.text) == kind(result.text):
                graph, result, going = other, found, True
                break
            if tries <= 0:
                break
    return graph, result


def described(tensor):
    value = tensor.value
    text = "%s %s %s%s" % (tensor.kind, tensor.name, value.dtype.name,
                           list(value.shape))
    if value.size <= 12:
        text += " = " + str(value.tolist())
    return text


def text(graph):
    lines = ["  " + described(t) for t in graph.tensors.values()
             if t.kind != "result"]
    for node in graph.nodes:
        more = ", ".join("%s=%s" % (
            a.name, onnx.helper.get_attribute_value(a))
            for a in node.attribute if a.name != "value")
        lines.append("  %s = %s(%s%s)" % (
            ", ".join("%s %s%s" % (
                n, graph.tensors[n].value.dtype.name,
                list(graph.tensors[n].value.shape)) for n in node.output),
            node.op_type, ", ".join(node.input), more and "; " + more))
    lines.append("  outputs %s%s; opset %d %s" % (
        ", ".join(graph.outputs), ", symbolic" if graph.symbolic else "",
        graph.opset, " ".join(graph.options)))
    return "\n".join(lines)


def write(graph, folder, want, given):
    """Writes the model with inputs and expected outputs as `tirc test` reads
    them."""
    data = os.path.join(folder, "test_data_set_0")
    os.mkdir(data)
    model = graph.model()
    onnx.save(model, os.path.join(folder, "model.onnx"))
    for stem, names, arrays in (
            ("input", [i.name for i in model.graph.input], given),
            ("output", graph.outputs, want)):
        for i, name in enumerate(names):
            onnx.save_tensor(numpy_helper.from_array(arrays[name], name),
                             os.path.join(data, "%s_%d.pb" % (stem, i)))
