#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What models give, against onnxruntime, where a compiler may decide something
of its own: constants that it computes, tensors that are seen outside and used
inside, outputs that nobody reads, one condition for many elements.

    answers.py NAME

NAME is a function here; it makes a model and checks it with several targets."""
import sys

import helper

try:
    import numpy as np
    from answers_model import Model
except ImportError as missing:
    helper.skip(str(missing))

Model.optimised = True
ALL = ["c99", "gnu-c", "misra", "c-openmp", "cuda", "opencl-cpu"]
rng = np.random.default_rng(11)


def floats(*shape):
    return rng.integers(-8, 9, shape).astype(np.float32) / 4


def bytes_of(kind, *shape):
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max + 1, shape).astype(kind)


def quantized(m, x, scale, zero):
    """x in steps, twice: as they are stored, and as numbers."""
    given = [m.constant(np.float32(scale)), m.constant(zero)]
    q = m.node("QuantizeLinear", [x, *given])
    return q, m.node("DequantizeLinear", [q, *given])


def weights(m, scale, *shape):
    return m.node("DequantizeLinear", [
        m.constant(bytes_of(np.int8, *shape)), m.constant(np.float32(scale)),
        m.constant(np.int8(0))])


def constants():
    """Nodes of constants alone, most of them with something outside of a window,
    or with integers that wrap: all of it is computed while compiling."""
    m = Model("constants")
    small, u8 = m.constant(floats(1, 2, 3, 3)), np.uint8
    for zero in (u8(100), u8(255), np.int8(-128), np.int8(100)):
        _, x = quantized(m, small, 0.05, zero)
        for attributes in ({"pads": [1, 1, 1, 1]}, {"auto_pad": "SAME_UPPER"},
                           {"pads": [2, 0, 1, 2], "strides": [2, 1]}):
            y = m.node("Conv", [x, weights(m, 0.02, 3, 2, 3, 3)],
                       kernel_shape=[3, 3], **attributes)
            m.output(quantized(m, y, 0.53, zero)[1])
        y = m.node("MaxPool", [x], kernel_shape=[2, 2], pads=[1, 1, 1, 1])
        m.output(quantized(m, y, 0.05, zero)[1])
    for kind in (np.uint8, np.int8):
        x = m.constant(bytes_of(kind, 1, 2, 3, 3))
        m.output(m.node("MaxPool", [x], kernel_shape=[2, 2],
                        pads=[1, 1, 1, 1]))
    x, w = m.constant(bytes_of(u8, 1, 2, 3, 3)), \
        m.constant(bytes_of(u8, 2, 2, 3, 3))
    zeros = [m.constant(u8(200)), m.constant(u8(9))]
    m.output(m.node("ConvInteger", [x, w, *zeros], pads=[1, 1, 1, 1]))
    scale = m.constant(np.float32(0.1))
    m.output(m.node("QLinearConv", [
        x, scale, zeros[0], w, scale, zeros[1], m.constant(np.float32(30)),
        m.constant(u8(77))], pads=[1, 2, 1, 0]))
    m.output(m.node("Conv", [small, m.constant(floats(1, 2, 3, 3))],
                    pads=[1, 1, 1, 1]))
    for pool in ("AveragePool", "LpPool"):
        m.output(m.node(pool, [small], kernel_shape=[2, 2],
                        pads=[1, 1, 1, 1]))
    m.output(m.node("AveragePool", [small], kernel_shape=[2, 2],
                    pads=[1, 1, 1, 1], count_include_pad=1))
    # Of types narrower than what sizes are computed in.
    wide = m.constant(np.array([300, -300, 2 ** 31, -2 ** 31 - 5, 65535, 127]))
    for kind in (2, 3, 4, 5, 6):  # uint8 int8 uint16 int16 int32
        m.output(m.node("Cast", [wide], to=kind))
    big = m.constant(np.array([2 ** 31 - 1, -2 ** 31, 65536, 9], np.int32))
    for op in ("Add", "Mul", "Sub"):
        m.output(m.node(op, [big, m.constant(np.int32(65537))]))
    m.output(m.node("Abs", [m.constant(np.array([-128, 5, -7], np.int8))]))
    m.output(m.node("ReduceSum", [big, m.constant(np.array([0]))],
                    keepdims=0))
    m.check(["c99", "gnu-c"])


def seen_outside():
    """Each tensor of a graph is an output of the model by itself, then all of
    them are: what lies inside as a kernel likes is given as the model says."""
    def build(outputs):
        m = Model("seen_outside")
        values = []
        x = m.input("x", floats(1, 2, 9, 8))
        q, x = quantized(m, x, 0.05, np.uint8(7))
        values += [q, x]
        y = m.node("Conv", [x, weights(m, 0.02, 6, 2, 3, 3)],
                   pads=[1, 1, 1, 1])
        q, y = quantized(m, y, 0.4, np.uint8(120))
        values += [q, y]
        p = m.node("MaxPool", [y], kernel_shape=[3, 3], strides=[2, 2],
                   pads=[1, 1, 1, 1])
        q, p = quantized(m, p, 0.4, np.uint8(120))
        values += [q, p]
        z = m.node("Conv", [p, m.constant(floats(16, 6, 3, 3))],
                   pads=[1, 1, 1, 1])
        r = m.node("Relu", [z])
        z = m.node("Concat", [r, z], axis=1)
        values += [r, z]
        z = m.node("Conv", [z, m.constant(floats(5, 32, 1, 1))])
        values += [z]
        for i in outputs if outputs is not None else range(len(values)):
            m.output(values[i])
        m.output(m.node("Transpose", [z], perm=[0, 2, 3, 1]))
        return m, len(values)

    global rng
    for one in [None, *range(build([])[1])]:
        rng = np.random.default_rng(5)
        m, _ = build(None if one is None else [one])
        if one is None:
            m.check(ALL)
        else:
            m.check(["gnu-c"], "--cflags", "-O0 -march=native")


def unread():
    """Outputs that nobody reads keep their places; the moments that a node of
    training computes are the ones of its own input."""
    m = Model("unread")
    x = m.input("x", floats(1, 4, 9))
    for keep in ([0], [1], [2], [0, 2], [0, 1], [1, 2], [0, 1, 2]):
        for sizes in (None, [2, 3, 4], [4, 5, 0]):
            inputs = [x] if sizes is None else [
                x, m.constant(np.array(sizes))]
            parts = m.node("Split", inputs, 3, axis=-1,
                           **({"num_outputs": 3} if sizes is None else {}))
            for i in keep:
                m.output(m.node("Neg", [parts[i]]))
    y = m.input("y", floats(2, 3, 4, 5))
    for keep in ([0], [0, 1], [0, 2], [0, 1, 2], [1, 2]):
        # onnxruntime writes the new moments over the old ones
        vectors = [m.constant(floats(3)) for _ in range(3)]
        vectors.append(m.constant(np.abs(floats(3)) + 1))
        moments = m.node("BatchNormalization", [y, *vectors], 3,
                         training_mode=1, epsilon=1e-3, momentum=0.7)
        for i in keep:
            m.output(moments[i])
    vectors = [m.constant(np.full(6, v, np.float32)) for v in (1, 0, 0, 1)]
    k = m.node("BatchNormalization", [m.constant(floats(1, 6, 27)), *vectors],
               3, training_mode=1)[0]
    k = m.node("Reshape", [k, m.constant(np.array([6, 3, 3, 3]))])
    m.output(m.node("Conv", [y, k], pads=[1, 1, 1, 1]))
    m.check(ALL, "--rtol", "1e-4", "--atol", "1e-4")


def unpool():
    """MaxUnpool to the shape that was pooled, which its windows do not fill: the
    indices are of that shape. Windows that overlap give an element once."""
    for shape, kernel, strides, pads in [
            ([1, 2, 5, 7], [2, 2], [2, 2], [0] * 4),
            ([2, 3, 7], [3], [3], [0, 0]),
            ([1, 1, 6, 9], [2, 3], [2, 2], [0, 1, 0, 1]),
            ([1, 2, 9, 9], [3, 3], [1, 1], [0] * 4),
            ([1, 2, 4, 5, 3], [2, 2, 2], [2, 2, 2], [0] * 6)]:
        m = Model("unpool")
        x = m.input("x", rng.permutation(
            np.arange(np.prod(shape), dtype=np.float32)).reshape(shape))
        windows = {"kernel_shape": kernel, "strides": strides, "pads": pads}
        y, at = m.node("MaxPool", [x], 2, **windows)
        m.output(m.node("MaxUnpool", [y, at, m.node("Shape", [x])], **windows))
        m.check(ALL)


def one_condition():
    """A condition that is the same for all elements, before arms that are vectors
    or numbers, wherever they come from."""
    m = Model("one_condition")
    x = m.input("x", floats(1, 16, 64))
    a, b = m.input("a", floats(1, 16, 1)), m.input("b", floats(1, 16, 1))
    image, w = m.input("image", floats(1, 16, 6, 6)), \
        m.constant(floats(16, 16, 3, 3))
    yes, no = m.input("yes", np.array([[[True]]])), \
        m.input("no", np.array([[[False]]]))
    limit = m.input("limit", np.array([[[0.5]]], np.float32))
    lowest = m.constant(np.float32(-3.4028235e38))
    compared = m.node("Less", [limit, m.constant(np.float32(1))])

    row, one = m.input("row", floats(1, 8)), m.input("one", floats(1, 1))

    def product():
        """Read by one node, so that this is computed in the same loops."""
        row = m.constant(floats(1, 1, 64))
        return m.node("Einsum", [x, row], equation="bpd,bqd->bpq")

    for condition in (yes, no, compared):
        for arms in ((lowest, m.node("Add", [product(), a])),
                     (m.node("Add", [product(), a]), lowest),
                     (a, m.node("Sub", [b, product()])),
                     (m.node("Mul", [product(), b]), b), (a, b),
                     (product(), a), (lowest, product()),
                     (product(), m.constant(floats(1, 16, 1)))):
            m.output(m.node("Where", [condition, *arms]))
        y = m.node("Conv", [image, w], pads=[1, 1, 1, 1])
        m.output(m.node("Where", [condition, lowest, y]))
        m.output(m.node("Where", [condition, m.node("Add", [y, image]), y]))
        ints = m.node("Cast", [a], to=6)
        m.output(m.node("Where", [condition, ints, m.node("Neg", [ints])]))
        m.output(m.node("Where", [condition, m.node("MatMul", [
            x, m.constant(floats(64, 32))]), m.constant(floats(32))]))
        m.output(m.node("Where", [condition, lowest, m.node(
            "Gemm", [row, m.constant(floats(1, 1)), one], transA=1)]))
    m.check(["c99", "gnu-c", "x86-64-v3", "c-openmp", "cuda", "opencl-cpu"],
            "--rtol", "1e-4", "--atol", "1e-4")


globals()[sys.argv[1]]()
