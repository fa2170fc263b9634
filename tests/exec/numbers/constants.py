#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chains of operators with constants give what the model says, wherever passes
might merge the constants: in front of operators with steps, where the chain
cancels, at the ends of the range, in narrow floats. The wanted results are
computed here, in float64 or operation by operation in float32, and compared
closely.

    constants.py NAME

NAME is a function here."""
import sys

import helper

try:
    import numpy as np
    from answers_model import Known
except ImportError as missing:
    helper.skip(str(missing))

TARGETS = ["c99", "gnu-c", "misra", "opencl-cpu", "c-openmp"]
FLOAT, INT32, INT64 = 1, 6, 7
f32 = np.float32


def check(m, *options):
    m.check(TARGETS, *options)
    m.check(["c99", "misra"], "--fp", "strict", *options)


def chain(m, x, *links, kind=f32):
    """x through ("Add", 1), ("Div", 10), ..."""
    for op, constant in links:
        x = m.node(op, [x, m.constant(np.asarray(constant, kind))])
    return x


def whole(m, name, array):
    return m.input(name, np.asarray(array, f32))


def steps():
    """Whole numbers divided by 10 and more, then rounded or compared: what is
    merged is just below a whole number."""
    m = Known("steps")
    n = np.arange(-640, 640)
    array = (10 * n - 1).astype(f32)
    x = whole(m, "x", array)
    tenth = (("Add", 1), ("Div", 10))
    for op, wanted in (("Floor", n), ("Ceil", n), ("Round", n)):
        m.output(m.node(op, [chain(m, x, *tenth)]), wanted.astype(f32))
    m.output(m.node("Cast", [chain(m, x, *tenth)], to=INT32),
             n.astype(np.int32))
    # 41 q - 1 is three times a whole number for each third q.
    q = np.arange(2, 2000, 3)
    y = whole(m, "third", (41 * q - 1) / 3)
    m.output(m.node("Cast", [chain(m, y, ("Mul", 3), ("Add", 1),
                                   ("Div", 41))], to=INT64), q)
    limit = m.constant(n.astype(f32))
    for op, wanted in (("Less", False), ("GreaterOrEqual", True),
                       ("Equal", True)):
        m.output(m.node(op, [chain(m, x, *tenth), limit]),
                 np.full(n.shape, wanted))
    y = chain(m, x, *tenth, ("Sub", n))
    m.output(m.node("Sign", [y]), np.zeros(n.shape, f32))
    y = chain(m, x, *tenth)
    m.output(m.node("Mod", [y, m.constant(f32(4))], fmod=1),
             np.fmod(n, 4).astype(f32))
    # Behind operators that pass the difference on.
    y = m.node("Reshape", [chain(m, x, *tenth), m.constant(np.array([2, -1]))])
    y = m.node("Transpose", [m.node("Relu", [y])])
    y = m.node("Concat", [y, m.node("Neg", [y])], axis=1)
    y = m.node("MaxPool", [m.node("Unsqueeze", [
        y, m.constant(np.array([0]))])], kernel_shape=[1])
    wanted = np.maximum(n, 0).reshape(2, -1).T
    m.output(m.node("Floor", [y]),
             np.concatenate([wanted, -wanted], 1)[None].astype(f32))
    # The first of equal ones.
    y = m.node("Concat", [
        m.node("Reshape", [chain(m, x, *tenth), m.constant(np.array([-1, 1]))]),
        m.constant(n.reshape(-1, 1).astype(f32))], axis=1)
    first = np.zeros(len(n), np.int64)
    m.output(m.node("ArgMax", [y], axis=1, keepdims=0), first)
    m.output(m.node("ArgMin", [y], axis=1, keepdims=0), first)
    m.output(m.node("TopK", [y, m.constant(np.array([1]))], 2)[1],
             first.reshape(-1, 1))
    # A step that is in place; and the edge of a function.
    y = m.node("QuantizeLinear", [chain(m, x, ("Add", 1), ("Div", 20)),
                                  m.constant(f32(1)),
                                  m.constant(np.int8(0))])
    m.output(y, np.clip(np.round(n / 2), -128, 127).astype(np.int8))
    y = m.node("Sqrt", [chain(m, x, *tenth, ("Sub", n))])
    m.output(y, np.zeros(n.shape, f32))
    check(m, "--rtol", "0", "--atol", "0")
    # The last bit of a large angle is a large angle.
    m = Known("angles")
    x = whole(m, "x", [1000000, 700010, 123450, 999990])
    for op in ("Sin", "Cos"):
        m.output(m.node(op, [chain(m, x, ("Div", 10), ("Mul", 3))]), f32(
            getattr(np, op.lower())(np.float64([300000, 210003, 37035,
                                                299997]))))
    m.check(TARGETS, "--atol", "1e-5")


def terms():
    """Sums of one term before a step: none of them rounds."""
    m = Known("terms")
    n = np.arange(1, 65).reshape(1, 1, 8, 8)
    x = whole(m, "x", 10 * n)
    axis = m.constant(np.array([1]))
    eye = np.eye(8, dtype=f32)
    one = np.ones((1, 1, 1, 1), f32)

    def through(wanted, op, inputs=(), **attributes):
        y = chain(m, x, ("Div", 10), ("Mul", 3))
        y = m.node(op, [y, *inputs], **attributes)
        m.output(m.node("Ceil", [y]), f32(3 * wanted))

    for op in ("ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1"):
        if op in ("ReduceSum", "ReduceMean"):
            through(n, op, [m.constant(np.zeros(0, np.int64))],
                    noop_with_empty_axes=1)
        through(n[:, 0], op, [axis], keepdims=0)
        through(n, op, [axis])
    through(n.swapaxes(2, 3), "Einsum", equation="abcd->abdc")
    through(n[:, 0], "Einsum", equation="abcd->acd")
    through(n, "Einsum", [m.constant(np.ones((8, 1), f32))],
            equation="...d,de->...d")
    through(n, "CumSum", [m.constant(np.array(1))])
    for op in ("AveragePool", "LpPool"):
        through(n, op, kernel_shape=[1, 1])
    through(n[..., ::-1], "MatMul", [m.constant(eye[::-1])])
    through(n, "Conv", [m.constant(one)])
    through(n, "ConvTranspose", [m.constant(one)])
    delta = np.zeros((2, 1, 3, 3), f32)
    delta[:, 0, 1, 1] = 1, 2
    through(n * np.array([1, 2])[:, None, None], "Conv", [m.constant(delta)],
            pads=[1, 1, 1, 1])
    check(m, "--rtol", "0", "--atol", "0")


def picks():
    """Products and windows that pick single elements, at places of which little
    is known, and poles behind sums."""
    m = Known("picks")
    x = np.array([50, 90, 100, 170])
    want = f32(x * 3 / 10)
    swap = np.eye(4, dtype=f32)[[1, 0, 3, 2]]

    def through(shape, wanted, op, inputs=(), at=0, then="Ceil", **attributes):
        y = chain(m, whole(m, "x%d" % len(m.inputs), x.reshape(shape)),
                  ("Div", 10), ("Mul", 3))
        inputs = [i if isinstance(i, str) else m.constant(i) for i in inputs]
        y = m.node(op, [*inputs[:at], y, *inputs[at:]], **attributes)
        m.output(m.node(then, [y]) if then else y, f32(wanted))

    column, row = want.reshape(4, 1), want.reshape(1, 4)
    through((4, 1), swap @ column, "MatMul", [swap], at=1)
    through((4, 1), swap @ column, "Gemm", [swap], at=1)
    through((4, 1), swap @ column, "Gemm", [swap.T.copy()], at=1, transA=1)
    through((1, 4), row @ swap, "Gemm", [swap.T.copy()], transB=1)
    through((4, 1), swap @ column, "Einsum", [swap], at=1,
            equation="ij,jk->ik")
    through((4, 1), want[1:2], "MatMul", [swap[0]], at=1)
    through((4,), want[2], "MatMul", [swap[3]])
    through((1, 4), row @ np.stack([swap, swap[::-1]]), "MatMul",
            [np.stack([swap, swap[::-1]])])
    given = m.input("swap", swap)
    through((1, 4), row @ swap, "MatMul", [given])
    through((4, 1), swap @ column, "MatMul", [given], at=1)
    narrow = m.node("DequantizeLinear", [
        m.constant(swap.astype(np.int8)), m.constant(f32(1))])
    through((1, 4), row @ swap, "MatMul", [narrow])
    eye = np.eye(4, dtype=f32).reshape(4, 4, 1, 1)
    through((1, 4, 1, 1), want.reshape(1, 4, 1, 1), "ConvTranspose", [eye])
    through((1, 4, 1, 1), want.reshape(1, 4, 1, 1), "ConvTranspose",
            [np.tile(np.eye(2, dtype=f32), (2, 1)).reshape(4, 2, 1, 1)],
            group=2)
    nearest = np.zeros((2, 2, 2, 2), f32)
    nearest[0, 0] = nearest[1, 1] = 1
    larger = want.reshape(1, 2, 1, 2).repeat(2, 2).repeat(2, 3)
    through((1, 2, 1, 2), larger, "ConvTranspose", [nearest], strides=[2, 2])
    # Only windows at an edge have a single element.
    image = np.pad(want.reshape(2, 2), 1)
    box = (image[:-1, :-1] + image[1:, :-1] + image[:-1, 1:]
           + image[1:, 1:]).reshape(1, 1, 3, 3)
    count = np.array([1, 2, 1])
    through((1, 1, 2, 2), np.ceil(box), "Conv", [np.ones((1, 1, 2, 2), f32)],
            pads=[1, 1, 1, 1])
    through((1, 1, 2, 2), np.ceil(box / np.outer(count, count)), "AveragePool",
            kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    through((1, 4, 1, 1), want.reshape(1, 4, 1, 1), "Conv",
            [np.ones((4, 1, 3, 3), f32)], pads=[1, 1, 1, 1], group=4)
    through((4, 1, 1), want, "Det")
    # What is exactly 0 has no direction.

    def normalized(shape, op, inputs=(), **attributes):
        y = chain(m, whole(m, "z%d" % len(m.inputs), x.reshape(shape)),
                  ("Div", 10), ("Mul", 3), ("Sub", want.reshape(shape)))
        y = m.node(op, [y, *[m.constant(i) for i in inputs]], **attributes)
        m.output(y, np.zeros(shape, f32))

    normalized((4, 1), "LpNormalization", axis=1, p=1)
    normalized((4, 1), "LpNormalization", axis=0, p=2)
    normalized((1, 1, 4, 1), "MeanVarianceNormalization", axes=[2])
    normalized((1, 4), "LayerNormalization", [np.ones(4, f32)], epsilon=1e-20)
    y = chain(m, whole(m, "divided", x), ("Div", 10), ("Mul", 3),
              ("Sub", want))
    norm = m.node("Max", [m.node("ReduceL2", [y]), m.constant(f32(1e-20))])
    m.output(m.node("Div", [y, norm]), np.zeros(4, f32))
    # Equal elements have equal probabilities.
    y = chain(m, whole(m, "equal", x), ("Div", 10), ("Mul", 3))
    y = m.node("Softmax", [m.node("Concat", [
        m.node("Unsqueeze", [y, m.constant(np.array([1]))]),
        m.constant(column)], axis=1)], axis=1)
    m.output(m.node("ArgMax", [y], axis=1, keepdims=0), np.zeros(4, np.int64))
    check(m, "--rtol", "0", "--atol", "0")


def products():
    """The same behind products of whole numbers, which are exact."""
    m = Known("products")
    image = np.arange(-200, 200).reshape(1, 2, 10, 20)
    x = whole(m, "image", image)
    w = np.array([[[[2]], [[3]]], [[[7]], [[1]]], [[[0]], [[5]]]], f32)
    conv = np.einsum("oi,bihw->bohw", w[:, :, 0, 0], image).astype(f32)
    shift = -conv % 10
    for op, step in (("Floor", np.floor), ("Ceil", np.ceil)):
        y = m.node("Conv", [x, m.constant(w)])
        # To the next multiple of ten.
        y = m.node("Add", [y, m.constant(shift)])
        y = m.node(op, [chain(m, y, ("Div", 10))])
        m.output(y, step((conv + shift) / 10).astype(f32))
        y = m.node(op, [chain(m, m.node("Conv", [x, m.constant(w)]),
                              ("Div", 10))])
        m.output(y, step((conv / f32(10))))
    rows = np.arange(-60, 60).reshape(20, 6)
    a = whole(m, "rows", rows)
    w = np.arange(-9, 9).reshape(6, 3).astype(f32) * 10
    product = (rows @ w).astype(f32)
    m.output(m.node("Floor", [chain(m, m.node("MatMul", [a, m.constant(w)]),
                                    ("Div", 10))]), np.floor(product / 10))
    gemm = m.node("Gemm", [a, m.constant(w),
                           m.constant(np.array([10, 0, 30], f32))])
    gemm = m.node("Relu", [chain(m, gemm, ("Add", [-20, 40, 0]),
                                 ("Div", [10, 1, 10]))])
    m.output(m.node("Cast", [gemm], to=INT32),
             np.maximum((product + [-10, 40, 30]) / [10, 1, 10],
                        0).astype(np.int32))
    # 3x3, of many channels: Winograd's sums are no whole numbers.
    rng = np.random.default_rng(5)
    image = rng.integers(-9, 10, (1, 32, 24, 24))
    w = rng.integers(-9, 10, (32, 32, 3, 3))
    want = np.zeros((1, 32, 22, 22))
    for i, j in np.ndindex(3, 3):
        want += np.einsum("oi,bihw->bohw", w[:, :, i, j],
                          image[:, :, i:i + 22, j:j + 22])
    y = m.node("Conv", [whole(m, "channels", image),
                        m.constant(w.astype(f32))])
    m.output(m.node("Floor", [y]), want.astype(f32))
    # A normalization, each operation rounded.
    x = whole(m, "normal", rng.integers(-99, 100, (4, 3, 50)))
    scale, bias, mean, var = (np.array(v, f32) for v in (
        [3, 0.3, 0.1], [1, 0.7, -2], [7, 1, -3], [9, 2, 5]))
    y = m.node("BatchNormalization", [x] + [
        m.constant(v) for v in (scale, bias, mean, var)], epsilon=0.0)
    factor = scale / np.sqrt(var)
    array = m.inputs["normal"]
    want = (array - mean[:, None]) * factor[:, None] + bias[:, None]
    m.output(m.node("Floor", [y]), np.floor(want))
    check(m, "--rtol", "0", "--atol", "0")
    m.check(["gnu-c"], "--conv", "winograd", "--rtol", "0", "--atol", "0")


def on_purpose(m):
    """A number is added to products and to a normalization, so that they are
    rounded, and it is taken away again."""
    array = f32([[.123456], [.2345678], [.3456789], [.4567891]])
    x = whole(m, "fraction", array)
    w = m.constant(f32([[1e5]]))
    normal = [m.constant(f32([v])) for v in (1e5, 0, 0, 1)]
    zero = m.constant(f32([0]))
    for big in f32([2.0 ** 23, 1.5 * 2.0 ** 23, 3e6, 2.0 ** 20]):
        for back in (big, big - f32(64)):
            wanted = (array * f32(1e5) + big) - back
            for op, inputs in (("Gemm", [w, zero]), ("Gemm", [w]),
                               ("BatchNormalization", normal)):
                attributes = {"epsilon": 0.0} if len(inputs) == 4 else {}
                y = m.node(op, [x, *inputs], **attributes)
                m.output(chain(m, y, ("Add", big), ("Sub", back)), wanted)
            y = m.node("Gemm", [x, w, m.constant(f32([big]))])
            m.output(chain(m, y, ("Sub", back)), wanted)
            y = m.node("BatchNormalization", [
                x, normal[0], m.constant(f32([big])), *normal[2:]],
                epsilon=0.0)
            m.output(chain(m, y, ("Sub", back)), wanted)
            y = m.node("MatMul", [x, w])
            m.output(chain(m, y, ("Add", big), ("Sub", back), ("Mul", 2)),
                     2 * wanted)
    # What is rounded must not differ.
    tens = f32([95, 175, 195, 335])
    y = chain(m, whole(m, "tens", tens), ("Div", 10), ("Mul", 3),
              ("Add", 1.5 * 2.0 ** 23))
    m.output(chain(m, y, ("Sub", 1.5 * 2.0 ** 23)),
             np.round(tens / f32(10) * f32(3)))


def cancelled():
    """Differences of large numbers are as accurate as float32 is."""
    m = Known("cancelled")
    times = (1.7e9 + 128.0 * np.arange(-300, 300)).reshape(-1, 2)
    x = whole(m, "times", times)
    hours = f32((times - 1.7e9) / 3600)
    m.output(chain(m, x, ("Sub", 1.7e9), ("Div", 3600)), hours)
    m.output(chain(m, x, ("Sub", 1.6e9), ("Sub", 1e8), ("Div", 3600)), hours)
    m.output(chain(m, x, ("Mul", 2), ("Sub", 3.4e9), ("Div", 7200)), hours)
    eye = m.constant(np.eye(2, dtype=f32))
    for op in ("MatMul", "Gemm"):
        m.output(chain(m, m.node(op, [x, eye]), ("Sub", 1.7e9),
                       ("Div", 3600)), hours)
    # Beside a channel of large weights.
    small = np.arange(-300, 300, 2) / 1e8
    y = whole(m, "uneven", np.stack([small, times[:, 1]], 1))
    y = m.node("Gemm", [y, m.constant(np.diag([1e8, 1]).astype(f32))])
    m.output(chain(m, y, ("Sub", [0, 1.7e9]), ("Div", [1, 3600])),
             f32(np.stack([f32(small).astype(float) * 1e8, hours[:, 1]], 1)))
    near = 1e6 + np.arange(-50, 51) / 16
    y = whole(m, "near", near)
    m.output(chain(m, y, ("Sub", 1e6), ("Mul", 1e6)), f32((near - 1e6) * 1e6))
    # Rounds on purpose.
    some = np.arange(-200, 200) / 8
    z = whole(m, "some", some)
    magic = 1.5 * 2.0 ** 23
    m.output(chain(m, z, ("Add", magic), ("Sub", magic)), f32(np.round(some)))
    y = m.node("Conv", [m.node("Reshape", [z, m.constant(
        np.array([1, 1, -1]))]), m.constant(np.ones((1, 1, 1), f32))])
    m.output(chain(m, y, ("Add", magic), ("Sub", magic)),
             f32(np.round(some)).reshape(1, 1, -1))
    on_purpose(m)
    # Means of many standard deviations.
    mean = np.array([1e6, 1.5e5, 3])
    normal = mean[:, None] + np.arange(-20, 21) / 16
    scale, bias, var = [1, 2, 0.5], [0.25, -1, 3], [4, 0.01, 1]
    x = whole(m, "normal", normal[None])
    y = m.node("BatchNormalization", [x] + [
        m.constant(np.array(v, f32)) for v in (scale, bias, mean, var)])
    want = (normal - mean[:, None]) / np.sqrt(
        np.array(var, f32).astype(float) + float(f32(1e-5)))[:, None]
    m.output(y, f32(want * np.array(scale)[:, None]
                    + np.array(bias)[:, None])[None])
    check(m, "--rtol", "2e-6", "--atol", "1e-6")
    # A bias as large as the mean, with rounding errors of 1/16, is subtracted.
    m = Known("biased")
    normal = 58e6 + np.arange(-25, 26) * 4.0
    y = m.node("BatchNormalization", [whole(m, "x", normal[None, None])] + [
        m.constant(np.array([v], f32)) for v in (1.1, 1e6, 58e6, 1)],
        epsilon=0.0)
    m.output(chain(m, y, ("Sub", 1e6)),
             f32((normal - 58e6) * 1.1)[None, None])
    check(m, "--rtol", "0", "--atol", "0.0626")


def ranges():
    """Constants whose product is beyond float32's range, or subnormal."""
    m = Known("ranges")
    array = np.array([0, 1, -1, 1e-30, -3e-38, 1e30, 7, 1e-20], f32)
    x = whole(m, "x", array)

    def all_of(*links):
        want = array
        with np.errstate(all="ignore"):
            for op, c in links:
                c = f32(c)
                want = {"Mul": want * c, "Div": want / c, "Add": want + c,
                        "Sub": want - c}[op]
        m.output(chain(m, x, *links), want.astype(f32))

    for big in (1e20, 1e30):
        all_of(("Mul", big), ("Mul", big))
        all_of(("Mul", big), ("Mul", big), ("Mul", 1 / big))
        all_of(("Mul", 1 / big), ("Mul", 1 / big), ("Mul", big))
        all_of(("Mul", 1 / big), ("Div", big))
        all_of(("Add", big), ("Mul", big))
        all_of(("Sub", big), ("Div", 1 / big))
    all_of(("Add", 1), ("Div", 0))
    all_of(("Div", 0), ("Mul", 0))
    all_of(("Mul", 3e38), ("Div", 3e38))
    all_of(("Mul", 1e10), ("Mul", 1e-10))
    all_of(("Div", 1e-10), ("Div", 1e12))
    all_of(("Add", 3e38), ("Add", 3e38))
    all_of(("Mul", 1e-39), ("Mul", 1e10))
    y = m.node("Reshape", [x, m.constant(np.array([1, 1, -1]))])
    for weight, factor in ((1e20, 1e25), (1e30, 0), (1e-25, 1e-20),
                           (1e20, 1e-30)):
        w = m.constant(np.full((1, 1, 1), weight, f32))
        with np.errstate(all="ignore"):
            want = array * f32(weight) * f32(factor)
        m.output(chain(m, m.node("Conv", [y, w]), ("Mul", factor)),
                 want.reshape(1, 1, -1))
    check(m, "--rtol", "1e-6", "--atol", "1e-44")


