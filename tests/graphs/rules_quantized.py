# SPDX-License-Identifier: Apache-2.0
"""Rules for quantized operators, and for chains of DequantizeLinear, an
operator and QuantizeLinear, which tirc computes in integers."""
import numpy as np

import values
from maker import SYMBOL
from reference import Rejected
from rules_windows import divisor, window
from large import CONST, CONV, I8, ROW, U8, case, floats

BYTES = ["uint8", "int8"]
# Of activations between nodes of QDQ models.
STORED = 3 * BYTES + ["uint16", "int16"]
SMALL = values.SHORT + values.SMALL_FLOATS


def scale(g, shape=(), kind="float32"):
    """A constant scale, at times a power of two: quotients are exact then, and
    some lie in the middle between two integers."""
    array = g.rng.uniform(0.02, 0.2, shape)
    if g.chance(0.4):
        array = 2.0 ** np.rint(np.log2(array))
    return g.add(values.cast(array, kind), "constant")


def zero_point(g, kind, shape=(), odd=True):
    """A constant zero point, at times the least or largest of its type."""
    low, high = values.limits(kind)
    profile = g.choice(["plain", "zero", "special"]) if odd else "zero"
    array = np.zeros(shape, values.DTYPES[kind]) if profile == "zero" else \
        values.random(g.rng, kind, shape, profile)
    if profile == "special" and g.chance():
        array = np.full(shape, g.choice([low, high])).astype(
            values.DTYPES[kind])
    return g.add(np.asarray(array), "constant")


def quantize(g):
    x = g.data([t for t in g.types("QuantizeLinear") if t in
                ("float32", "float16", "int32")], 0, 4)
    shape = g.value(x).shape
    kind = g.choice(["uint8", "int8", "uint8", "int8", "int16", "uint16",
                     *SMALL])
    of, more = parameter_shape(g, shape)
    inputs = [x, scale(g, of, "float32" if g.dtype(x) == "int32"
                       else g.dtype(x))]
    if kind in values.SMALL_FLOATS:
        inputs.append(g.add(np.zeros(of, values.DTYPES[kind]), "constant"))
    elif kind != "uint8" or g.chance(0.8):
        inputs.append(zero_point(g, kind, of))
    g.node("QuantizeLinear", inputs, **more)


def parameter_shape(g, shape):
    """The shape of a scale per tensor, per axis or per block, and the
    attributes that say so."""
    if not shape or 0 in shape or g.chance():
        return [], {}
    axis = g.number(0, len(shape) - 1)
    if shape[axis] == SYMBOL:
        return [], {}
    signed = axis - (len(shape) if g.chance() else 0)
    if g.chance(0.2) and SYMBOL not in shape:
        block = g.choice([b for b in range(1, shape[axis] + 1)
                          if shape[axis] % b == 0])
        of = list(shape)
        of[axis] //= block
        return of, {"axis": signed, "block_size": block}
    return [shape[axis]], {"axis": signed}


def dequantize(g):
    x = g.data(BYTES + ["int16", "uint16", "int32", *SMALL], 0, 4)
    kind = g.dtype(x)
    of, more = parameter_shape(g, g.value(x).shape)
    inputs = [x, scale(g, of, g.choice(["float32", "float32", "float16"]))]
    if kind in values.INTEGERS and \
            g.chance(0.8):
        inputs.append(zero_point(g, kind, of, kind != "int32"))
    g.node("DequantizeLinear", inputs, **more)


def any_zero_point(g, x):
    """The same for x, at times known when the model runs."""
    return zero_point(g, g.dtype(x)) if g.chance(0.6) else \
        g.exact(g.dtype(x), [], "large", False)


def dynamic(g):
    x = g.data(["float32"], 0, 4, lambda s: 0 not in s)
    g.node("DynamicQuantizeLinear", [x], 3)


def some_bytes(g, shape):
    return g.exact(g.choice(BYTES), shape, "large")


def matmul_integer(g):
    a = g.data(BYTES, 1, 3, profile="large")
    shape = g.value(a).shape
    b = g.exact(g.choice(BYTES), [shape[-1], g.size()], "large")
    inputs = [a, b]
    if g.chance(0.7):
        inputs.append(any_zero_point(g, a) if g.chance(0.8) else None)
        if inputs[2] is None or g.chance(0.7):
            of = g.choice([[], [g.value(b).shape[1]]])
            inputs.append(zero_point(g, g.dtype(b), of))
    g.node("MatMulInteger", inputs)


