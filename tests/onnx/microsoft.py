#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""microsoft.py [PATTERN]: operators of com.microsoft, each by `tirc test`
against onnxruntime, and small models as onnxruntime's optimizer and quantizer
write them."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T, helper as make, numpy_helper

import turns
from helper import EITHER, fail, results_alone, skip, tirc, work_folder
from onnx_data import write_data

try:
    import onnxruntime as ort
    import exact
except ImportError:
    skip("onnxruntime is not installed")

results_alone()

PATTERN = sys.argv[1] if len(sys.argv) > 1 else ""
random = np.random.default_rng(5)


def f(*shape):
    return random.standard_normal(shape).astype(np.float32)


def u8(*shape):
    return random.integers(0, 256, shape).astype(np.uint8)


def s8(*shape):
    return random.integers(-128, 128, shape).astype(np.int8)


def real(value):
    return np.array(value, np.float32)


def byte(value):
    return np.array(value, np.uint8)


def compare(path, given, steps=False, like=None, options=()):
    """Runs the model, or the model `like` with the same inputs and outputs, in
    onnxruntime, then in tirc; a third of them in each run."""
    graph = onnx.load(path).graph
    if not PATTERN and not turns.is_turn_of(str(graph.node), 3):
        return
    model = exact.Model(like or path)
    constants = {t.name for t in graph.initializer}
    write_data(os.path.dirname(path),
               [(i.name, given[i.name]) for i in graph.input
                if i.name not in constants],
               list(zip(model.outputs, model.run(given))))
    for target in turns.some(str(graph.node), EITHER):
        tirc("test", path, "--rtol", "1e-3", "--atol",
             "1.01" if steps else "1e-4", *target, *options)


def save(graph, domains=("com.microsoft",)):
    model = make.make_model(graph, ir_version=9, opset_imports=[
        make.make_opsetid("", 17)] + [make.make_opsetid(d, 1)
                                      for d in domains])
    path = os.path.join(work_folder(), "m.onnx")
    onnx.save(model, path)
    return path


def one_node(op, inputs, attrs, results, constant, domain):
    names = ["x%d" % k if x is not None else "" for k, x in enumerate(inputs)]
    return save(make.make_graph(
        [make.make_node(op, names, results, name="n", domain=domain,
                        **(attrs or {}))], "g",
        [make.make_tensor_value_info(
            n, make.np_dtype_to_tensor_dtype(x.dtype), x.shape)
         for k, (n, x) in enumerate(zip(names, inputs))
         if n and k not in constant],
        [make.make_empty_tensor_value_info(r) for r in results if r],
        [numpy_helper.from_array(inputs[k], names[k]) for k in constant
         if inputs[k] is not None]))


def check(op, inputs, attrs=None, outputs=1, constant=(), steps=False,
          label="", domain="com.microsoft", wanted=None, absent=()):
    """One node; inputs whose numbers are in `constant` are initializers. steps:
    a quantized result may differ by one. absent: numbers of constants that tirc
    does not get, and that say what their absence means."""
    if PATTERN not in op + " " + label:
        return
    results = ["y%d" % k if wanted is None or k in wanted else ""
               for k in range(outputs)]
    like = one_node(op, inputs, attrs, results, constant, domain)
    path = one_node(op, [None if k in absent else x
                         for k, x in enumerate(inputs)], attrs, results,
                    [k for k in constant if k not in absent], domain)
    compare(path, {"x%d" % k: x for k, x in enumerate(inputs)
                   if x is not None and k not in constant}, steps, like)


# -- fused.onnxtxt, conv.onnxtxt

check("FusedMatMul", [f(2, 4, 3), f(2, 5, 4)],
      {"transA": 1, "transB": 1, "alpha": 0.5})
for batch in (1, 0), (0, 1), (1, 1):
    for columns in (0, 0), (1, 1):
        a, b = [2, 4], [4, 5]
        a = a[::-1] if columns[0] else a
        b = b[::-1] if columns[1] else b
        a.insert(1 if batch[0] else 0, 3)
        b.insert(1 if batch[1] else 0, 3)
        check("FusedMatMul", [f(*a), f(*b)], {
            "transBatchA": batch[0], "transBatchB": batch[1],
            "transA": columns[0], "transB": columns[1]},
            label="batch %s %s" % (batch, columns))
