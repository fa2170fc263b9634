# SPDX-License-Identifier: Apache-2.0
"""What a model gives, the same on every processor. onnxruntime computes the
nodes, without its optimizations; those operators whose results it rounds,
saturates or leaves out are computed here:

- Sums of products of bytes. Where a processor has no dot product of bytes,
  onnxruntime adds two products in 16 bits, and the sum saturates.
- Reductions of integers, which onnxruntime computes as float64.
- The softmax of a tree ensemble of two classes, which onnxruntime leaves out.

Needs numpy, onnx and onnxruntime."""
import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def attribute(node, name, default=None):
    for a in node.attribute:
        if a.name == name:
            return onnx.helper.get_attribute_value(a)
    return default


def wrapped(array, dtype):
    """Python's integers as integers of a type, modulo its range."""
    dtype = np.dtype(dtype)
    bits = 8 * dtype.itemsize
    flat = [int(v) % 2 ** bits for v in np.asarray(array, object).ravel()]
    return np.array(flat, "uint%d" % bits).view(dtype).reshape(
        np.shape(array))


def saturated(array, dtype):
    """Whole floats as integers of a type, the nearest where they are beyond
    its range; 0 for NaN."""
    limits = np.iinfo(dtype)
    return np.clip(np.nan_to_num(array), limits.min, limits.max).astype(dtype)


def given(inputs, index, default=None):
    """An input, or `default` where it is absent."""
    return inputs[index] if len(inputs) > index and \
        inputs[index] is not None else default


# -- sums of products of bytes

def centred(x, zero, axis):
    """x minus its zero point: a number, one for each index of `axis` (-2 or
    -1 of a matrix, 0 of weights), or an array of x's rank. float64 holds the
    sums of the products exactly: they are far below 2 to the power of 53."""
    x = x.astype(np.float64)
    if zero is None:
        return x
    zero = np.asarray(zero, np.float64)
    if zero.size == 1:
        return x - zero.reshape(())
    if zero.ndim == 1:
        zero = zero.reshape([-1 if d == axis % x.ndim else 1
                             for d in range(x.ndim)])
    return x - zero


def sums(a, b, zero_a=None, zero_b=None):
    """The product of two matrices of bytes."""
    return np.matmul(centred(a, zero_a, -2), centred(b, zero_b, -1))


def window_pads(node, size, kernel):
    """For each dimension of a Conv's image its padding before and behind."""
    rank = len(size)
    strides = attribute(node, "strides", [1] * rank)
    dilations = attribute(node, "dilations", [1] * rank)
    auto = attribute(node, "auto_pad", b"NOTSET")
    if auto == b"NOTSET":
        pads = attribute(node, "pads", [0] * 2 * rank)
        return list(zip(pads[:rank], pads[rank:]))
    if auto == b"VALID":
        return [(0, 0)] * rank
    found = []
    for n, k, s, d in zip(size, kernel, strides, dilations):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        less, more = total // 2, total - total // 2
        found.append((less, more) if auto == b"SAME_UPPER" else (more, less))
    return found


def conv_sums(node, x, w, zero_x=None, zero_w=None):
    """The sums of a Conv of bytes, whose padding is the zero point."""
    rank, group = x.ndim - 2, attribute(node, "group", 1)
    kernel = w.shape[2:]
    strides = attribute(node, "strides", [1] * rank)
    dilations = attribute(node, "dilations", [1] * rank)
    x = np.pad(centred(x, zero_x, 1), [(0, 0), (0, 0)] + window_pads(
        node, x.shape[2:], kernel))
    w = centred(w, zero_w, 0).reshape(
        (group, w.shape[0] // group, w.shape[1]) + kernel)
    out = [max((n - (k - 1) * d - 1) // s + 1, 0) for n, k, s, d in zip(
        x.shape[2:], kernel, strides, dilations)]
    y = np.zeros((x.shape[0], group, w.shape[1], int(np.prod(out))))
    for tap in np.ndindex(*kernel):
        part = x[(slice(None), slice(None)) + tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s) if n else slice(0, 0)
            for t, d, n, s in zip(tap, dilations, out, strides))]
        y += np.matmul(w[(Ellipsis,) + tap], part.reshape(
            x.shape[0], group, w.shape[2], -1))
    return y.reshape([x.shape[0], group * w.shape[1]] + out)