def zeros():
    """A sum with 0 has no sign of a zero, which a reciprocal shows."""
    m = Known("zeros")
    x = m.input("x", np.array([-0.0, 0.0, 2.0], f32))
    plus, minus = f32([np.inf, np.inf, 0.5]), f32([-np.inf, np.inf, 0.5])
    for op, constant, wanted in (
            ("Add", 0.0, plus), ("Add", -0.0, minus), ("Sub", 0.0, minus),
            ("Sub", -0.0, plus), ("Sum", 0.0, plus), ("Sum", -0.0, minus),
            ("Add", np.zeros(3), plus), ("Sub", np.zeros(3), minus)):
        m.output(m.node("Reciprocal", [chain(m, x, (op, constant))]), wanted)
    check(m, "--rtol", "0", "--atol", "0")
    # A border of -0 is none of zeros that a tensor in blocks has around.
    m = Known("borders")
    x = m.input("x", np.ones((1, 16, 3, 3), f32))
    w = m.constant(np.eye(16, dtype=f32).reshape(16, 16, 1, 1))
    for zero in (0.0, -0.0):
        wanted = np.full((1, 16, 5, 5), np.copysign(np.inf, zero), f32)
        wanted[:, :, 1:4, 1:4] = 1
        y = m.node("Pad", [m.node("Conv", [x, w]),
                           m.constant(np.array([0, 0, 1, 1, 0, 0, 1, 1])),
                           m.constant(f32(zero))])
        m.output(m.node("Reciprocal", [y]), wanted)
    check(m, "--rtol", "0", "--atol", "0")


