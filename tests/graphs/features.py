# SPDX-License-Identifier: Apache-2.0
"""The rare features of a graph, in words, so that a run can tell how often each
of them occurred."""
import collections

import numpy as np
import onnx

import values
from maker import SYMBOL

# Inputs that are parameters of an operator rather than data.
PARAMETERS = set("""Conv ConvTranspose MatMul Gemm BatchNormalization
    LayerNormalization RMSNormalization InstanceNormalization
    GroupNormalization PRelu QuantizeLinear DequantizeLinear QLinearConv
    QLinearMatMul ConvInteger MatMulInteger""".split())
AXES = {"axis", "axes"}


def of_values(tensors):
    for tensor in tensors:
        name = tensor.value.dtype.name
        if name in values.SHORT:
            yield name
        elif name in values.SMALL_FLOATS:
            yield "small floats"
        elif name not in ("float32", "int64", "int32", "uint8", "int8"):
            yield name
        if tensor.value.size == 0:
            yield "zero sizes"
        if values.is_float(tensor.value) and tensor.kind != "result":
            wide = tensor.value.astype(np.float64)
            if np.isnan(wide).any():
                yield "NaN"
            if np.isinf(wide).any():
                yield "infinities"


def of_node(graph, node):
    tensors = [graph.tensors[name] for name in node.input if name]
    if node.attribute:
        yield "attributes"
    if "" in node.input:
        yield "absent inputs"
    kinds = {t.kind for t in tensors}
    if tensors and kinds == {"constant"}:
        yield "nodes of constants"
    if node.op_type not in PARAMETERS and tensors and \
            tensors[0].kind == "constant" and len(kinds) > 1:
        yield "constants among activations"
    shapes = {t.value.shape for t in tensors}
    if node.op_type in ("Add", "Sub", "Mul", "Div", "Where", "Max", "Min") \
            and len(shapes) > 1:
        yield "broadcasting"
    for a in node.attribute:
        value = onnx.helper.get_attribute_value(a)
        if a.name in AXES and np.any(np.asarray(value) < 0):
            yield "negative axes"
        if a.name in ("dilations", "group", "auto_pad", "ceil_mode",
                      "block_size", "noop_with_empty_axes",
                      "select_last_index", "training_mode") and \
                value not in (0, 1, b"NOTSET"):
            yield a.name
        elif a.name in ("ceil_mode", "noop_with_empty_axes", "training_mode",
                        "select_last_index") and value == 1:
            yield a.name
    if node.op_type in PARAMETERS and any(
            n in (1, 3, 5, 17) for t in tensors[:2]
            for n in t.value.shape[:2]):
        yield "odd channels"
    if len(node.output) > 1:
        yield "several outputs of a node"


def of(graph):
    """The set of a graph's features."""
    found = set(of_values(graph.tensors.values()))
    readers = collections.Counter()
    ops = [node.op_type for node in graph.nodes]
    for node in graph.nodes:
        found.update(of_node(graph, node))
        readers.update(set(node.input))
    if any(readers[name] for name in graph.outputs):
        found.add("outputs used inside")
    if any(n > 1 and graph.tensors[name].kind == "result"
           for name, n in readers.items() if name):
        found.add("results read by several nodes")
    if "DequantizeLinear" in ops and "QuantizeLinear" in ops:
        found.add("QDQ")
    if graph.symbolic and any(
            SYMBOL in t.value.shape for t in graph.tensors.values()
            if t.kind == "input"):
        found.add("symbolic sizes")
    if len(graph.outputs) > 1:
        found.add("several outputs")
    if graph.opset < 24:
        found.add("an earlier opset")
    found.update(" ".join(o.lstrip("-") for o in graph.options[i:i + 2])
                 for i in range(0, len(graph.options), 2))
    return found