def per_row(value, rank):
    """A scale or zero point of rows, one for each, as it multiplies sums."""
    value = np.asarray(value)
    return value.reshape(-1, 1) if value.ndim == 1 and value.size > 1 \
        else value.reshape(()) if value.size == 1 else value


def requantized(total, factor, zero):
    """Sums times a factor of float32, rounded, with the zero point added."""
    zero = np.asarray(zero)
    return saturated(np.rint(
        total.astype(np.float32) * np.asarray(factor, np.float32)).astype(
            np.float64) + zero.astype(np.float64), zero.dtype)


def as_int32(total):
    """Exact sums as the integers that they are, modulo 2 to the power of
    32."""
    return total.astype(np.int64).astype(np.int32)


def matmul_integer(node, inputs):
    return [as_int32(sums(inputs[0], inputs[1], given(inputs, 2),
                          given(inputs, 3)))]


def conv_integer(node, inputs):
    return [as_int32(conv_sums(node, inputs[0], inputs[1], given(inputs, 2),
                               given(inputs, 3)))]


def qlinear_matmul(node, inputs):
    a, scale_a, zero_a, b, scale_b, zero_b, scale_y, zero_y = inputs
    total = sums(a, b, zero_a, zero_b)
    factor = per_row(scale_a, a.ndim) * np.squeeze(
        scale_b.astype(np.float32)) / per_row(scale_y, a.ndim)
    return [requantized(total, factor, per_row(zero_y, a.ndim))]


def qlinear_conv(node, inputs):
    x, scale_x, zero_x, w, scale_w, zero_w, scale_y, zero_y = inputs[:8]
    total = conv_sums(node, x, w, zero_x, zero_w)
    channel = [-1] + [1] * (x.ndim - 2)
    if given(inputs, 8) is not None:
        total = total + inputs[8].reshape(channel)
    factor = scale_x * scale_w / scale_y
    return [requantized(total, factor.reshape(channel) if factor.size > 1
                        else factor.reshape(()), zero_y.reshape(()))]


def channels(x, last):
    """x with its channels moved to the end (last), or from there to dimension 1."""
    return np.moveaxis(x, 1, -1) if last else np.moveaxis(x, -1, 1)


def qlinear_conv_of_pixels(node, inputs):
    """The channels may be last."""
    if not attribute(node, "channels_last", 0):
        return qlinear_conv(node, inputs)
    y = qlinear_conv(node, [channels(inputs[0], False), *inputs[1:]])[0]
    return [np.ascontiguousarray(channels(y, True))]


def matmul_integer_to_float(node, inputs):
    a, b, scale_a, scale_b = inputs[:4]
    y = sums(a, b, given(inputs, 4), given(inputs, 5)).astype(np.float32)
    y = y * (per_row(scale_a, a.ndim) * np.squeeze(scale_b))
    return [(y + given(inputs, 6, np.float32(0))).astype(np.float32)]


def dynamic_bytes(x):
    """x as DynamicQuantizeLinear quantizes it: bytes, their scale and their
    zero point."""
    low = np.minimum(x.min(initial=0), np.float32(0))
    high = np.maximum(x.max(initial=0), np.float32(0))
    scale = np.float32((high - low) / np.float32(255)) or np.float32(1)
    zero = saturated(np.rint(-low / scale), np.uint8)
    return saturated(np.rint(x / scale) + np.float32(zero), np.uint8), \
        scale, zero


def dynamic_quantize_matmul(node, inputs):
    a, scale, zero = dynamic_bytes(inputs[0])
    y = sums(a, inputs[1], zero, given(inputs, 3)).astype(np.float32)
    y = y * (scale * np.squeeze(inputs[2]))
    return [(y + given(inputs, 4, np.float32(0))).astype(np.float32)]


def recurrent_function(name, alpha, beta):
    """An activation of LSTM on float64, which is exact enough for float32."""
    return {
        "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh,
        "relu": lambda x: np.maximum(x, 0),
        "affine": lambda x: alpha * x + beta,
        "hardsigmoid": lambda x: np.clip(alpha * x + beta, 0, 1),
        "leakyrelu": lambda x: np.where(x < 0, alpha * x, x)}[name.lower()]


