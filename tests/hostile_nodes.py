# SPDX-License-Identifier: Apache-2.0
"""One model of all operators that take integers, or floats that become indices,
for inputs that a stranger chooses: the nodes of ONNX's own tests, and own ones of
what ONNX's tests lack. A test that uses this needs numpy and onnx."""
import glob
import os
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto
from onnx import helper as make
from onnx import numpy_helper

import helper
import support
from conformance import node_folder

COMPOSE = os.path.join(helper.ROOT, "gen", "onnx", "compose")
sys.path.insert(0, COMPOSE)
from compositions import functions  # noqa: E402

# Operators whose integers are moved or compared with nothing: no arithmetic, no
# index, no bound. ONNX's tests have them, mostly of floats.
MOVED = set("""Concat DepthToSpace Dropout EyeLike Flatten Identity Reshape Shape
Size SpaceToDepth Split Squeeze Transpose Unsqueeze""".split())
# Inputs that a model gives as constants, or sizes that sizes() below has.
SIZES = set("""AffineGrid BlackmanWindow CenterCropPad Col2Im ConstantOfShape DFT
Expand HammingWindow HannWindow MelWeightMatrix Range Resize STFT Tile Pad
TopK Upsample""".split())
# Lists of tensors, which vanish at import, and nested graphs: control_flow.py and
# the Loop of out_of_range.py.
LISTS = set("""ConcatFromSequence If Loop Optional OptionalGetElement
OptionalHasElement Scan SequenceAt SequenceConstruct SequenceEmpty SequenceErase
SequenceInsert SequenceLength SequenceMap SplitToSequence""".split())
# Random numbers (random_numbers.py), strings (strings.py), derivatives, and maps.
OTHER = set("""Bernoulli Multinomial RandomNormalLike RandomUniformLike
StringSplit Gradient Adagrad Adam Momentum CastMap DictVectorizer ZipMap
FlexAttention""".split())
# Floats that become indices or bounds, by operator.
POSITIONS = {"Cast": [0], "CastLike": [0], "DeformConv": [2],
             "DynamicQuantizeLinear": [0], "GridSample": [1],
             "MaxRoiPool": [1], "NonMaxSuppression": [0, 1, 3, 4],
             "QuantizeLinear": [0], "RoiAlign": [1], "Unique": [0],
             "NonZero": [0], "ArgMax": [0], "ArgMin": [0]}
INTEGERS = ("int64", "int32", "uint64", "int8", "uint8")
MOST_OF_ONE, MOST_ELEMS = 6, 3000


def is_integer(kind):
    return np.issubdtype(make.tensor_dtype_to_np_dtype(kind), np.integer)


def read(*path):
    with open(os.path.join(helper.ROOT, *path), encoding="utf-8") as file:
        return file.read()


def table_names():
    """{(domain, operator)} of the tables of operators."""
    found = set()
    for line in re.finditer(r'^(?:MAP|OP)\((\w+)(?:, "([\w.]*)")?',
                            read("passes", "ops", "core", "ops.def"), re.M):
        found.add((line[2] or "", line[1]))
    for line in re.finditer(r'^COMPOSE\("([\w.]*)", (\w+)',
                            read("gen", "onnx", "compose", "compose.def"), re.M):
        found.add((line[1], line[2]))
    for path in glob.glob(os.path.join(COMPOSE, "compositions", "*")):
        found |= {tuple(row[:2]) for row in functions(path)}
    for line in re.finditer(r'^\t\{ "(\w+)", \w+, (?:true|false) \}',
                            read("gen", "onnx", "ml", "ml.c"), re.M):
        found.add(("ai.onnx.ml", line[1]))
    for line in re.finditer(r'^\t\{ "(?:([\w.]+)\.)?(\w+)", expand_\w+',
                            read("gen", "onnx", "expanders.c"), re.M):
        found.add((line[1] or "", line[2]))
    return {name for name in found if name[0] != "tirc" and
            (helper.HAS_ML or name[0] != "ai.onnx.ml")}


