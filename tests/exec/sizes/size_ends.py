#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps, strides, paddings and counts at the ends of their types: the sizes
that follow are right, or the model is refused with the size named.

usage: size_ends.py slices|windows|counts|symbolic|formulas|large|refused"""
import os
import sys

import numpy as np

from expected_model import Model
from helper import fail, results_alone, tirc, work_folder

results_alone()

LAST32, LAST64, FIRST64 = 2**31 - 1, 2**63 - 1, -2**63


def ints(*values):
    return np.array(values, np.int64)


def part(x, start, end, step):
    """ONNX's Slice of a vector: a start is within the elements."""
    n = len(x)
    start, end = (v + n if v < 0 else v for v in (start, end))
    if step > 0:
        start, end = (min(max(v, 0), n) for v in (start, end))
    else:
        start, end = min(max(start, 0), n - 1), min(max(end, -1), n - 1)
    return np.array([x[i] for i in range(start, end, step)], x.dtype) \
        if n else x


BOUNDS = [(0, LAST64, LAST32), (0, LAST64, LAST64), (1, 6, LAST32 + 1),
          (-1, FIRST64, FIRST64), (LAST64, FIRST64, -LAST32),
          (FIRST64, LAST64, LAST64 - 1), (-2, -LAST64, -2**31),
          (2, 2, LAST64), (4, 1, -LAST64), (LAST32, -LAST32 - 1, -2),
          (3, 2**32, 2), (2**32, -2**32, -2), (-2**32, 2**32, 2**32)]


def slices():
    x = np.arange(6, dtype=np.float32)
    square = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    model = Model(x=x, square=square)
    for start, end, step in BOUNDS:
        model.add("Slice", ["x", ints(start), ints(end), ints(0), ints(step)],
                  part(x, start, end, step))
    # of a shape, which is known when the code is generated
    size = model.add("Shape", ["square"], None)
    for step in (LAST32, LAST64, LAST32 + 1):
        first = model.add("Slice", [size, ints(0), ints(LAST64), ints(0),
                                    ints(step)], None)
        first = model.add("Concat", [first, ints(-1)], None, axis=0)
        model.add("Reshape", ["square", first], square.reshape(2, 12))
    model.test()
    # bounds that are inputs
    for start, end, step in BOUNDS[:7]:
        model = Model(x=x, start=ints(start), end=ints(end))
        model.add("Slice", ["x", "start", "end", ints(0), ints(step)],
                  part(x, start, end, step))
        tirc("test", model.write(), "--target", "c99")