def lstm_functions(node, direction):
    """f, g and h of a direction."""
    names = [n.decode() for n in attribute(node, "activations") or
             [b"Sigmoid", b"Tanh", b"Tanh"] * 2]
    alphas = list(attribute(node, "activation_alpha", []))
    betas = list(attribute(node, "activation_beta", []))
    made = []
    for name in names:
        takes = {"affine": 2, "hardsigmoid": 2, "leakyrelu": 1}.get(
            name.lower(), 0)
        made.append(recurrent_function(
            name, alphas.pop(0) if takes > 0 else 0,
            betas.pop(0) if takes > 1 else 0))
    return made[3 * direction:3 * direction + 3]


def bytes_product(x, w, scale, zero):
    """x, quantized, times weights of bytes."""
    x, scale_x, zero_x = dynamic_bytes(x)
    return sums(x, w, zero_x, zero).astype(np.float32) * (scale_x * scale)


def dynamic_lstm_direction(node, inputs, direction, backwards):
    """y, the last h and the last c of a direction; x and each h are quantized,
    with zeros in place of what no sequence has."""
    def of(index):
        return None if given(inputs, index) is None \
            else inputs[index][direction]

    x, hidden = inputs[0], inputs[2].shape[1]
    times, rows = x.shape[:2]
    lengths = given(inputs, 4, np.full(rows, times, np.int32))
    longest = lengths.max(initial=0)
    pre = bytes_product(
        np.where(np.arange(times)[:, None, None] < longest, x, 0), of(1),
        of(8), of(9))
    bias = of(3)
    if bias is not None:
        pre = pre + (bias[:4 * hidden] + bias[4 * hidden:])
    peepholes = np.zeros(3 * hidden) if of(7) is None else of(7)
    p = dict(zip("iof", peepholes.reshape(3, hidden)))
    none = np.zeros((rows, hidden), np.float32)
    h = none if of(5) is None else of(5)
    cell = none if of(6) is None else of(6)
    y = np.zeros((times, rows, hidden), np.float32)
    most = attribute(node, "clip", 0) or np.inf
    f, g, last = lstm_functions(node, direction)
    for t in range(times):
        inside = t < lengths
        at = np.where(inside, lengths - 1 - t, t) if backwards else \
            np.full(rows, t)
        gates = pre[at, np.arange(rows)] + bytes_product(
            np.where((t <= lengths)[:, None], h, 0), of(2), of(10), of(11))
        gates = gates.astype(np.float64).reshape(rows, 4, hidden)

        def gate(k, function, by=0):
            return function(np.clip(gates[:, k] + by, -most, most))

        i = gate(0, f, p["i"] * cell)
        forget = 1 - i if attribute(node, "input_forget", 0) else \
            gate(2, f, p["f"] * cell)
        new = forget * cell + i * gate(3, g)
        cell = np.where(inside[:, None], new, cell).astype(np.float32)
        new = gate(1, f, p["o"] * cell) * last(cell.astype(np.float64))
        h = np.where(inside[:, None], new, h).astype(np.float32)
        y[at[inside], np.flatnonzero(inside)] = h[inside]
    return y, h, cell


def dynamic_lstm(node, inputs):
    way = attribute(node, "direction", b"forward").decode()
    made = [dynamic_lstm_direction(node, inputs, d, way == "reverse" or d == 1)
            for d in range(2 if way == "bidirectional" else 1)]
    return [np.stack(parts, 1 if k == 0 else 0)
            for k, parts in enumerate(zip(*made))]


def qgemm(node, inputs):
    a, scale_a, zero_a, b, scale_b, zero_b = inputs[:6]
    b = centred(b, zero_b, 0 if attribute(node, "transB", 0) else 1)
    a = centred(a, zero_a, 0)
    total = np.matmul(a.T if attribute(node, "transA", 0) else a,
                      b.T if attribute(node, "transB", 0) else b)
    total = total + given(inputs, 6, np.int32(0))
    factor = np.float32(attribute(node, "alpha", 1.0)) * \
        scale_a.reshape(()) * np.squeeze(scale_b)
    if given(inputs, 7) is None:
        return [(total.astype(np.float32) * factor).astype(np.float32)]
    return [requantized(total, factor / inputs[7].reshape(()),
                        given(inputs, 8, np.uint8(0)).reshape(()))]