def quantized_pictures(g, kinds=None):
    x = g.data(kinds or BYTES, 3, 4, lambda s: 0 not in s and
               SYMBOL not in s[1:], "large", 0.5)
    shape = g.value(x).shape
    kernel, more = window(g, shape[2:])
    group = divisor(g, shape[1])
    out = group * g.choice([1, 1, 2, 4, 8])
    if out > 64:
        raise Rejected("many channels")
    if group != 1:
        more["group"] = group
    return x, [out, shape[1] // group] + kernel, more


def conv_integer(g):
    x, weights, more = quantized_pictures(g)
    w = g.exact(g.choice(BYTES), weights, "large", g.chance(0.8) or None)
    inputs = [x, w]
    if g.chance(0.7):
        inputs.append(any_zero_point(g, x))
        if g.chance():
            inputs.append(zero_point(g, g.dtype(w)))
    g.node("ConvInteger", inputs, **more)


def qlinear_conv(g):
    x, weights, more = quantized_pictures(g)
    kind = "int8" if g.dtype(x) == "int8" else g.choice(BYTES)
    w = g.exact(kind, weights, "large", g.chance(0.9) or None)
    of = g.choice([[], [weights[0]]])
    y = g.dtype(x)
    inputs = [x, scale(g), zero_point(g, y), w, scale(g, of),
              zero_point(g, kind, of, False), scale(g), zero_point(g, y)]
    if g.chance():
        inputs.append(g.add(g.rng.integers(-999, 999, weights[0]).astype(
            np.int32), "constant"))
    g.node("QLinearConv", inputs, **more)


def qlinear_matmul(g):
    a = g.data(BYTES, 2, 3, profile="large")
    shape = g.value(a).shape
    kind = g.dtype(a)
    b = g.exact(g.choice(BYTES) if kind == "uint8" else kind,
                [shape[-1], g.size()], "large")
    g.node("QLinearMatMul", [
        a, scale(g), zero_point(g, kind), b, scale(g),
        zero_point(g, g.dtype(b)), scale(g), zero_point(g, kind)])


# -- chains: DequantizeLinear, an operator, QuantizeLinear

def quantized(g, low=1, high=4, accept=lambda s: True):
    """A tensor of 8 or 16 bits: an earlier one, a new one, or one quantized
    here."""
    kind = g.choice(STORED)
    if g.chance(0.6):
        return g.data([kind], low, high, accept, "large")
    x = g.data(["float32"], low, high, accept)
    return g.node("QuantizeLinear", [x, scale(g), zero_point(g, kind)])


def real(g, name):
    """The names of the dequantized tensor and of its scale."""
    s = scale(g)
    return g.node("DequantizeLinear", [
        name, s, zero_point(g, g.dtype(name))]), s


def bytes_of(g, name):
    """Quantizes a tensor, at times after an activation."""
    if g.chance(0.4):
        name = g.node(g.choice(["Relu", "Clip", "Sigmoid", "HardSwish",
                                "LeakyRelu"]), [name])
    kind = g.choice(STORED)
    name = g.node("QuantizeLinear", [name, scale(g), zero_point(g, kind)])
    if g.chance(0.4):
        real(g, name)


def weights(g, shape, axis):
    """int8 weights as floats, with scales per tensor or per channel."""
    kind = g.choice(["int8", "int8", "int8", "uint8"])
    w = g.exact(kind, shape, "large", True)
    of = [shape[axis]] if g.chance(0.6) else []
    s = scale(g, of)
    more = {"axis": axis} if of else {}
    return g.node("DequantizeLinear", [
        w, s, zero_point(g, kind, of, kind == "uint8")], **more), s


def bias(g, count, scale_x, scale_w, groups=1):
    """A bias with the scale of the sums; all groups have the same scales."""
    of = g.value(scale_w)
    of = np.tile(of, groups) if of.ndim else of
    s = g.add(np.asarray(g.value(scale_x) * of, np.float32), "constant")
    b = g.add(g.rng.integers(-2000, 2000, count).astype(np.int32),
              "constant")
    return g.node("DequantizeLinear", [
        b, s, g.add(np.zeros(g.value(s).shape, np.int32), "constant")],
        **({"axis": 0} if g.value(s).ndim else {}))


def chain_conv(g):
    x = quantized(g, 3, 4, lambda s: 0 not in s and SYMBOL not in s[1:])
    x, s = real(g, x)
    shape = g.value(x).shape
    kernel, more = window(g, shape[2:])
    group = divisor(g, shape[1])
    out = group * g.choice([1, 1, 2, 4, 8])
    if out > 64:
        raise Rejected("many channels")
    w, scale_w = weights(g, [out, shape[1] // group] + kernel, 0)
    inputs = [x, w] + ([bias(g, out, s, scale_w)] if g.chance(0.6) else [])
    bytes_of(g, g.node("Conv", inputs, group=group, **more))


def chain_conv_transpose(g):
    x = quantized(g, 3, 4, lambda s: 0 not in s and SYMBOL not in s[1:])
    x, s = real(g, x)
    shape = g.value(x).shape
    kernel, more = window(g, [max(n, 3) for n in shape[2:]])
    group = divisor(g, shape[1])
    out = g.choice([1, 2, 3, 8])
    w, scale_w = weights(g, [shape[1], out] + kernel, 1)
    strides = more.get("strides", [1] * len(kernel))
    if g.chance(0.3) and "auto_pad" not in more:
        more["output_padding"] = [g.number(0, n - 1) for n in strides]
    inputs = [x, w]
    if g.chance(0.6):
        inputs.append(bias(g, out * group, s, scale_w, group))
    bytes_of(g, g.node("ConvTranspose", inputs, group=group, **more))


def chain_matmul(g):
    x, s = real(g, quantized(g, 2, 3, lambda s: 0 not in s))
    shape = g.value(x).shape
    n = g.size()
    if len(shape) == 2 and g.chance():
        flip = g.chance()
        w, scale_w = weights(g, [n, shape[1]] if flip else [shape[1], n],
                             0 if flip else 1)
        inputs = [x, w] + ([bias(g, n, s, scale_w)] if g.chance(0.7) else [])
        bytes_of(g, g.node("Gemm", inputs, transB=int(flip)))
        return
    w, _ = weights(g, [shape[-1], n], 1)
    bytes_of(g, g.node("MatMul", [x, w]))


def chain_binary(g):
    x, _ = real(g, quantized(g))
    shape = list(g.value(x).shape)
    y = g.exact(g.choice(BYTES), shape, "large") if g.chance(0.7) else \
        g.partner(x, BYTES)
    y, _ = real(g, y)
    bytes_of(g, g.node(g.choice(["Add", "Mul", "Sub"]), [x, y]))


def chain_pool(g):
    x, _ = real(g, quantized(g, 3, 4, lambda s: 0 not in s and
                             SYMBOL not in s[1:]))
    same = g.graph.nodes[-1].input[1:]
    op = g.choice(["MaxPool", "AveragePool", "GlobalAveragePool",
                   "ReduceMean"])
    more = {}
    if op.endswith("Pool") and not op.startswith("Global"):
        kernel, more = window(g, g.value(x).shape[2:])
        more["kernel_shape"] = kernel
    y = g.node(op, [x], **more)
    if g.chance():
        # With --requant tflite an average whose input and result have the
        # same scale and zero point is a sum of integers.
        g.node("QuantizeLinear", [y, *same])
    else:
        bytes_of(g, y)


def chain_move(g):
    x, _ = real(g, quantized(g, 1, 4))
    op = g.choice(["Transpose", "Relu", "Concat", "Flatten", "Softmax",
                   "Sigmoid", "Tanh"])
    inputs, more = [x], {}
    if op == "Concat":
        inputs.append(real(g, g.exact(g.choice(BYTES), g.value(x).shape,
                                      "large"))[0])
        more["axis"] = g.number(0, g.value(x).ndim - 1)
    bytes_of(g, g.node(op, inputs, **more))


def chain_function(g):
    """A function of one byte, at times with a constant factor, or of a product
    with the function of the same byte."""
    x, _ = real(g, quantized(g, 0, 4))
    y = x if g.chance(0.7) else g.node("Mul", [x, scale(g)])
    op = g.choice(["Tanh", "Sigmoid", "Exp", "Softplus", "Mish", "Gelu", "Erf",
                   "Elu", "HardSwish", "LeakyRelu", "Sin"])
    y = g.node(op, [y])
    if g.chance(0.3):
        y = g.node("QuantizeLinear", [y, scale(g), zero_point(
            g, g.choice(BYTES))])
        y, _ = real(g, y)
    if g.chance(0.3):
        y = g.node("Mul", [x, y])
    bytes_of(g, y)


RULES = {
    "QuantizeLinear": quantize, "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic, "MatMulInteger": matmul_integer,
    "ConvInteger": conv_integer, "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul}
# Rules for the chains that tirc's passes turn into its own operators.
CHAINS = {
    "tirc.Conv": chain_conv, "tirc.MatMul": chain_matmul,
    "tirc.ConvTranspose": chain_conv_transpose,
    "tirc.Add": chain_binary, "tirc.Mul": chain_binary,
    "tirc.SumPool": chain_pool, "tirc.Requantize": chain_move,
    "tirc.MultiplyShift": chain_conv, "tirc.AddShift": chain_binary,
    "tirc.Table": chain_function}

# One node of the size that models have, for tests/ops/work.py.
LARGE = {
    "MatMulInteger": case([(U8, [64, 128]), (I8, [128, 96])], products=64 * 128
        * 96),
    "ConvInteger": case([(U8, [1, 16, 40, 40]), (I8, [16, 16, 3, 3])],
        products=CONV, pads=[1, 1, 1, 1]),
    "QLinearConv": case( [(U8, [1, 16, 40, 40]), floats(), CONST(3, np.uint8),
        np.ones((16, 16, 3, 3), np.int8), floats(), CONST(0, np.int8),
        floats(), CONST(5, np.uint8)], products=CONV, pads=[1, 1, 1, 1]),
    "QLinearMatMul": case( [(U8, [64, 128]), floats(), CONST(3, np.uint8), (I8,
        [128, 96]), floats(), CONST(0, np.int8), floats(), CONST(5, np.uint8)],
        products=64 * 128 * 96),
    "DynamicQuantizeLinear": case([ROW], outputs=3),
    "QuantizeLinear": case([ROW, floats(), CONST(3, np.uint8)]),
    "DequantizeLinear": case([(U8, [64, 512]), floats(), CONST(3, np.uint8)]),
}