def takes_integers(domain, name):
    """Does an input of the operator have integers, as its schema says? Those of
    com.microsoft, of which onnx has none, may."""
    if domain == "com.microsoft":
        return True
    try:
        schema = onnx.defs.get_schema(name, domain=domain)
    except onnx.defs.SchemaError:
        return False
    kinds = {c.type_param_str: c.allowed_type_strs
             for c in schema.type_constraints}
    return any("int" in kind for given in schema.inputs
               for kind in kinds.get(given.type_str, [given.type_str]))


def newest_version(domain):
    return max([s.since_version for s in onnx.defs.get_all_schemas()
                if s.domain == domain] + [1])


class Hostile:
    """The model. own: its inputs by name, with good values; wild: the names of
    those that are hostile."""

    def __init__(self):
        self.nodes, self.constants, self.outputs = [], [], []
        self.own, self.wild = {}, []
        self.covered, self.of_one, self.seen = set(), {}, set()

    def note(self, domain, op):
        self.covered.add((domain, op))
        self.of_one[domain, op] = self.of_one.get((domain, op), 0) + 1

    def add(self, op, inputs, attributes=None, outputs=1, domain="",
            positions=()):
        """One node. Inputs are arrays, None (absent), or a list of one array,
        which is a constant. Gives the names of its outputs."""
        tag = "%s_%d" % (op.lower(), len(self.nodes))
        names = []
        for k, x in enumerate(inputs):
            name = "" if x is None else "%s_x%d" % (tag, k)
            names.append(name)
            if isinstance(x, list):
                self.constants.append(numpy_helper.from_array(x[0], name))
            elif x is not None:
                self.own[name] = x
                if np.issubdtype(x.dtype, np.integer) or k in positions:
                    self.wild.append(name)
        results = ["%s_y%d" % (tag, k) for k in range(outputs)]
        self.nodes.append(make.make_node(op, names, results, name=tag,
                                         domain=domain, **(attributes or {})))
        self.outputs += results
        self.note(domain, op)
        return results

    def take(self, folder, model):
        """The node of one of ONNX's tests, if it has anything that is not here."""
        graph = model.graph
        node = graph.node[0]
        key = (node.domain, node.op_type)
        constants = {t.name for t in graph.initializer}
        given = [i for i in graph.input if i.name not in constants]
        kinds = tuple(i.type.tensor_type.elem_type for i in given)
        places = {list(node.input).index(i.name): i.name for i in given}
        wild = [i.name for i in given
                if is_integer(i.type.tensor_type.elem_type)]
        wild += [places[k] for k in POSITIONS.get(node.op_type, [])
                 if k in places and places[k] not in wild]
        texts = tuple(sorted((a.name, a.s) for a in node.attribute if a.s))
        sign = (key, kinds, len(node.input), texts, tuple(sorted(constants)))
        if not wild or sign in self.seen or \
                self.of_one.get(key, 0) >= MOST_OF_ONE:
            return
        tag = "%s_%d" % (node.op_type.lower(), len(self.nodes))
        arrays = {}
        for k, info in enumerate(given):
            with open(os.path.join(folder, "test_data_set_0",
                                   "input_%d.pb" % k), "rb") as file:
                proto = onnx.TensorProto.FromString(file.read())
            arrays[info.name] = numpy_helper.to_array(proto)
        if sum(a.size for a in arrays.values()) > MOST_ELEMS:
            return
        self.seen.add(sign)
        rename = {n: "%s_%s" % (tag, n)
                  for n in [*node.input, *node.output] if n}
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.name = tag
        copy.input[:] = [rename.get(n, "") for n in node.input]
        copy.output[:] = [rename.get(n, "") for n in node.output]
        self.nodes.append(copy)
        for tensor in graph.initializer:
            again = onnx.TensorProto()
            again.CopyFrom(tensor)
            again.name = rename[tensor.name]
            self.constants.append(again)
        for name, array in arrays.items():
            self.own[rename[name]] = array
        self.wild += [rename[name] for name in wild]
        self.outputs += [rename[o.name] for o in graph.output]
        self.note(*key)

    def part(self, wanted):
        """A copy with the nodes for which `wanted` of number and node holds."""
        copy = Hostile()
        copy.covered = self.covered
        copy.nodes = [n for k, n in enumerate(self.nodes) if wanted(k, n)]
        read = {name for n in copy.nodes for name in n.input}
        made = {name for n in copy.nodes for name in n.output}
        copy.constants = [t for t in self.constants if t.name in read]
        copy.outputs = [name for name in self.outputs if name in made]
        copy.own = {n: x for n, x in self.own.items() if n in read}
        copy.wild = [name for name in self.wild if name in read]
        return copy

    def proto(self, closed=None):
        """The model; with values for its inputs, that of constants."""
        infos = [make.make_tensor_value_info(
            name, make.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for name, x in self.own.items()]
        constants = list(self.constants)
        if closed is not None:
            infos = []
            constants += [numpy_helper.from_array(x, name)
                          for name, x in closed.items()]
        graph = make.make_graph(
            self.nodes, "hostile", infos,
            [make.make_empty_tensor_value_info(name)
             for name in self.outputs], constants)
        return make.make_model(graph, ir_version=10, opset_imports=[
            make.make_opsetid(domain, newest_version(domain))
            for domain in sorted({d for d, _ in self.covered} | {""})])


def is_present(model):
    """Is the test's operator the one that the newest operator set has?"""
    node = model.graph.node[0]
    versions = {e.domain: e.version for e in model.opset_import}
    try:
        return onnx.defs.get_schema(
            node.op_type, versions.get(node.domain, 1),
            node.domain).since_version == onnx.defs.get_schema(
                node.op_type, domain=node.domain).since_version
    except onnx.defs.SchemaError:
        return False


def tests_of_onnx(hostile):
    """Takes the nodes of ONNX's tests with one node over plain tensors."""
    left = support.read().left
    folders = sorted(glob.glob(os.path.join(node_folder(), "*")))
    for folder in folders:
        name = os.path.basename(folder)
        if name in left or "_expanded" in name:
            continue
        model = onnx.load(os.path.join(folder, "model.onnx"))
        graph = model.graph
        infos = [*graph.input, *graph.output]
        kinds = [i.type.tensor_type.elem_type for i in infos]
        if len(graph.node) != 1 or not all(
                i.type.HasField("tensor_type") for i in infos) or any(
                a.HasField("g") for a in graph.node[0].attribute):
            continue
        names = {str(make.tensor_dtype_to_np_dtype(k)) for k in kinds if k}
        plain = {"float32", "float64", "bool", *INTEGERS}
        if names <= plain and TensorProto.STRING not in kinds and \
                graph.node[0].op_type not in OTHER and is_present(model):
            hostile.take(folder, model)


rng = np.random.default_rng(11)


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def ints(*shape, kind=np.int64, most=4):
    return rng.integers(0, most, shape).astype(kind)


def real(value):
    return [np.array(value, np.float32)]


def byte(value, kind=np.uint8):
    return [np.array(value, kind)]


def of_microsoft(hostile):
    def add(op, inputs, attributes=None, outputs=1):
        hostile.add(op, inputs, attributes, outputs, "com.microsoft")

    i32, u8, s8 = np.int32, np.uint8, np.int8
    add("EmbedLayerNormalization",
        [ints(2, 5, kind=i32), ints(2, 5, kind=i32, most=2), [f(9, 8)],
         [f(6, 8)], [f(2, 8)], [f(8)], [f(8)], ints(2, 5, kind=i32, most=2),
         ints(2, 5, kind=i32)], {"epsilon": 1e-3}, 2)
    add("QEmbedLayerNormalization",
        [ints(2, 5, kind=i32), ints(2, 5, kind=i32, most=2),
         *([ints(n, 8, kind=u8)] for n in (9, 6, 2)),
         [ints(8, kind=u8)], [ints(8, kind=u8)],
         ints(2, 5, kind=i32, most=2), *[real(0.1)] * 5, *[byte(1)] * 5], {},
        2)
    add("GatherBlockQuantized",
        [[ints(7, 16, kind=u8)], ints(2, 3), f(7, 2)],
        {"bits": 4, "block_size": 16, "quantize_axis": 1})
    add("GatherND", [f(3, 4, 2), ints(5, 2)])
    add("Pad", [f(3, 4), [np.array([0, 1, 2, -1])]])
    add("Trilu", [f(3, 4), ints(1)])
    add("ExpandDims", [ints(3, 4), [np.array(-1, i32)]])
    add("Range", [[np.array(v, i32)] for v in (1, 9, 3)])
    add("MatMulInteger16", [ints(3, 4, kind=np.int16),
                            ints(4, 5, kind=np.int16)])
    for direction in ("forward", "reverse"):
        add("DynamicQuantizeLSTM", [
            f(5, 3, 4), [ints(1, 4, 8, kind=s8)], [ints(1, 2, 8, kind=s8)],
            None, ints(3, kind=i32), None, None, None, [f(1) ** 2],
            [ints(1, kind=s8)], [f(1) ** 2], [ints(1, kind=s8)]],
            {"hidden_size": 2, "direction": direction}, 3)
    add("QAttention", [ints(2, 5, 16, kind=u8), [ints(16, 48, kind=s8)],
                       [f(48)], real(0.02), real(0.01),
                       ints(2, 5, kind=i32, most=2)], {"num_heads": 4})
    add("RotaryEmbedding", [f(2, 5, 32), ints(2, 5), f(9, 4), f(9, 4)])
    add("RotaryEmbedding", [f(2, 4, 5, 8), ints(1), f(9, 4), f(9, 4)],
        {"interleaved": 1})
    packed = [f(2, 5, 16), f(16, 48), f(48)]
    for mask in (ints(2, 5, kind=i32, most=2), ints(2, kind=i32)):
        add("Attention", packed + [mask], {"num_heads": 4})
    add("MultiHeadAttention", [f(2, 5, 16), f(2, 5, 16), f(2, 5, 16), None,
                               ints(2, 5, kind=i32, most=2)],
        {"num_heads": 4})
    for attributes in ({}, {"do_rotary": 1}, {"local_window_size": 2}):
        add("GroupQueryAttention",
            [f(2, 2, 64), f(2, 2, 32), f(2, 2, 32), f(2, 2, 6, 16),
             f(2, 2, 6, 16), ints(2, kind=i32), [np.array([7], i32)]] +
            ([f(16, 8), f(16, 8)] if "do_rotary" in attributes else []),
            {"num_heads": 4, "kv_num_heads": 2, **attributes}, 3)
    hostile.add("GridSample", [f(1, 2, 4, 5), f(1, 3, 3, 2)], {}, 1,
                "com.microsoft", positions=[1])
    for op in ("QLinearAdd", "QLinearMul"):
        add(op, [ints(2, 7, kind=u8), real(0.1), byte(3), ints(7, kind=u8),
                 real(0.2), byte(9), real(0.3), byte(100)])
    for op in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"):
        add(op, [ints(2, 7, kind=u8), real(0.02), byte(100), real(0.01),
                 byte(2)],
            {"opset": 13, "axis": -1} if op == "QLinearSoftmax" else {})
    image = [ints(1, 3, 6, 6, kind=u8), real(0.1), byte(3), real(0.2), byte(9)]
    add("QLinearGlobalAveragePool", image, {"channels_last": 0})
    add("QLinearAveragePool", image, {"kernel_shape": [3, 3],
                                      "strides": [2, 2]})
    add("QLinearReduceMean", image, {"axes": [1, 3], "keepdims": 0})
    add("NhwcMaxPool", [ints(1, 6, 6, 3, kind=u8)], {"kernel_shape": [2, 2]})
    add("QLinearConv", [ints(1, 5, 6, 4, kind=u8), real(0.1), byte(120),
                        [ints(6, 4, 3, 3, kind=s8)], real(0.2), byte(0, s8),
                        real(0.7), byte(100)], {"channels_last": 1})
    add("QLinearConcat", [real(0.2), byte(9), ints(2, 3, kind=u8), real(0.1),
                          byte(3), ints(2, 4, kind=u8), real(0.3), byte(7)],
        {"axis": 1})
    add("QLinearWhere", [rng.random((2, 5)) > 0.5, ints(2, 5, kind=u8),
                         real(0.1), byte(3), ints(5, kind=u8), real(0.2),
                         byte(9), real(0.3), byte(5)])
    add("QGemm", [ints(3, 4, kind=u8), real(0.1), byte(7),
                  [ints(5, 4, kind=s8)], real(0.02), byte(0, s8),
                  ints(5, kind=i32), real(0.3), byte(90)],
        {"transB": 1, "alpha": 1.0})
    add("DequantizeLinear", [ints(3, 4, kind=u8), real(0.1), byte(3)])
    hostile.add("QuantizeLinear", [f(3, 4), real(0.1), byte(3)], {}, 1,
                "com.microsoft", positions=[0])
    add("MatMulIntegerToFloat", [ints(3, 8, kind=u8), ints(8, 5, kind=s8),
                                 real(0.1), real(0.2), byte(4), byte(0, s8),
                                 f(5)])
    add("DynamicQuantizeMatMul", [f(3, 8), ints(8, 5, kind=s8), real(0.1)[0],
                                  byte(0, s8)[0], f(5)])


# Of com.microsoft, those that take no integers but constants.
FLOATS = set("""BiasAdd BiasGelu BiasSoftmax BiasSplitGelu CDist FastGelu FusedConv
FusedGemm FusedMatMul FusedMatMulActivation Gelu GemmFastGelu GroupNorm Inverse
MatMulNBits NhwcConv NhwcFusedConv QuickGelu SkipGroupNorm SkipLayerNormalization
SkipSimplifiedLayerNormalization TransposeMatMul""".split())


def of_others(hostile):
    """What ONNX's tests lack: forms with several directions and types, and
    operators of ai.onnx.ml."""
    add = hostile.add
    x, i32 = f(5, 4), np.int32
    for kind in (np.int64, i32):
        add("Gather", [x, ints(6, kind=kind)])
        add("GatherElements", [x, ints(6, 4, kind=kind)])
        add("GatherND", [x, ints(6, 2, kind=kind)])
        add("ScatterND", [x, ints(6, 2, kind=kind), f(6)])
        for how in ("none", "add", "mul", "max"):
            add("ScatterElements", [x, ints(6, 4, kind=kind), f(6, 4)],
                {"reduction": how})
    for mode in ("linear", "circular"):
        add("TensorScatter", [f(3, 6, 4), f(3, 2, 4), ints(3)],
            {"axis": 1, "mode": mode})
    for kind in (np.int64, i32, np.uint64, np.uint8, np.float32):
        add("OneHot", [ints(6, kind=kind), [np.array(5, np.int64)],
                       [np.array([0.5, 2], np.float32)]], positions=[0])
    for time in (0, 1):
        add("ReverseSequence", [f(5, 5, 2), ints(5)],
            {"time_axis": time, "batch_axis": 1 - time})
    for upper in (0, 1):
        add("Trilu", [f(3, 4), np.array(1)], {"upper": upper})
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for way in ("forward", "reverse", "bidirectional"):
            n = 1 + (way[0] == "b")
            add(op, [f(4, 3, 2), f(n, gates * 3, 2), f(n, gates * 3, 3), None,
                     ints(3, kind=i32)], {"hidden_size": 3, "direction": way},
                3 if op == "LSTM" else 2)
    add("Attention", [f(2, 3, 4, 8), f(2, 3, 6, 8), f(2, 3, 6, 8), None, None,
                      None, ints(2)], {"is_causal": 1})
    add("MaxUnpool", [f(1, 1, 2, 2), ints(1, 1, 2, 2)],
        {"kernel_shape": [2, 2], "strides": [2, 2]})
    for mode in ("avg", "max"):
        for place in ("half_pixel", "output_half_pixel"):
            for ratio in (0, 2):
                add("RoiAlign", [f(2, 3, 6, 5), 4 * rng.random((3, 4), "f"),
                                 ints(3)],
                    {"output_height": 2, "output_width": 3, "mode": mode,
                     "coordinate_transformation_mode": place,
                     "sampling_ratio": ratio}, positions=[1])
    add("MaxRoiPool", [f(2, 3, 6, 5), 4 * rng.random((3, 5), "f")],
        {"pooled_shape": [2, 3]}, positions=[1])
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                add("GridSample", [f(1, 2, 4, 5), f(1, 3, 3, 2)],
                    {"mode": mode, "padding_mode": padding,
                     "align_corners": corners}, positions=[1])
    add("DeformConv", [f(1, 2, 4, 4), f(2, 2, 2, 2), f(1, 8, 3, 3)],
        {"kernel_shape": [2, 2]}, positions=[2])
    add("NegativeLogLikelihoodLoss", [f(3, 5), ints(3)], {"reduction": "none"})
    add("SoftmaxCrossEntropyLoss", [f(3, 5), ints(3, kind=i32)],
        {"reduction": "mean", "ignore_index": 1})
    add("NonMaxSuppression", [f(1, 5, 4), f(1, 2, 5), ints(1),
                              np.array([0.5], "f"), np.array([0.1], "f")],
        positions=[0, 1, 3, 4])
    add("Compress", [x, rng.random(5) > 0.5], {"axis": 0})
    for axis in (0, 1):
        add("CumSum", [ints(4, 5), [np.array(axis)]])
    for kind in (np.int8, np.int64, np.uint64):
        for op in ("Mod", "Div", "Pow", "Add", "Mul", "Sub"):
            add(op, [ints(4, 5, kind=kind), ints(4, 5, kind=kind)])
        for op in ("Abs", "Neg", "Sign"):
            if kind != np.uint64 or op == "Sign":
                add(op, [ints(4, 5, kind=kind)])
    for kind in (np.int32, np.int64):
        for op in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2",
                   "SumSquare", "LogSum", "LogSumExp"):
            add("Reduce" + op, [ints(3, 5, kind=kind), [np.array([1])]])
        add("MatMul", [ints(3, 4, kind=kind), ints(4, 5, kind=kind)])
        add("Gemm", [ints(3, 4, kind=kind), ints(4, 5, kind=kind),
                     ints(5, kind=kind)], {"alpha": 1.0, "beta": 1.0})
        add("Einsum", [ints(3, 4, kind=kind), ints(4, kind=kind)],
            {"equation": "ij,j->i"})
        add("PRelu", [ints(3, 4, kind=kind), ints(4, kind=kind)])
    add("Relu", [ints(9)])
    add("Shrink", [ints(9)], {"lambd": 1.5, "bias": 0.5})
    for step in (1, -2):
        add("Slice", [f(6, 5), ints(2), ints(2), [np.array([0, 1])],
                      [np.array([step, 1])]])
    add("BitShift", [ints(6, kind=np.uint64), ints(6, kind=np.uint64)],
        {"direction": "LEFT"})
    add("BitShift", [ints(6, kind=np.uint8), ints(6, kind=np.uint8)],
        {"direction": "RIGHT"})
    for to in (TensorProto.INT64, TensorProto.INT8, TensorProto.UINT64,
               TensorProto.INT32, TensorProto.BOOL):
        add("Cast", [f(9)], {"to": to}, positions=[0])
        add("Cast", [ints(9)], {"to": to})
    if helper.HAS_ML:
        of_ml(hostile)
    else:
        print("skipped, ai.onnx.ml: " + helper.WITHOUT_ML)