check("TransposeMatMul", [f(2, 4, 3), f(2, 5, 4)], {"transA": 1, "transB": 1})
check("FusedGemm", [f(3, 4), f(4, 5), f(5)],
      {"activation": "LeakyRelu", "activation_alpha": 0.2, "alpha": 0.5})
for name, values in (("Relu", []), ("Clip", [-0.5, 0.5]), ("LeakyRelu", [0.1]),
                     ("HardSigmoid", [0.3, 0.4])):
    check("FusedConv", [f(1, 2, 5, 5), f(3, 2, 3, 3), f(3)],
          {"activation": name, "pads": [1, 1, 1, 1],
           **({"activation_params": values} if values else {})}, label=name)
check("FusedConv", [f(1, 2, 5, 5), f(3, 2, 3, 3), f(3), f(1, 3, 3, 3)],
      {"activation": "Relu"}, label="sum")
check("NhwcMaxPool", [u8(1, 7, 6, 3)],
      {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]})
check("NhwcMaxPool", [s8(2, 9, 4)], {"kernel_shape": [2], "ceil_mode": 1,
                                     "strides": [2]}, label="signed")
for name, last in (("last", 1), ("first", 0)):
    check("QLinearConv",
          [u8(1, 5, 6, 4) if last else u8(1, 4, 5, 6), real(0.1), byte(120),
           s8(6, 2, 3, 3), f(6) ** 2 / 9, np.zeros(6, np.int8), real(0.7),
           byte(100), random.integers(-99, 99, 6).astype(np.int32)],
          {"channels_last": last, "group": 2, "pads": [1, 1, 1, 1]},
          constant=(1, 2, 3, 4, 5, 6, 7, 8), steps=True, label=name)
for metric in ("euclidean", "sqeuclidean"):
    check("CDist", [f(5, 7), f(3, 7)], {"metric": metric}, label=metric)
check("Gelu", [f(3, 4)])
check("BiasGelu", [f(3, 4), f(4)])
check("FastGelu", [f(3, 4), f(4)])
check("QuickGelu", [f(3, 4)], {"alpha": 1.5})
for wanted in ((0,), (0, 3)):
    check("SkipLayerNormalization", [f(2, 3, 8), f(2, 3, 8), f(8), f(8), f(8)],
          {"epsilon": 1e-3}, 4, wanted=wanted)
    check("SkipSimplifiedLayerNormalization",
          [f(2, 3, 8), f(2, 3, 8), f(8), f(8)], {"epsilon": 1e-3}, 4,
          wanted=wanted)
check("SimplifiedLayerNormalization", [f(2, 3, 8), f(8)], domain="")
# What they take as epsilon shows in small numbers.
few = np.float32(1e-4)
check("SkipLayerNormalization", [few * f(2, 3, 8), few * f(2, 3, 8), f(8)],
      label="epsilon")
check("SkipSimplifiedLayerNormalization",
      [few * f(2, 3, 8), few * f(2, 3, 8), f(8)], label="epsilon")
check("SimplifiedLayerNormalization", [few * f(2, 3, 8), f(8)], domain="",
      label="epsilon")

# -- embed.onnxtxt, compose_embed.c

ids = random.integers(0, 9, (2, 5)).astype(np.int32)
kinds = random.integers(0, 2, (2, 5)).astype(np.int32)
TABLES = [f(9, 8), f(6, 8), f(2, 8), f(8), f(8)]
MASK = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.int32)
check("EmbedLayerNormalization", [ids, kinds, *TABLES, MASK],
      {"epsilon": 1e-3}, 2)
NO_SEGMENTS = [ids, None, *TABLES[:2], None, *TABLES[3:]]
for wanted in ((0,), (0, 1, 2)):
    check("EmbedLayerNormalization", NO_SEGMENTS, outputs=3, wanted=wanted,
          label="without segments")