def quantized_attention(node, inputs):
    """The product of query, key and value is computed here; onnxruntime's
    Attention gets it with the unit matrix as weights."""
    total = sums(inputs[0], inputs[1], given(inputs, 6), given(inputs, 7))
    packed = total.astype(np.float32) * (inputs[3].reshape(()) * np.squeeze(
        inputs[4])) + inputs[2]
    columns = packed.shape[-1]
    values = {"packed": packed.astype(np.float32),
              "unit": np.eye(columns, dtype=np.float32),
              "none": np.zeros(columns, np.float32),
              "mask": given(inputs, 5), "past": given(inputs, 8)}
    names = [name if values[name] is not None else "" for name in values]
    plain = onnx.helper.make_node("Attention", names, node.output,
                                  domain="com.microsoft")
    plain.attribute.extend(node.attribute)
    values = {name: values[name] for name in names if name}
    return Part([plain], list(values), [o for o in node.output if o], {}, (
        onnx.helper.make_opsetid("", 17),
        onnx.helper.make_opsetid("com.microsoft", 1))).run(values)


# -- reductions of integers

def totals(node, inputs):
    """For a reduction of integers: the sums or products before any root, mean
    or wrapping, with all dimensions kept; and the axes, None where nothing is
    reduced."""
    x = inputs[0].astype(object)
    axes = tuple(int(d) for d in inputs[1].ravel()) \
        if given(inputs, 1) is not None else tuple(attribute(node, "axes", ()))
    if not axes and attribute(node, "noop_with_empty_axes", 0):
        axes = None
    elif not axes:
        axes = tuple(range(x.ndim))
    op = node.op_type[len("Reduce"):]
    if op == "L1":
        x = np.abs(x)
    elif op in ("SumSquare", "L2"):
        x = x * x
    elif op == "LogSumExp":
        x = inputs[0].astype(np.float64)
        most = x if axes is None else x.max(axes, keepdims=True,
                                            initial=-np.inf)
        total = np.exp(x - np.where(np.isfinite(most), most, 0))
        if axes is not None:
            total = total.sum(axes, keepdims=True)
        return np.log(total) + most, axes
    if axes is None:
        return np.asarray(x), axes
    add = np.prod if op == "Prod" else np.sum
    return np.asarray(add(x, axes, keepdims=True)), axes


def kept(node, array, axes):
    """A result without its reduced dimensions where keepdims is 0."""
    return array if attribute(node, "keepdims", 1) or axes is None \
        else np.squeeze(array, axes)


def root(node, inputs):
    """The square root of a sum, or its logarithm, before it is cut to an
    integer."""
    with np.errstate(all="ignore"):
        total, axes = totals(node, inputs)
        if node.op_type == "ReduceLogSum":
            wide = "uint64" if inputs[0].dtype.kind == "u" else "int64"
            total = np.log(wrapped(total, wide).astype(np.float64))
        total = total.astype(np.float64)
        if node.op_type == "ReduceL2":
            total = np.sqrt(total)
        return kept(node, np.asarray(total), axes)