def of_ml(hostile):
    def add(op, inputs, **attributes):
        return hostile.add(op, inputs, attributes, 2 if op.endswith(
            "Classifier") else 1, "ai.onnx.ml")

    x = ints(3, 4)
    add("ArrayFeatureExtractor", [f(3, 4), ints(1, 5)])
    add("Binarizer", [x], threshold=1.5)
    add("FeatureVectorizer", [x, ints(3, 2)], inputdimensions=[4, 2])
    add("Imputer", [x], imputed_value_int64s=[7], replaced_value_int64=2)
    add("LabelEncoder", [x], keys_int64s=[0, 1, 2],
        values_floats=[0.5, 1.5, 2.5])
    add("LabelEncoder", [x], keys_int64s=[0, 1, 2], values_int64s=[5, 6, 7])
    add("CategoryMapper", [x], cats_int64s=[0, 1], cats_strings=["a", "b"])
    add("OneHotEncoder", [ints(6)], cats_int64s=[0, 2, 3], zeros=1)
    add("Normalizer", [x], norm="L2")
    add("Scaler", [x], offset=[1.0] * 4, scale=[0.5] * 4)
    add("LinearRegressor", [x], coefficients=[0.5, 1.0, -1.0, 2.0])
    add("LinearClassifier", [x], coefficients=[0.5, 1.0, -1.0, 2.0] * 3,
        intercepts=[0.1, 0.2, 0.3], classlabels_ints=[4, 5, 6])
    add("SVMRegressor", [x], coefficients=[1.0, -1.0], rho=[0.5],
        n_supports=2, support_vectors=[1.0, 2, 3, 4, 4, 3, 2, 1],
        kernel_type="RBF", kernel_params=[0.1, 0.0, 3.0])
    add("SVMClassifier", [x], classlabels_ints=[0, 1], coefficients=[1.0, -1.0],
        rho=[0.5], support_vectors=[1.0, 2, 3, 4, 4, 3, 2, 1],
        vectors_per_class=[1, 1], kernel_type="LINEAR",
        kernel_params=[0.1, 0.0, 3.0])
    trees = {"nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2],
             "nodes_featureids": [1, 0, 0], "nodes_values": [1.5, 0.0, 0.0],
             "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
             "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0]}
    add("TreeEnsembleRegressor", [x], target_treeids=[0, 0],
        target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[0.5, 2.0],
        **trees)
    add("TreeEnsembleClassifier", [x], class_treeids=[0, 0],
        class_nodeids=[1, 2], class_ids=[0, 1], class_weights=[0.5, 2.0],
        classlabels_int64s=[3, 4], **trees)


def uncovered(hostile):
    """Operators of the tables that take integers, without a node here."""
    names = {name for name in table_names()
             if takes_integers(*name) and not (
                 name[1] in MOVED | SIZES | LISTS | OTHER or
                 (name[0] == "com.microsoft" and name[1] in FLOATS))}
    return sorted("%s.%s" % name if name[0] else name[1]
                  for name in names - hostile.covered)


def make_hostile():
    hostile = Hostile()
    of_others(hostile)
    of_microsoft(hostile)
    tests_of_onnx(hostile)
    return hostile


# -- values

KINDS = ["own", "-1", "least", "most", "beyond", "32 bits", "wrapped", "near",
         "any"]
WILD_FLOATS = [np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 1e19, -1e19,
               0.5, -0.5, 2.0 ** 31, -1.0]


def wild_values(kind, like):
    """An array of the shape and type of `like`."""
    if not np.issubdtype(like.dtype, np.integer):
        return np.asarray(rng.choice(np.array(WILD_FLOATS, like.dtype),
                                     like.shape))
    info = np.iinfo(like.dtype)
    several = {"-1": [-1], "least": [info.min], "most": [info.max],
               "beyond": [1000, -1000, 5],
               "32 bits": [2 ** 31, -2 ** 31 - 1, 2 ** 31 - 1, -2 ** 31],
               "wrapped": [2 ** 32 + 1, 3 - 2 ** 32, 2 ** 33 + 7, 90 - 2 ** 32,
                           2 ** 32 + 90],
               "near": list(range(-9, 10))}
    if kind == "any":
        values = sum(several.values(), [])
    else:
        values = several[kind]
    fit = [v for v in values if info.min <= v <= info.max] or [info.min,
                                                               info.max]
    return np.asarray(rng.choice(np.array(fit, like.dtype), like.shape))


def data_of(hostile, kind):
    return {name: wild_values(kind, x)
            if kind != "own" and name in hostile.wild else x
            for name, x in hostile.own.items()}


# -- what the manual states (docs/reference/emitted-files.md, docs/reference/operators.md)

def gather(x, i):
    return [x[i % len(x)]]


def gather_nd(x, i):
    return [x[i[:, 0] % x.shape[0], i[:, 1] % x.shape[1]]]


def scatter_nd(x, i, u):
    y = x.copy()
    for (row, column), value in zip(i.tolist(), u):
        if -len(x) <= row < len(x) and -x.shape[1] <= column < x.shape[1]:
            y[row, column] = value
    return [y]


def one_hot(i):
    y = np.full((len(i), 5), 0.5, np.float32)
    for k, index in enumerate(i.tolist()):
        if index != index:
            index = 0  # as an integer
        if -5 <= index < 5:
            y[k, int(index)] = 2
    return [y]


def reverse(x, lengths, time):
    y = x.copy()
    for b, length in enumerate(lengths.tolist()):
        n = min(max(length, 0), x.shape[time])
        at = (slice(n), b) if time == 0 else (b, slice(n))
        y[at] = x[at][::-1]
    return [y]


def trilu(x, k, upper):
    # numpy adds k to the columns
    k = int(min(max(int(k), -9), 9))
    return [np.triu(x, k) if upper else np.tril(x, k)]


def check_documented(hostile, values, results):
    """Compares the results that the manual states with numpy's."""
    for node in hostile.nodes:
        given = [values[n] for n in node.input if n in values]
        attributes = {a.name: onnx.helper.get_attribute_value(a)
                      for a in node.attribute}
        if node.name.split("_")[0] not in EXPECTED or not all(
                n in values for n in node.input[:2]) and \
                node.op_type != "OneHot":
            continue
        if node.op_type in OWN_SHAPES and \
                [g.shape for g in given] != OWN_SHAPES[node.op_type]:
            continue
        want = EXPECTED[node.op_type.lower()](given, attributes)
        for name, right in zip(node.output, want):
            if not np.array_equal(results[name], right, equal_nan=True):
                helper.fail("%s of %s gives\n%s\nnot\n%s" % (
                    node.name, given, results[name], right))


OWN_SHAPES = {"Gather": [(5, 4), (6,)], "GatherND": [(5, 4), (6, 2)],
              "ScatterND": [(5, 4), (6, 2), (6,)], "OneHot": [(6,)],
              "ReverseSequence": [(5, 5, 2), (5,)], "Trilu": [(3, 4), ()]}
EXPECTED = {
    "gather": lambda given, a: gather(*given),
    "gathernd": lambda given, a: gather_nd(*given),
    "scatternd": lambda given, a: scatter_nd(*given),
    "onehot": lambda given, a: one_hot(*given),
    "reversesequence": lambda given, a: reverse(*given, a["time_axis"]),
    "trilu": lambda given, a: trilu(*given, a["upper"]),
}