def narrow():
    """Constants of narrow floats: products of these are far beyond the type's
    precision or range."""
    m = Known("narrow")
    f16 = np.float16
    array = np.array([999, 999.5, 1000, 1000.5, 1001, 1003.5, 990], f16)
    x = m.input("x", array)
    exact = array.astype(float)

    def links(*given):
        return chain(m, x, *given, kind=f16)

    m.output(links(("Sub", 1000), ("Div", 0.01)),
             ((exact - 1000) / float(f16(0.01))).astype(f16))
    tiny = float(f16(1e-4))
    m.output(links(("Mul", 1e-4), ("Mul", 1e-4)),
             (exact * tiny * tiny).astype(f16))
    y = m.node("Reshape", [x, m.constant(np.array([1, 1, -1]))])
    w = m.constant(np.full((1, 1, 1), 100, f16))
    small = m.node("Div", [y, m.constant(f16(2000))])
    for factor in (1000, 0.5, 0.003):
        want = exact / 2000 * 100 * float(f16(factor))
        with np.errstate(over="ignore"):
            want = want.astype(f16)
        m.output(chain(m, m.node("Conv", [small, w]), ("Mul", factor),
                       kind=f16), want.reshape(1, 1, -1))
    for mean in (1000, 300):
        normal = mean + np.arange(-8, 9) / 2
        y = m.input("normal_%d" % mean, normal.reshape(1, 1, -1).astype(f16))
        y = m.node("BatchNormalization", [y] + [
            m.constant(np.array([v], f16)) for v in (1, 0.5, mean, 1e-4)])
        want = (normal - mean) / np.sqrt(float(f16(1e-4)) + 1e-5) + 0.5
        m.output(y, want.reshape(1, 1, -1).astype(f16))
    check(m, "--rtol", "2e-3", "--atol", "1e-7")
    # More terms than a kernel has: their partial sums are not narrow.
    m = Known("many")
    some = m.input("some", np.full(4, 3.01, f16))
    m.output(m.node("Sum", [some] * 70),
             np.full(4, 70 * float(f16(3.01)), f16))
    check(m, "--rtol", "0", "--atol", "0")


if len(sys.argv) != 2 or sys.argv[1] not in globals():
    helper.fail("usage: constants.py NAME")
globals()[sys.argv[1]]()