check("EmbedLayerNormalization", NO_SEGMENTS + [MASK], {"mask_index_type": 1},
      3, label="mask")
check("EmbedLayerNormalization",
      NO_SEGMENTS + [None, random.integers(0, 6, (2, 5)).astype(np.int32)],
      {"mask_index_type": 0}, 3, wanted=(0, 2), label="places")
check("EmbedLayerNormalization",
      [ids, kinds, *TABLES, None,
       random.integers(0, 6, (1, 5)).astype(np.int32)],
      {"mask_index_type": 0}, 1, label="places of all rows")
for name, segments in (("segments", True), ("without segments", False)):
    tables = [u8(9, 8), u8(6, 8), u8(2, 8), u8(8), u8(8)]
    scales = [real(0.01 * k + 0.02) for k in range(5)]
    zeros = [byte(100 + k) for k in range(5)]
    if not segments:
        tables[2] = scales[2] = zeros[2] = None
    check("QEmbedLayerNormalization",
          [ids, kinds if segments else None, *tables, MASK, *scales, *zeros],
          {"epsilon": 1e-3}, 2, label=name)
for bits, zeros in ((4, True), (4, False), (8, True)):
    rows = 72 * bits // 8
    check("GatherBlockQuantized",
          [u8(7, rows), random.integers(0, 7, (2, 3)), f(7, 5),
           u8(7, (5 * bits + 7) // 8) if zeros else None],
          {"bits": bits, "block_size": 16, "gather_axis": 0,
           "quantize_axis": 1}, constant=(0, 2, 3) if zeros else (0, 2),
          label="%d bits %s" % (bits, zeros))

for kind, low in ("UINT4", 0), ("INT4", -8):
    kind = make.tensor_dtype_to_np_dtype(getattr(T, kind))
    numbers = [random.integers(low, low + 16, shape).astype(kind)
               for shape in ((3, 5, 40), (3, 5, 2))]
    for zeros in (True, False):
        check("GatherBlockQuantized",
              [numbers[0], random.integers(0, 5, (2,)), f(3, 5, 2)] +
              [numbers[1]] * zeros,
              {"block_size": 32, "gather_axis": 1, "quantize_axis": -1},
              constant=(0, 2, 3) if zeros else (0, 2),
              label="%s %s" % (kind, zeros))

# -- microsoft_names.onnxtxt

check("QuantizeLinear", [f(3, 4), real(0.1), byte(3)], steps=True)
check("DequantizeLinear", [u8(3, 4), real(0.1), byte(3)])
for kind in np.uint16, np.int16:
    check("QuantizeLinear", [f(3, 4), real(0.001), np.array(30, kind)],
          steps=True, label="16 bits")
    check("DequantizeLinear", [random.integers(0, 30000, (3, 4)).astype(kind),
                               real(0.1), np.array(3, kind)], label="16 bits")
check("Pad", [f(3, 4), np.array([[0, 1, 2, -1]]), np.array([2.5], np.float32)],
      constant=(1,))
check("Pad", [f(3, 4), np.array([1, 1, 2, 0])], {"mode": "reflect"},
      constant=(1,), label="reflect")
check("Trilu", [f(2, 3, 4), np.array(1)], constant=(1,))
check("Trilu", [f(3, 4)], {"upper": 0}, label="lower")
for shape in (4, 4), (2, 3, 5, 5), (1, 1):
    check("Inverse", [f(*shape)], label=str(shape))
check("Inverse", [np.array([[0, 2, 1], [0, 0, 3], [4, 1, 0]], np.float32)],
      label="rows that are swapped")
check("Inverse", [f(3, 3).astype(np.float64)], label="double")
check("ExpandDims", [f(3, 4), np.array(-1, np.int32)], constant=(1,))
check("GatherND", [f(3, 4, 2), np.array([[0, 1], [2, 3]])])
check("Range", [np.array(1, np.int32), np.array(9, np.int32),
                np.array(3, np.int32)], constant=(0, 1, 2))
check("Range", [np.array([2.5], np.float32), np.array([6], np.float32)],
      constant=(0, 1), label="without a step")
check("MatMulInteger16", [random.integers(-999, 999, (3, 4)).astype(np.int16),
                          random.integers(-999, 999, (4, 5)).astype(np.int16)])

# -- qlinear.onnxtxt, compose_qlinear.c



def qlinear(op, inputs, attrs=None, zeros=()):
    """Inputs without dimensions are scales and zero points, of which the
    numbers `zeros` may be absent."""
    constant = [k for k, x in enumerate(inputs) if x.ndim == 0]
    check(op, inputs, attrs, constant=constant, steps=True)
    if zeros:
        check(op, [x * 0 if k in zeros else x for k, x in enumerate(inputs)],
              attrs, constant=constant, steps=True, absent=zeros,
              label="without zero points")


for data in (u8, s8):
    def zero(value):
        return np.array(value, data(1).dtype)

    for op in ("QLinearAdd", "QLinearMul"):
        qlinear(op, [data(2, 7), real(0.1), zero(3), data(7), real(0.2),
                     zero(9), real(0.3), zero(100)], zeros=(2, 5, 7))
    for op in ("QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"):
        more = {"opset": 13, "axis": -1} if op == "QLinearSoftmax" else {}
        qlinear(op, [data(2, 7), real(0.02), zero(100), real(0.01), zero(2)],
                more, zeros=(2, 4))
    qlinear("QLinearGlobalAveragePool",
            [data(1, 3, 4, 4), real(0.1), zero(3), real(0.2), zero(9)],
            {"channels_last": 0}, zeros=(2, 4))
    qlinear("QLinearAveragePool",
            [data(1, 3, 6, 6), real(0.1), zero(3), real(0.2), zero(9)],
            {"kernel_shape": [3, 3], "strides": [2, 2]}, zeros=(2, 4))
qlinear("QLinearConcat", [real(0.2), byte(9), u8(2, 3), real(0.1), byte(3),
                          u8(2, 4), real(0.3), byte(7)], {"axis": 1},
        zeros=(1, 4, 7))
qlinear("QLinearWhere", [random.random((2, 5)) > 0.5, u8(2, 5), real(0.1),
                         byte(3), u8(5), real(0.2), byte(9), real(0.3),
                         byte(5)], zeros=(3, 6, 8))
check("QGemm", [u8(3, 4), real(0.1), byte(7), s8(5, 4), real(0.02),
                np.array(0, np.int8),
                random.integers(-99, 99, 5).astype(np.int32), real(0.3),
                byte(90)], {"transB": 1, "alpha": 1.0},
      constant=(1, 2, 3, 4, 5, 6, 7, 8), steps=True)
check("QGemm", [u8(3, 4), real(0.1), byte(7), s8(4, 5), real(0.02),
                np.array(0, np.int8)], constant=(1, 2, 3, 4, 5), label="float")
check("DynamicQuantizeMatMul", [f(3, 8), s8(8, 5), f(5) ** 2,
                                np.zeros(5, np.int8), f(5)],
      constant=(1, 2, 3))
check("MatMulIntegerToFloat", [u8(3, 8), s8(8, 5), real(0.1), real(0.2),
                               byte(4), np.array(0, np.int8), f(5)],
      constant=(1, 3, 5))
for bits, zeros in ((4, False), (4, True), (8, True)):
    packed = u8(6, 3, 16 * bits // 8)
    row = (3 * bits + 7) // 8
    check("MatMulNBits", [f(2, 40), packed, f(6 * 3),
                          u8(6 * row) if zeros else None, None, f(6)],
          {"K": 40, "N": 6, "bits": bits, "block_size": 16},
          constant=(1, 2, 3) if zeros else (1, 2), label="%d bits" % bits)

# -- microsoft_attention.onnxtxt

check("RotaryEmbedding", [f(2, 5, 32), random.integers(0, 9, (2, 5)), f(9, 4),
                          f(9, 4)], label="flat")
check("RotaryEmbedding", [f(2, 4, 5, 8), np.array([3]), f(9, 4), f(9, 4)],
      {"interleaved": 1})
PACKED = [f(2, 5, 16), f(16, 48), f(48)]
check("Attention", PACKED, {"num_heads": 4})
check("Attention", PACKED + [MASK], {"num_heads": 4}, label="mask")
check("Attention", PACKED + [np.array([4, 2], np.int32)], {"num_heads": 4},
      label="lengths")
check("Attention", PACKED + [None, None, f(2, 4, 5, 5)], {"num_heads": 4},
      label="bias")
check("Attention", PACKED + [None, f(2, 2, 4, 3, 4)],
      {"num_heads": 4, "unidirectional": 1, "scale": 0.3}, 2, label="past")
BYTES = [u8(2, 5, 16), s8(16, 48), f(48), real(0.02)]
check("QAttention", BYTES + [real(0.01)], {"num_heads": 4},
      constant=(1, 2, 3, 4))
check("QAttention",
      BYTES + [f(48) ** 2 / 99, MASK, byte(120), np.zeros(48, np.int8)],
      {"num_heads": 4}, constant=(1, 2, 3, 4, 6, 7), label="mask")
check("QAttention",
      BYTES + [real(0.01), None, byte(120), None, f(2, 2, 4, 3, 4)],
      {"num_heads": 4, "unidirectional": 1}, 2, constant=(1, 2, 3, 4, 6),
      label="past")
QKV = [f(2, 5, 16), f(2, 6, 16), f(2, 6, 24)]
check("MultiHeadAttention", QKV, {"num_heads": 4})
check("MultiHeadAttention",
      QKV + [f(56), None, f(2, 4, 5, 6)], {"num_heads": 4}, label="bias")
check("MultiHeadAttention", [f(2, 5, 16), f(2, 5, 16), f(2, 5, 16), None,
                             MASK], {"num_heads": 4}, label="mask")
check("MultiHeadAttention",
      [f(2, 1, 16), f(2, 1, 16), f(2, 1, 16), None, None, None, f(2, 4, 3, 4),
       f(2, 4, 3, 4)], {"num_heads": 4}, 3, label="past")
CACHES = [f(16, 8), f(16, 8)]


def group_query(label, tokens, past, lengths, total, more=None,
                sizes=(64, 32, 32), **attrs):
    """`lengths`: the keys of each row, the new ones with them. past None:
    no keys are kept. `more`: inputs by their number."""
    data = [f(2, tokens, size) for size in sizes] + [None] * (3 - len(sizes))
    data += [None, None] if past is None else \
        [f(2, 2, past, 16), f(2, 2, past, 16)]
    data += [np.array(lengths, np.int32) - 1, np.array([total], np.int32)]
    data += CACHES if attrs.get("do_rotary") else [None, None]
    data += [(more or {}).get(k) for k in range(9, 12)]
    while data[-1] is None:
        data.pop()
    check("GroupQueryAttention", data, {"num_heads": 4, "kv_num_heads": 2,
                                        **attrs}, 3, constant=(6,),
          label=label)


group_query("decode", 1, 6, [7, 7], 7)
group_query("rotary", 1, 6, [7, 7], 7, do_rotary=1)
group_query("interleaved", 1, 6, [7, 7], 7, do_rotary=1, rotary_interleaved=1)
group_query("window", 1, 6, [7, 7], 7, local_window_size=3)
group_query("first", 5, 0, [5, 5], 5, do_rotary=1)
group_query("smooth", 1, 6, [7, 7], 7, smooth_softmax=1)
group_query("sink", 1, 6, [7, 7], 7, {11: f(4)})
for label, sizes in (("", (64, 32, 32)), (" packed", (128,))):
    for more in ({}, {"do_rotary": 1}, {"local_window_size": 3},
                 {"softcap": 5.0}, {"scale": 0.3}, {"smooth_softmax": 1}):
        group_query("without past%s %s" % (label, " ".join(more)), 5, None,
                    [5, 5], 5, sizes=sizes, **more)
group_query("bias", 5, None, [5, 5], 5, {10: f(1, 4, 5, 5)})
group_query("positions", 5, None, [5, 5], 5,
            {9: np.arange(5)[None].repeat(2, 0) + 2}, do_rotary=1)


def shorter_prompt():
    """The second row has 3 tokens; what its two others give is open."""
    if PATTERN not in "GroupQueryAttention shorter prompt":
        return
    data = {"q": f(2, 5, 64), "k": f(2, 5, 32), "v": f(2, 5, 32)}
    counts = np.ones((2, 5, 1), np.float32)
    counts[1, 3:] = 0
    constants = {"last": np.array([4, 2], np.int32),
                 "all": np.array([5], np.int32), "cos": CACHES[0],
                 "sin": CACHES[1], "counts": counts}
    graph = make.make_graph(
        [make.make_node("GroupQueryAttention",
                        ["q", "k", "v", "", "", "last", "all", "cos", "sin"],
                        ["a", "pk", "pv"], domain="com.microsoft",
                        num_heads=4, kv_num_heads=2, do_rotary=1),
         make.make_node("Mul", ["a", "counts"], ["y"])], "g",
        [make.make_tensor_value_info(n, T.FLOAT, x.shape)
         for n, x in data.items()], [make.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(x, n) for n, x in constants.items()])
    compare(save(graph), data)


shorter_prompt()


# -- compose_recurrent.c: by sums of exact integers (exact.py)

def is_stable(path, given):
    """Whether small differences in the inputs change the results as little: no
    byte is near the middle of two steps."""
    model = exact.Model(path)
    want = model.run(given)
    for move in (1 - 1e-5, 1 + 1e-5):
        moved = model.run({n: x if x.dtype.kind == "i" else
                           (x * move).astype(np.float32)
                           for n, x in given.items()})
        if not all(np.allclose(a, b, 0, 1e-4) for a, b in zip(want, moved)):
            return False
    return True


def dynamic_lstm(label, way="forward", columns=False, kind=np.int8, rows=2,
                 symbolic=False, lengths=None, parts="bhcp", outputs=3,
                 **attrs):
    """parts: bias, first state, first cell and peepholes."""
    if PATTERN not in "DynamicQuantizeLSTM " + label:
        return
    n, hidden, inputs = 2 if way == "bidirectional" else 1, 9, 5
    of = [n, 4 * hidden] if columns else [n]
    zero = np.zeros(of, np.int8) if kind == np.int8 else \
        random.integers(90, 160, of).astype(kind)
    data = {"w": (u8 if kind == np.uint8 else s8)(n, inputs, 4 * hidden),
            "r": (u8 if kind == np.uint8 else s8)(n, hidden, 4 * hidden),
            "b": f(n, 8 * hidden) / 4, "p": f(n, 3 * hidden),
            "ws": abs(f(*of)) / 200, "wz": zero, "rs": abs(f(*of)) / 200,
            "rz": zero[::-1].copy()}
    names = ["x", "w", "r", "b" if "b" in parts else "",
             "lengths" if lengths else "", "h0" if "h" in parts else "",
             "c0" if "c" in parts else "", "p" if "p" in parts else "", "ws",
             "wz", "rs", "rz"]
    constants = {k: x for k, x in data.items() if k in names}
    for _ in range(100):
        given = {"x": f(7, rows, inputs), "h0": f(n, rows, hidden),
                 "c0": f(n, rows, hidden),
                 "lengths": np.array(lengths or [], np.int32)}
        given = {k: x for k, x in given.items() if k in names}
        graph = make.make_graph(
            [make.make_node("DynamicQuantizeLSTM", names,
                            ["y", "yh", "yc"][:outputs], direction=way,
                            domain="com.microsoft", hidden_size=hidden,
                            **attrs)], "g",
            [make.make_tensor_value_info(
                k, make.np_dtype_to_tensor_dtype(x.dtype),
                ["t", *x.shape[1:]] if symbolic and k == "x" else x.shape)
             for k, x in given.items()],
            [make.make_empty_tensor_value_info(k)
             for k in ["y", "yh", "yc"][:outputs]],
            [numpy_helper.from_array(x, k) for k, x in constants.items()])
        path = save(graph)
        if is_stable(path, given):
            break
    else:
        fail(label + ": no inputs whose results are stable")
    compare(path, given, options=("--dim", "t=1..9") if symbolic else ())


for way in ("forward", "reverse", "bidirectional"):
    for columns in (False, True):
        for kind in (np.int8, np.uint8):
            dynamic_lstm("%s %s %s" % (way, columns, kind.__name__), way,
                         columns, kind)
    dynamic_lstm("lengths " + way, way, lengths=[3, 5])
dynamic_lstm("plain", parts="", rows=1, outputs=1)
dynamic_lstm("symbolic", symbolic=True, parts="b")
dynamic_lstm("clip", clip=0.7)
dynamic_lstm("coupled", input_forget=1, columns=True)
dynamic_lstm("functions", way="bidirectional", activations=[
    "HardSigmoid", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Affine"],
    activation_alpha=[0.3, 0.1, 0.9], activation_beta=[0.4, 0.2])


# -- models as onnxruntime's optimizer writes them

def optimize(label, nodes, inputs, constants, opset=17):
    """The model at two levels; gives the operators that the optimizer made."""
    if PATTERN not in label:
        return
    graph = make.make_graph(
        nodes, "net",
        [make.make_tensor_value_info(n, make.np_dtype_to_tensor_dtype(x.dtype),
                                     x.shape) for n, x in inputs.items()],
        [make.make_empty_tensor_value_info(nodes[-1].output[0])],
        [numpy_helper.from_array(x, n) for n, x in constants.items()])
    path = save(graph, ())
    level = ort.GraphOptimizationLevel
    made = set()
    for use in (level.ORT_ENABLE_BASIC, level.ORT_ENABLE_EXTENDED):
        best = os.path.join(work_folder(), "m.onnx")
        options = exact.session_options()
        options.graph_optimization_level = use
        options.optimized_model_filepath = best
        ort.InferenceSession(path, options,
                             providers=["CPUExecutionProvider"])
        made |= {(n.domain, n.op_type) for n in onnx.load(best).graph.node}
        compare(best, inputs, steps="bytes" in label)
    fused = {op for domain, op in made if domain}
    if not fused:
        fail("%s: onnxruntime joined no nodes of %s" % (label, made))
    print(label, sorted(fused))


def n(op, inputs, output, **attrs):
    return make.make_node(op, inputs.split(), [output], **attrs)


optimize("convolutions",
         [n("Conv", "x w b", "c", pads=[1, 1, 1, 1]), n("Relu", "c", "r"),
          n("Conv", "r w2", "d", pads=[1, 1, 1, 1]), n("Add", "d x", "s"),
          n("Relu", "s", "p"), n("GlobalAveragePool", "p", "g"),
          n("Flatten", "g", "q"), n("Gemm", "q m k", "t"),
          n("LeakyRelu", "t", "y", alpha=0.1)],
         {"x": f(1, 4, 8, 8)},
         {"w": f(6, 4, 3, 3), "b": f(6), "w2": f(4, 6, 3, 3), "m": f(4, 5),
          "k": f(5)})
optimize("transformer parts",
         [n("MatMul", "x w", "a"), n("Add", "a b", "c"),
          n("Div", "c root", "d"), n("Erf", "d", "e"), n("Add", "e one", "g"),
          n("Mul", "c g", "h"), n("Mul", "h half", "i"), n("MatMul", "i v", "j"),
          n("Add", "j u", "k"), n("Add", "k x", "l"),
          n("LayerNormalization", "l s t", "o"),
          n("Transpose", "o", "z", perm=[0, 2, 1]), n("MatMul", "o z", "q"),
          n("Mul", "q half", "y")],
         {"x": f(2, 3, 8)},
         {"w": f(8, 16), "b": f(16), "root": real(np.sqrt(2)), "one": real(1),
          "half": real(0.5), "v": f(16, 8), "u": f(8), "s": f(8), "t": f(8)})