def windows():
    x = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 6)
    w = np.array([2, 3], np.float32).reshape(1, 1, 2)
    one = np.array([2], np.float32).reshape(1, 1, 1)
    first, none = x[:, :, :1], x[:, :, :0]
    model = Model(x=x)
    for ceil in (0, 1):
        model.add("MaxPool", ["x"], x[:, :, 1:2], kernel_shape=[2],
                  strides=[LAST32], ceil_mode=ceil)
        model.add("AveragePool", ["x"], np.full_like(first, 1.5),
                  kernel_shape=[2], strides=[LAST32], ceil_mode=ceil)
        model.add("LpPool", ["x"], first, kernel_shape=[1], strides=[LAST32],
                  ceil_mode=ceil)
    # padding of 2^31 - 1: the second window starts at the first element
    model.add("MaxPool", ["x"], first, kernel_shape=[1], strides=[LAST32],
              dilations=[LAST32])
    for pad in ("SAME_UPPER", "SAME_LOWER"):
        model.add("Conv", ["x", one], 2 * first, strides=[LAST32],
                  auto_pad=pad)
        model.add("MaxPool", ["x"], first, kernel_shape=[1],
                  strides=[LAST32], auto_pad=pad)
        # all but one of the 2^31 elements that a window spans are padding
        model.add("Conv", ["x", w],
                  (0 if pad == "SAME_LOWER" else 0) * first, strides=[LAST32],
                  dilations=[LAST32], auto_pad=pad)
    # three windows of one tap, of which the second is in x
    model.add("Conv", ["x", one], np.array([[[0, 2, 0]]], np.float32),
              strides=[LAST32], pads=[LAST32, LAST32])
    # two taps 2^31 - 1 apart
    model.add("Conv", ["x", w], 3 * x, dilations=[LAST32], pads=[LAST32, 0])
    model.add("Conv", ["x", w], 2 * x, dilations=[LAST32], pads=[0, LAST32])
    model.add("ConvTranspose", ["x", one], 2 * x, pads=[0, 0])
    model.add("ConvTranspose", ["x", w], 3 * x, dilations=[LAST32],
              pads=[LAST32, 0])
    model.add("ConvTranspose", ["x", w], 2 * x, dilations=[LAST32],
              pads=[0, LAST32])
    model.add("ConvTranspose", ["x", one], 2 * x[:, :, 5:],
              strides=[LAST32 // 5], pads=[LAST32 // 5 * 5, 0])
    model.test()


def counts():
    x = np.arange(6, dtype=np.float32)
    model = Model(x=x)
    for start, end, step in ((-2**62, 2**62, 2**62), (FIRST64, LAST64, LAST64),
                             (LAST64, FIRST64, -LAST64),
                             (LAST64, FIRST64, FIRST64), (0, LAST64, LAST64),
                             (5, FIRST64, FIRST64), (0, -1, LAST64),
                             (FIRST64, LAST64, 2**61)):
        want = ints(*range(start, end, step))
        model.add("Range", [np.int64(start), np.int64(end), np.int64(step)],
                  want)
    for each in (2**61, LAST64, 4):
        whole = model.add("SplitToSequence", ["x", np.int64(each)], None)
        model.add("SequenceAt", [whole, np.int64(0)], x[:min(each, 6)])
    # products of sizes beyond 2^32, of which one is known to be 0
    none = model.add("Expand", ["x", ints(2**20, 0, 2**20, 6)], None)
    model.sizes(none, 2**20, 0, 2**20, 6)
    model.add("Tile", ["x", ints(0)], x[:0])
    model.test()
    # 2^33 elements, of which none is in memory
    model = Model(x=x[:1])
    big = model.add("Expand", ["x", ints(2**16, 2**17)], None)
    model.add("Neg", [model.add("Size", [big], None)], np.int64(-2**33))
    rows = model.add("Flatten", [big], None, axis=2)
    model.sizes(rows, 2**33, 1)
    rows = model.add("Reshape", [big, ints(2, -1)], None)
    model.sizes(rows, 2, 2**32)
    rows = model.add("Concat", [big, big], None, axis=1)
    rows = model.add("Reshape", [rows, ints(-1)], None)
    model.sizes(rows, 2**34)
    narrow = model.add("Expand", ["x", ints(2**16, 4)], None)
    rows = model.add("Pad", [narrow, ints(LAST32, 0, LAST32, 0)], None)
    model.sizes(rows, 2**32 - 2 + 2**16, 4)
    rows = model.add("Tile", [narrow, ints(2**16, 1)], None)
    model.sizes(rows, 2**32, 4)
    parts = model.add("Slice", [rows, ints(-1), ints(FIRST64), ints(0),
                                ints(-2**31)], None)
    model.sizes(parts, 2, 4)
    model.test()


def symbolic():
    for n in (1, 3, 8):
        x = np.arange(1, n + 1, dtype=np.float32)
        model = Model(x=x)
        model.shapes["x"] = ["n"]
        for start, end, step in BOUNDS:
            model.add("Slice", ["x", ints(start), ints(end), ints(0),
                                ints(step)], part(x, start, end, step))
        image = model.add("Unsqueeze", ["x", ints(0, 1)], None)
        first = x[None, None, :1]
        for pad in ("SAME_UPPER", "SAME_LOWER"):
            model.add("MaxPool", [image], first, kernel_shape=[1],
                      strides=[LAST32], auto_pad=pad)
        for ceil in (0, 1):
            model.add("MaxPool", [image], first, kernel_shape=[1],
                      strides=[LAST32], ceil_mode=ceil)
        w = np.array([2, 3], np.float32).reshape(1, 1, 2)
        model.add("Conv", [image, w], 3 * x[None, None], dilations=[LAST32],
                  pads=[LAST32, 0])
        model.test("--dim", "n=1..8")
    # The last elements first, of a tensor that may have none.
    for n in (0, 1, 5):
        x = np.arange(n, dtype=np.float32)
        mask = np.zeros(7, np.float32)
        mask[:n] = 1
        model = Model(x=x, mask=mask)
        model.shapes["x"] = ["n"]
        where = model.add("NonZero", ["mask"], None)
        for start, end, step in ((-1, FIRST64, -1), (LAST64, FIRST64, -1),
                                 (-1, FIRST64, -2), (3, FIRST64, -1),
                                 (-2, FIRST64, -3), (-1, -3, -1),
                                 (-1, FIRST64, FIRST64), (2, 0, -1)):
            model.add("Slice", ["x", ints(start), ints(end), ints(0),
                                ints(step)], part(x, start, end, step))
            model.add("Slice", [where, ints(start), ints(end), ints(1),
                                ints(step)],
                      part(np.arange(n), start, end, step)[None])
        model.test("--dim", "n=0..8")
    # A size of 0 in the new shape of a Reshape copies the input's, also if it is
    # known in the run alone.
    for n, m in ((2, 4), (3, 5), (0, 1), (5, 0)):
        x = np.zeros((n, m, 3), np.float32)
        model = Model(x=x)
        model.shapes["x"] = ["n", "m", 3]
        size = model.add("Shape", ["x"], None, end=1)
        shape = model.add("Concat", [ints(1), size, ints(-1)], None, axis=0)
        y = model.add("Reshape", ["x", shape],
                      x.reshape(1, n or m, 3 * n * m // (n or m)))
        model.add("Shape", [y], ints(1, n or m, 3 * n * m // (n or m)))
        model.test("--dim", "n=0..8", "--dim", "m=0..8")


def formulas():
    """Remainders and quotients of sizes by numbers below 0 and by sizes that
    may be 0, comparisons as numbers: results and what kernels pass on have
    room for the largest value."""
    for n, k in ((0, 1), (1, 2), (2, 9), (5, 3), (9, 1), (8, 0)):
        model = Model(x=np.zeros(n, np.float32), w=np.zeros(k, np.float32),
                      v=np.array([0.25], np.float32))
        model.shapes.update(x=["n"], w=["k"])
        size, other = (model.add("Shape", [name], None) for name in "xw")
        below = model.add("Sub", [size, ints(7)], None)
        less = model.add("Cast", [model.add("Less", [size, other], None)],
                         None, to=7)
        minus = int(np.fmod(n - 7, -3))
        for formula, value in [
                (model.add("Mod", [size, ints(-3)], None), n % -3),
                (model.add("Mod", [below, ints(-3)], None), (n - 7) % -3),
                (model.add("Mod", [below, ints(-3)], None, fmod=1), minus),
                (model.add("Div", [below, ints(-2)], None), (7 - n) // 2
                 if n < 7 else -((n - 7) // 2)),
                (model.add("Mul", [less, ints(4)], None), 4 * (n < k)),
                (less, int(n < k))]:
            value = max(value + 5, 0)
            count = model.add("Add", [formula, ints(5)], None)
            count = model.add("Max", [count, ints(0)], None)
            part = model.add("Expand", ["v", count], None)
            model.add("Exp", [part], np.full(value, np.exp(np.float32(0.25)),
                                             np.float32))
            part = model.add("CumSum", [part, np.int64(0)], None)
            part = model.add("CumSum", [part, np.int64(0)], None, reverse=1)
            model.add("ReduceMax", [part, ints(0)],
                      np.array([value * (value + 1) / 8], np.float32))
            model.add("Neg", [count], ints(-value))
        # the sizes themselves: both may be 0
        quotient = model.add("Div", [size, other], None)
        part = model.add("Expand", ["v", quotient], None)
        model.add("Neg", [part], np.full(n // k if k else 0, -0.25,
                                         np.float32))
        shape = model.add("Concat", [less, less, ints(3)], None, axis=0)
        model.add("ConstantOfShape", [shape],
                  np.zeros((int(n < k), int(n < k), 3), np.float32))
        model.test("--dim", "n=0..9", "--dim", "k=0..9")


def code_of(op, inputs, sizes, options=(), target="c99", **attributes):
    """The code emitted for a target of a node whose inputs by name, of float32
    if not given, have these sizes: too large for a test that runs it."""
    shapes = {name: shape if isinstance(shape, tuple) else (shape, np.float32)
              for name, shape in sizes.items()}
    model = Model(**{name: np.zeros(1, t) for name, (_, t) in shapes.items()})
    model.opset = attributes.pop("opset", model.opset)
    model.shapes = {name: shape for name, (shape, _) in shapes.items()}
    model.add(op, inputs, np.zeros(1, attributes.pop("result", np.float32)),
              **attributes)
    folder = work_folder()
    tirc("compile", model.write(), "--target", target, "-o", folder, "--name",
         "g", *options)
    file = os.path.join(folder, "g.cu" if target == "cuda" else "g.c")
    with open(file, encoding="utf-8") as file:
        return " ".join(file.read().split())


def large():
    """Axes and numbers of elements of 2^30 and more in the emitted code."""
    def has(code, *texts):
        for text in texts:
            if text not in code:
                fail("no '%s' in: %s" % (text, code))

    count, square = "4899999744.0f", [1, 1, 70000, 70000]
    # means: the number of elements, as the nearest float
    code = code_of("ReduceMean", ["x"], {"x": square}, keepdims=0)
    has(code, "/ " + count)
    code = code_of("ReduceMean", ["x"], {"x": (square, np.int32)},
                   result=np.int32)
    has(code, "/ INT64_C(4900000000)")
    code = code_of("ReduceMean", ["x", ints(1, 2)],
                   {"x": ["n", 50000, 50000]}, ["--dim", "n=1..4"])
    has(code, "/ 2500000000.0f")
    has(code_of("GlobalAveragePool", ["x"], {"x": square}), "/ " + count)
    has(code_of("AveragePool", ["x"], {"x": square}, count_include_pad=1,
                kernel_shape=[70000, 70000]), "/ " + count)
    has(code_of("LayerNormalization", ["x", "w"],
                {"x": square, "w": square[2:]}, axis=2), "/ " + count)
    has(code_of("InstanceNormalization", ["x", "w", "w"],
                {"x": square, "w": [1]}), "/ " + count)
    # diagonals
    row = {"x": ([1, 4900000000], np.uint8)}
    has(code_of("EyeLike", ["x"], row, result=np.uint8, k=4800000000),
        "j == INT64_C(4800000000)")
    has(code_of("Trilu", ["x", np.int64(4800000000)], row, result=np.uint8),
        "j >= INT64_C(4800000000)")
    # A row plus an offset, where both are less than 2^31 and the sum is not.
    rows = [2**31 - 1, 2000]
    has(code_of("Trilu", ["x", "k"], {"x": (rows, np.uint8),
                                      "k": ([], np.int64)}, result=np.uint8),
        "(int64_t)i + ")
    for op, inputs, more in (("Trilu", ["x", np.int64(1000)], {}),
                             ("EyeLike", ["x"], {"k": 1000})):
        has(code_of(op, inputs, {"x": (["n", 2000], np.uint8)},
                    ["--dim", "n=1..%d" % rows[0]], result=np.uint8, **more),
            "(int64_t)i + 1000")
    # The first column is at i - 2^31, which is in the matrix from row 2^31 on.
    code = code_of("EyeLike", ["x"], {"x": ([4900000000, 1], np.uint8)},
                   result=np.uint8, k=-2**31)
    has(code, "INT64_C(2147483648)")
    has(code_of("EyeLike", ["x"], {"x": ([3, 2000000000], np.uint8)},
                result=np.uint8, k=1900000000), "1900000000")
    # the number of keys that a query sees
    has(code_of("Attention", ["q", "k", "k", "", "", "", "n"],
                {"q": [1] * 4, "k": [1, 1, 3000000000, 1],
                 "n": ([1], np.int64)}, opset=24),
        "min_i64(", ", INT64_C(3000000000))")
    # a row of an image, of which float32 does not have the last index
    has(code_of("RoiAlign", ["x", "rois", "which"],
                {"x": [1, 1, 16777220, 1], "rois": [1, 4],
                 "which": ([1], np.int64)}), ": 16777219")
    code = code_of("RoiAlign", ["x", "rois", "which"],
                   {"x": [1, 1, "h", 1], "rois": [1, 4],
                    "which": ([1], np.int64)}, ["--dim", "h=1..16777220"])
    has(code, "f32_to_i32(inner_h) < h - 1")
    # a region that begins beyond 2^31
    has(code_of("MaxRoiPool", ["x", "rois"],
                {"x": [1, 1, 3000000000, 1], "rois": [1, 5]},
                pooled_shape=[1, 1]), "f32_to_i64(")
    # the period of a reflection
    for size, options in ((1500000000, []),
                          ("h", ["--dim", "h=2..1500000000"])):
        sizes = {"x": [1, 1, size, 1], "grid": [1, 1, 1, 2]}
        for corners in (0, 1):
            code = code_of("GridSample", ["x", "grid"], sizes, options,
                           mode="nearest", padding_mode="reflection",
                           align_corners=corners)
            if "floormod_i32(y0_" in code:
                fail("a period of 32 bits in: %s" % code)
            has(code, "INT64_C(%d)" % (2 * size - 2 * corners)
                if not options else "(int64_t)h")
    # borders and parts
    has(code_of("Pad", ["x", ints(1500000000, 1)],
                {"x": ([1500000000], np.uint8)}, result=np.uint8),
        "v >= 0 && v < 1500000000")
    code = code_of("Pad", ["x", ints(1500000000, 1)],
                   {"x": ([1500000000], np.uint8)}, result=np.uint8,
                   mode="reflect")
    has(code, "INT64_C(2999999998)")
    has(code_of("LRN", ["x"], {"x": [1, 4, 2]}, size=2**32 + 3),
        "INT64_C(4294967299)")
    # the distance of two rows, a product of sizes
    code = code_of("Transpose", ["x"], {"x": (["m", "n", "k"], np.uint8)},
                   ["--dim", "m=1..100000", "--dim", "n=1..100000", "--dim",
                    "k=1..3000"], "cuda", result=np.uint8, perm=[2, 0, 1])
    has(code, "_div * m * n + ")
    if "(m * n)" in code:
        fail("a product of 32 bits in: %s" % code)
    # Threads take vectors of all axes as one, unless 2^31 elements are reached:
    # 70000 * 61400 - 2^32 is 3032704.
    for shape, options in (([70000, 61400], []), ([2, 70000, 61400], []),
                           (["m", 70000, 61400], ["--dim", "m=1..5"])):
        code = code_of("Abs", ["x"], {"x": (shape, np.int8)}, options, "cuda",
                       result=np.int8)
        has(code, "/ 7675", "(*__restrict__ x)[61400]")


def refused():
    x = np.arange(6, dtype=np.float32)

    def refuse(op, inputs, *words, **attributes):
        model = Model(x=x, image=x.reshape(1, 1, 2, 3))
        model.add(op, inputs, x, **attributes)
        model.refuse(op, *words)

    refuse("Tile", ["x", ints(2**62)], "more elements")
    refuse("Expand", ["x", ints(2**62, 6)], "more elements")
    refuse("ConstantOfShape", [ints(2**32, 2**32)], "more elements")
    refuse("Range", [np.int64(FIRST64), np.int64(LAST64), np.int64(1)],
           "more elements")
    refuse("Range", [np.float32(0), np.float32(3e38), np.float32(1)],
           "more elements")
    refuse("Reshape", ["x", ints(2**33, 2**31)], "elements")
    refuse("Reshape", ["x", ints(2**32 + 6)], "elements")
    refuse("Split", ["x", ints(2**32 + 6)], "add up")
    refuse("ConvTranspose", ["image", np.ones((1, 1, 2, 2), np.float32)],
           "more elements", strides=[LAST32, LAST32],
           dilations=[LAST32, LAST32], output_padding=[LAST32, LAST32])


{"slices": slices, "windows": windows, "counts": counts, "symbolic": symbolic,
 "formulas": formulas, "large": large, "refused": refused}[sys.argv[1]]()