def cut(x, dtype):
    """Floats as integers: cut toward zero, beyond the range the nearest number
    of the type, 0 for NaN."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    whole = np.trunc(np.where(np.isnan(x), 0, x.astype(np.float64)))
    inside = (whole > low) & (whole < float(high))
    return np.where(inside, np.where(inside, whole, 0).astype(dtype),
                    np.where(whole <= low, np.array(low, dtype),
                             np.array(high, dtype)))


def integer_reduction(node, inputs):
    """Sums and products wrap, as docs/reference/results.md says; roots and logarithms are
    computed as float64 and converted. The sum of ReduceLogSum has 64 bits."""
    dtype = inputs[0].dtype
    if node.op_type in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        return [cut(root(node, inputs), dtype)]
    total, axes = totals(node, inputs)
    if node.op_type == "ReduceMean":
        count = max(inputs[0].size // max(total.size, 1), 1)
        total = np.array([abs(int(v)) // count * (1 if v >= 0 else -1)
                          for v in wrapped(total, dtype).ravel()],
                         object).reshape(total.shape)
    return [kept(node, wrapped(total, dtype), axes)]


# -- trees

def is_softmax_of_one(node, inputs):
    """Whether a tree ensemble has two classes, weights for one of them, and a
    softmax of the scores."""
    labels = attribute(node, "classlabels_int64s") or attribute(
        node, "classlabels_strings")
    return attribute(node, "post_transform") == b"SOFTMAX" and \
        len(labels or ()) == 2 and len(set(attribute(
            node, "class_ids", ()))) == 1


def softmax_of_one(node, inputs):
    """The softmax of the score of the second class and its negative."""
    plain = onnx.NodeProto()
    plain.CopyFrom(node)
    for a in plain.attribute:
        if a.name == "post_transform":
            a.s = b"NONE"
    plain.input[:], plain.output[:] = ["x"], ["label", "scores"]
    label, scores = Part([plain], ["x"], ["label", "scores"], {}, (
        onnx.helper.make_opsetid("", 17),
        onnx.helper.make_opsetid("ai.onnx.ml", 3))).run({"x": inputs[0]})
    scores = np.exp(scores[:, 1:] * np.float32([[-1, 1]]))
    return [label, scores / scores.sum(1, keepdims=True)]


# -- the operators, and models of them

def always(node, inputs):
    return True


def is_integer(node, inputs):
    return inputs[0].dtype.kind in "iu"


# (domain, operator): when it is computed here, and how.
OWN = {
    ("", "MatMulInteger"): (always, matmul_integer),
    ("", "ConvInteger"): (always, conv_integer),
    ("", "QLinearMatMul"): (always, qlinear_matmul),
    ("", "QLinearConv"): (always, qlinear_conv),
    ("com.microsoft", "MatMulIntegerToFloat"): (
        always, matmul_integer_to_float),
    ("com.microsoft", "DynamicQuantizeMatMul"): (
        always, dynamic_quantize_matmul),
    ("com.microsoft", "DynamicQuantizeLSTM"): (always, dynamic_lstm),
    ("com.microsoft", "QGemm"): (always, qgemm),
    ("com.microsoft", "QLinearConv"): (always, qlinear_conv_of_pixels),
    ("com.microsoft", "QAttention"): (always, quantized_attention),
    ("ai.onnx.ml", "TreeEnsembleClassifier"): (
        is_softmax_of_one, softmax_of_one),
    **{("", "Reduce" + name): (is_integer, integer_reduction) for name in
       "Sum Mean Prod L1 L2 SumSquare LogSum LogSumExp".split()}}
# Operators on sums of products of bytes that have no definition here.
UNKNOWN = {("com.microsoft", name) for name in """
    QMoE QOrderedMatMul QOrderedAttention""".split()}


def key_of(node):
    return ("" if node.domain == "ai.onnx" else node.domain, node.op_type)


def nested(node):
    return [a.g for a in node.attribute if a.HasField("g")] + [
        g for a in node.attribute for g in a.graphs]


def read(node):
    """The names that a node reads, those that its branches capture among
    them."""
    names = [name for name in node.input if name]
    for graph in nested(node):
        own = {t.name for t in graph.initializer} | {
            i.name for i in graph.input}
        for inner in graph.node:
            names += [name for name in read(inner) if name not in own]
            own.update(inner.output)
        names += [o.name for o in graph.output if o.name not in own]
    return list(dict.fromkeys(names))


def session_options():
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def session(model):
    """Of a path or a ModelProto."""
    return onnxruntime.InferenceSession(
        model if isinstance(model, str) else model.SerializeToString(),
        session_options(), providers=["CPUExecutionProvider"])


class Part:
    """Nodes that onnxruntime computes together. `constants` has all of the
    model by name."""

    def __init__(self, nodes, inputs, outputs, constants, opsets):
        self.nodes, self.inputs, self.outputs = nodes, inputs, outputs
        self.constants, self.opsets = constants, opsets
        self.session = None

    def run(self, known):
        if self.session is None:
            infos = [onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(known[name].dtype),
                [None] * known[name].ndim) for name in self.inputs]
            graph = onnx.helper.make_graph(
                self.nodes, "part", infos,
                [onnx.ValueInfoProto(name=name) for name in self.outputs],
                [self.constants[name] for name in dict.fromkeys(
                    name for node in self.nodes for name in read(node))
                    if name in self.constants])
            self.session = session(onnx.helper.make_model(
                graph, ir_version=10, opset_imports=self.opsets))
        return self.session.run(
            self.outputs, {name: known[name] for name in self.inputs})


class Own:
    """A node that is computed here; `otherwise`, a Part, computes it where its
    input turns out to have another type."""

    def __init__(self, node, otherwise):
        self.node, self.otherwise = node, otherwise
        self.outputs = list(node.output)

    def run(self, known):
        inputs = [known[name] if name else None for name in self.node.input]
        when, function = OWN[key_of(self.node)]
        return function(self.node, inputs) if when(self.node, inputs) \
            else self.otherwise.run(known)


def kinds_of(model):
    """The types of elements of a model's tensors, as far as they are known
    without running it."""
    try:
        graph = onnx.shape_inference.infer_shapes(model).graph
    except Exception:  # operators of other domains
        graph = model.graph
    kinds = {v.name: v.type.tensor_type.elem_type
             for v in [*graph.value_info, *graph.input, *graph.output]}
    kinds.update((t.name, t.data_type) for t in graph.initializer)
    return kinds


def kinds_within(graph, kinds, opsets):
    """The same for a branch, which may read tensors around it."""
    made = {v.name for v in graph.input} | {t.name for t in graph.initializer}
    made.update(name for node in graph.node for name in node.output)
    around = dict.fromkeys(name for node in graph.node for name in read(node)
                           if name not in made and kinds.get(name))
    return {**kinds, **kinds_of(onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.node, "branch",
            [*graph.input, *(onnx.helper.make_tensor_value_info(
                name, kinds[name], None) for name in around)],
            graph.output, graph.initializer), opset_imports=opsets))}


def is_own(node, kinds, opsets):
    """Whether the node is computed here."""
    if key_of(node) in UNKNOWN:
        raise NotImplementedError("%s has no exact definition in %s" % (
            node.op_type, __file__))
    for graph in nested(node):
        within = kinds_within(graph, kinds, opsets)
        if any(is_own(inner, within, opsets) for inner in graph.node):
            raise NotImplementedError(
                "%s is in a branch of %s, which onnxruntime would compute" % (
                    ", ".join(n.op_type for n in graph.node), node.op_type))
    when = OWN.get(key_of(node), (None,))[0]
    if when is is_integer:
        kind = kinds.get(node.input[0], 0)
        return not kind or np.dtype(onnx.helper.tensor_dtype_to_np_dtype(
            kind)).kind in "iu"
    return when is not None and when(node, None)


class Model:
    """A model, by its path or as a ModelProto, that runs as often as is
    asked."""

    def __init__(self, model):
        proto = onnx.load(model, load_external_data=False) \
            if isinstance(model, str) else model
        kinds = kinds_of(proto)
        self.outputs = [o.name for o in proto.graph.output]
        self.steps = None
        if not any(is_own(node, kinds, proto.opset_import)
                   for node in self.all_nodes(proto)):
            self.session = session(model)
            return
        if isinstance(model, str):
            proto = onnx.load(model)
        if proto.functions:
            proto = onnx.inliner.inline_local_functions(proto)
        self.steps = self.parts(proto, kinds_of(proto))

    @staticmethod
    def all_nodes(proto):
        return [*proto.graph.node,
                *(node for f in proto.functions for node in f.node)]

    def parts(self, proto, kinds):
        graph = proto.graph
        self.constants = {t.name: t for t in graph.initializer}
        self.known = {name: numpy_helper.to_array(t)
                      for name, t in self.constants.items()}
        runs, last = [], []
        for node in graph.node:
            if is_own(node, kinds, proto.opset_import):
                runs += [last, node] if last else [node]
                last = []
            else:
                last.append(node)
        runs += [last] if last else []
        needed, steps = set(self.outputs), []
        for run in reversed(runs):
            if isinstance(run, list):
                made = [name for node in run for name in node.output if name]
                used = dict.fromkeys(n for node in run for n in read(node))
                step = Part(run, [name for name in used
                                  if name not in self.constants and
                                  name not in made],
                            [name for name in made if name in needed],
                            self.constants, proto.opset_import)
                if not step.outputs:
                    continue
                needed.update(step.inputs)
            else:
                step = Own(run, Part(
                    [run], [name for name in read(run)
                            if name not in self.constants],
                    list(run.output), self.constants, proto.opset_import))
                needed.update(run.input)
            steps.append(step)
        return steps[::-1]

    def run(self, feed):
        """The outputs in order; `feed` has the inputs by name."""
        if self.steps is None:
            return self.session.run(self.outputs, feed)
        known = {**self.known, **feed}
        for step in self.steps:
            known.update(zip(step.outputs, step.run(known)))
        return [known[name] for name in self.outputs]


def run(model, feed=None):
    """A model's outputs in order."""
    return Model(model).run(feed or {})
