#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes that are known only when the model runs, against onnxruntime; their
bounds; inputs that --const-input makes constants.

    run_sizes.py NAME

NAME is a function here; it makes models and checks each with several
targets."""
import os
import sys

import helper
import turns

try:
    import numpy as np
    from onnx import TensorProto
    from answers_model import Model, arguments_of
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

ALL = ["c99", "gnu-c", "misra", "opencl", "opencl-cpu", "cuda"]
rng = np.random.default_rng(7)


def floats(*shape):
    return rng.integers(-8, 9, shape).astype(np.float32) / 4


def ints(*values):
    return np.array(values, np.int64)


def nonzero():
    """All counts from nothing to everything, every type of condition, and what
    follows: gathers, sums over nothing, views, several counts in one model."""
    for array in [floats(3, 8), np.zeros((2, 3), np.float32),
                  np.ones((2, 3, 2), np.uint8), floats(7) > 0,
                  np.array([np.nan, 0, -0.0, np.inf], np.float32),
                  np.array([0, 5, 0, -1], np.int32)]:
        m = Model("nonzero")
        x = m.input("x", array)
        found = m.output(m.node("NonZero", [x]))
        rows = m.output(m.node("Transpose", [found]))
        taken = m.node("GatherND", [x, rows])
        if array.dtype == np.float32:
            m.output(m.node("Exp", [taken]))
            m.output(m.node("ReduceSum", [taken], keepdims=0))
            m.output(m.node("Mul", [m.node("Softmax", [taken]), taken]))
        size = m.node("Shape", [taken])
        m.output(m.node("Cast", [size], to=TensorProto.INT32))
        m.output(m.node("ConstantOfShape", [m.node("Add", [size, size])]))
        m.check(ALL)
    m = Model("two_counts")
    x, y = m.input("x", floats(4, 6)), m.input("y", floats(30))
    a = m.node("NonZero", [m.node("Relu", [x])])
    b = m.node("NonZero", [m.node("Greater", [y, m.constant(
        np.float32(0.5))])])
    m.output(m.node("Concat", [m.node("Reshape", [a, m.constant(ints(-1))]),
                               m.node("Reshape", [b, m.constant(ints(-1))])],
                    axis=0))
    m.output(m.node("MatMul", [m.node("Cast", [m.node("Transpose", [a])],
                                      to=TensorProto.FLOAT),
                               m.constant(floats(2, 5))]))
    m.check(ALL + ["c-openmp"])


def compress():
    for axis, condition in [(0, [1, 0, 1]), (1, [0, 0, 0, 0]), (-1, [1, 1]),
                            (None, [1, 0, 1, 1, 0, 1, 1])]:
        m = Model("compress")
        x = m.input("x", floats(3, 4, 2))
        c = m.input("c", np.array(condition, bool))
        attributes = {} if axis is None else {"axis": axis}
        y = m.output(m.node("Compress", [x, c], **attributes))
        m.output(m.node("Neg", [y]))
        m.check(ALL)


def boxes(n, spread):
    corners = rng.random((1, n, 4), np.float32) * spread
    corners[:, :, 2:] = corners[:, :, :2] + 4 * rng.random((1, n, 2),
                                                           np.float32)
    return corners


def suppression():
    """Classes and batches, corners in either order, centers; thresholds and
    the most boxes as inputs or constants; nothing kept."""
    for count, most, overlap, least, form in [
            (40, 5, 0.3, 0.2, 0), (40, 100, 0.5, None, 0),
            (60, 7, 0.1, 0.4, 1), (9, 0, 0.5, 0.5, 0), (30, 3, 0.5, 2.0, 0),
            (5, 3, None, None, 1)]:
        for given in (True, False):
            m = Model("suppression")
            add = (lambda name, value: m.input(name, value)) if given else \
                (lambda name, value: m.constant(value))
            x = np.concatenate([boxes(count, 12), boxes(count, 4)])
            x[:, ::3] = x[:, ::3, [2, 3, 0, 1]] if form == 0 else x[:, ::3]
            arguments = [m.input("boxes", x),
                         m.input("scores", rng.random((2, 3, count),
                                                      np.float32)),
                         add("most", ints(most))]
            for name, value in [("overlap", overlap), ("least", least)]:
                if value is not None:
                    arguments.append(add(name, np.array([value], np.float32)))
            y = m.output(m.node("NonMaxSuppression", arguments,
                                center_point_box=form))
            m.output(m.node("GatherND", [m.constant(x[0]), m.node(
                "Slice", [y] + [m.constant(ints(v)) for v in (2, 3, 1)])]))
            m.check(ALL if given else ["c99"])


def unique():
    """Sorted or not, along each axis or of all elements, with the optional
    results and without."""
    repeated = np.array([[2, 1, 1, 2], [0, 1, 1, 0], [2, 1, 1, 2]])
    for kind in (np.float32, np.int64, np.int8):
        for axis in (None, 0, 1, -1):
            for sort in (0, 1):
                m = Model("unique")
                x = m.input("x", repeated.astype(kind))
                attributes = {} if axis is None else {"axis": axis}
                outs = m.node("Unique", [x], n=4, sorted=sort, **attributes)
                for out in outs:
                    m.output(out)
                m.check(ALL if kind == np.float32 else ["c99"])
    for array in [rng.integers(0, 50, 300).astype(np.int64),
                  rng.integers(-3, 3, (100, 2, 3)).astype(np.float32),
                  np.array([5.0], np.float32), np.arange(20)[::-1].copy()]:
        for sort in (0, 1):
            m = Model("values")
            y, _, inverse = m.node("Unique", [m.input("x", array)], n=3,
                                   sorted=sort)
            m.output(y)
            m.output(m.node("Gather", [y, inverse]))
            m.check(ALL)


def inputs():
    """Shapes, ranges and repeats that are inputs, with --bound."""
    for op, value, bound in [("Expand", ints(2, 3, 4), "s=4"),
                             ("Expand", ints(3, 4), "s=3,7"),
                             ("Reshape", ints(4, 3), "s=1..12"),
                             ("Tile", ints(2, 3), "s=3"),
                             ("TopK", ints(2), "s=4")]:
        m = Model(op.lower())
        x = m.input("x", floats(*((3, 4) if op != "Expand" else (3, 1))))
        s = m.input("s", value)
        y = m.node(op, [m.node("Abs", [x]), s], n=1 + (op == "TopK"))
        y = m.output(y[0] if op == "TopK" else y)
        m.output(m.node("Sqrt", [y]))
        m.check(ALL, "--bound", bound)
    for depth in (np.array(5, np.int64), np.array([3], np.float32)):
        m = Model("onehot")
        x, d = m.input("x", ints(0, 2, -1, 7, -4)), m.input("d", depth)
        m.output(m.node("OneHot", [x, d, m.constant(floats(2))], axis=0))
        m.check(ALL, "--bound", "d=5")
    # The operators that compute a size bound it: division truncates.
    for value in (5, 7, 8, 99):
        m = Model("truncated")
        a = m.node("Clip", [m.input("a", ints(value))] +
                   [m.constant(np.int64(v)) for v in (7, 9)])
        a = m.node("Div", [a, m.constant(ints(2))])
        m.output(m.node("Expand", [m.input("x", floats(1)), m.node("Sub", [
            m.constant(ints(10)), a])]))
        m.check(["c99"])
    # Lists without elements, each of which is read twice.
    m = Model("empties")
    none = m.input("none", np.zeros(0, np.int64))
    for _ in range(40):
        none = m.node("Concat", [none, none], axis=0)
    sizes = m.node("Concat", [none, m.input("s", ints(3)), none,
                              m.input("t", ints(2))], axis=0)
    m.output(m.node("Expand", [m.input("x", floats(1, 1)), sizes]))
    m.check(["c99"], "--bound", "s=4", "--bound", "t=2")
    m = Model("constant")
    s = m.input("s", ints(4, 3))
    y = m.node("Reshape", [m.constant(floats(3, 4)), s])
    m.output(m.node("CumSum", [y, m.constant(np.int64(0))]))
    m.check(ALL, "--bound", "s=1..12")
    m = Model("filled")
    s = m.input("s", ints(2, 0, 5))
    m.output(m.node("ConstantOfShape", [s]))
    m.check(ALL, "--bound", "s=5")
    for kind, numbers in [(np.int64, (3, 20, 4)), (np.int32, (5, -6, -3)),
                          (np.float32, (0, 2, 0.3)), (np.int64, (5, 5, 1)),
                          (np.int16, (9, 3, 2)), (np.float64, (1, -1, -0.25))]:
        m = Model("range")
        start, limit, delta = (m.input(name, np.array(number, kind))
                               for name, number in zip("abc", numbers))
        m.output(m.node("Range", [start, limit, delta], names=["r"]))
        m.check(ALL, "--bound", "r=9")


def resize():
    """Sizes that are an input, and batches and channels that the model knows;
    larger, smaller and equal, every mode of coordinates and of rounding."""
    coordinates = ["half_pixel", "pytorch_half_pixel", "align_corners",
                   "asymmetric", "half_pixel_symmetric"]
    forms = [dict(mode="linear", coordinate_transformation_mode=c)
             for c in coordinates]
    forms += [dict(mode="cubic", coordinate_transformation_mode=c)
              for c in coordinates[:4]]
    forms += [dict(mode="nearest", nearest_mode=r,
                   coordinate_transformation_mode=c)
              for c in ("asymmetric", "half_pixel") for r in (
                  "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")]
    forms += [dict(mode="cubic", exclude_outside=1),
              dict(mode="cubic", cubic_coeff_a=-0.5)]
    forms += [dict(mode=m, antialias=1) for m in ("linear", "cubic")]
    for size in [(7, 9), (2, 3), (4, 6), (1, 1)]:
        m = Model("resize")
        x, s = m.input("x", floats(1, 2, 4, 6)), m.input("s", ints(*size))
        known = m.node("Slice", [m.node("Shape", [x])] +
                       [m.constant(ints(v)) for v in (0, 2)])
        sizes = m.node("Concat", [known, s], axis=0)
        for form in forms:
            m.output(m.node("Resize", [x, "", "", sizes], **form))
        m.check(ALL if size[0] == 7 else ["c99"], "--bound", "s=1..9")
    m = Model("odd_scale")
    x = m.node("Compress", [m.input("x", floats(1, 2, 4, 6)),
                            m.input("kept", np.ones(6, bool))], axis=3)
    m.output(m.node("Resize", [x, "", m.constant(
        np.array([1, 1, 1, 0.7], np.float32))], mode="linear", antialias=1))
    m.check(["c99"])


COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners",
               "asymmetric", "half_pixel_symmetric", "tf_crop_and_resize"]


def resize_forms():
    for c in COORDINATES:
        more = {"coordinate_transformation_mode": c}
        for r in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"):
            yield dict(mode="nearest", nearest_mode=r, **more)
        for mode in ("linear", "cubic"):
            yield dict(mode=mode, **more)
            yield dict(mode=mode, antialias=1, **more)
        yield dict(mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5, **more)
        yield dict(mode="cubic", exclude_outside=1, antialias=1, **more)


def resized(m, x, roi, scales, sizes, coordinates, **more):
    """An output of each form with these coordinates."""
    for form in resize_forms():
        mode = form["coordinate_transformation_mode"]
        if mode in coordinates:
            roi_here = roi if mode == "tf_crop_and_resize" else ""
            m.output(m.node("Resize", [x, roi_here, scales, sizes], **form,
                            **more))


def scales():
    """Resize by scales, by policies and of regions that are known only when
    the model runs."""
    quick = ["--cflags", "-std=c99 -O0"]
    image, region = floats(1, 2, 4, 6), np.float32([.2, -.1, .8, 1.2])
    for values, bound in [((1, 1, 1.5, .5), "s=0..3"),
                          ((1, 1, .5, 2.5), "s=1,1,0..2,0..3")]:
        m = Model("scales")
        x, s = m.input("x", image), m.input("s", np.float32(values))
        roi = m.constant(np.float32([0, 0, .2, -.1, 1, 1, .8, 1.2]))
        resized(m, x, roi, s, "", COORDINATES)
        m.check(["c99"], "--bound", bound, *quick)
    # A scale that is computed, with the range of what computes it.
    for sizes in [(6, 12), (1, 3)]:
        m = Model("computed")
        x, s = m.input("x", image), m.input("s", np.float32(sizes))
        s = m.node("Div", [m.node("Clip", [s] + [m.constant(np.float32(v))
                                                 for v in (1, 12)]),
                           m.constant(np.float32([4, 6]))])
        s = m.node("Concat", [m.constant(np.float32([1, 1])), s], axis=0)
        for form in list(resize_forms())[3:10:2]:
            m.output(m.node("Resize", [x, "", s], **form))
        m.check(ALL if sizes[0] == 6 else ["c99"])
    for given in (dict(), dict(extrapolation_value=7.5)):
        m = Model("region")
        x, roi = m.input("x", image), m.input("roi", region)
        sizes = m.constant(ints(3, 9))
        if not given:
            sizes = m.input("s", ints(3, 9))
        resized(m, x, roi, "", sizes, COORDINATES[-1:], axes=[2, 3], **given)
        m.check(["c99"], *quick,
                *([] if given else ["--bound", "s=9"]))
    m = Model("region_by_scales")
    x, roi = m.input("x", image), m.input("roi", region)
    resized(m, x, roi, m.input("s", np.float32([.75, 1.5])), "",
            COORDINATES[-1:], axes=[2, -1])
    m.check(["c99"], "--bound", "s=0..2", *quick)
    # onnxruntime aligns corners to a length that it rounds before, ONNX's node
    # tests do not.
    for policy, size, coordinates in [
            ("not_larger", (7, 8), ["half_pixel", "tf_crop_and_resize"]),
            ("not_larger", (6, 12), ["align_corners"]),
            ("not_smaller", (8, 9), ["half_pixel_symmetric"]),
            ("not_smaller", (3, 2), ["asymmetric", "pytorch_half_pixel"])]:
        m = Model("policy")
        x, s = m.input("x", image), m.input("s", ints(*size))
        resized(m, x, m.input("roi", region), "", s, coordinates, axes=[2, 3],
                keep_aspect_ratio_policy=policy)
        m.check(["c99"], "--bound", "s=12", *quick)
    # Before opset 11 the nearest element is that below where an axis grows, and
    # that above where it shrinks.
    for opset, op in [(10, "Resize"), (9, "Upsample")]:
        for values in [(1, 1, 1.5, 2.5), (1, 1, 1.5, .5)][:opset - 8]:
            for mode in ("nearest", "linear"):
                m = Model("old", opset)
                x = m.input("x", image)
                s = m.input("s", np.float32(values))
                m.output(m.node(op, [x, s], mode=mode))
                m.output(m.node(op, [x, m.constant(np.float32(values))],
                                mode=mode))
                m.check(["c99"], "--bound", "s=0..3", *quick)
    # A scale of 0.1 or NaN gives no elements; the others are beyond the bound.
    for value, status in [(.1, 0), (np.nan, 0), (3.3, 1), (np.inf, 1),
                          (-1, 1)]:
        m = Model("limits")
        x, s = m.input("x", image), m.input("s", np.float32([1, 1, value, 1]))
        m.output(m.node("Resize", [x, "", s], mode="linear", antialias=1))
        m.reference = lambda: {name: floats(1, 2, 0, 6) for name in m.outputs}
        helper.tirc("test", m.write(), "--bound", "s=0..3", *quick,
                    status=status)
    refuse(m, "or give its largest value with --bound s=N")


def deform():
    """Deformable convolutions of as many rows as are found, and of as many
    images; offsets of another number of rows are refused."""
    for axis, kept, moved in [(2, 3, 3), (2, 5, 5), (2, 3, 4), (0, 1, 1)]:
        m = Model("deform")
        size = 5 if axis == 2 else 3

        def some(name, array, count):
            flags = m.input(name + "_kept", np.arange(size) < count)
            return m.node("Compress", [m.input(name, array), flags],
                          axis=axis)
        x = some("x", floats(3, 4, 5, 6), kept)
        offset = some("offset", rng.random((3, 16, 5, 5), np.float32), moved)
        mask = some("mask", floats(3, 8, 5, 5), moved)
        m.output(m.node("DeformConv", [
            x, m.constant(floats(6, 2, 2, 2)), offset, m.constant(floats(6)),
            mask], kernel_shape=[2, 2], pads=[1, 0, 0, 0], group=2,
            offset_group=2))
        if kept == moved:
            m.check(ALL)
            continue
        m.reference = lambda: {name: floats(1) for name in m.outputs}
        seen = helper.tirc("test", m.write(), status=1)
        if "status" not in seen.stderr:
            helper.fail("other offsets are not refused when it runs:\n" +
                        seen.stderr)


def parts():
    """Slices by bounds that are inputs, which need no option; pads and sizes
    that are inputs."""
    for starts, ends, axes, steps in [
            ((1, 2), (4, 5), None, None), ((-3, -2), (99, -1), (1, 0), (1, 1)),
            ((5, 1), (0, -9), (1, 0), (-2, -1)), ((3, 0), (2, 9), None, (1, 3)),
            ((-99, 9), (2, 99), None, None)]:
        m = Model("parts")
        x = m.input("x", floats(5, 7))
        given = [m.input("starts", ints(*starts)), m.input("ends", ints(*ends))]
        known = [m.constant(ints(*v)) if v else ""
                 for v in (axes, steps)]
        y = m.node("Slice", [m.node("Abs", [x]), *given, *known])
        m.output(m.node("Sqrt", [y]))
        m.output(m.node("Slice", [x, m.constant(ints(1)), m.node(
            "Gather", [given[1], m.constant(ints(0))])]))
        m.output(m.node("ReduceSum", [y, m.constant(ints(0))]))
        m.check(ALL if steps == (-2, -1) else ["c99"])
    for start in (0, 3, 4, 5, 99, (1 << 31) - 1, 1 << 40):
        m = Model("backwards")
        x, ends = m.input("x", floats(5)), m.input("ends", ints(0))
        m.output(m.node("Slice", [x, m.constant(ints(start)), ends,
                                  m.constant(ints(0)), m.constant(ints(-1))]))
        m.check(ALL if start == 99 else ["c99"])
    for shape in [(), (1, 2)]:
        m = Model("ends")
        x = m.input("x", floats(5, 5))
        starts = m.input("starts", np.zeros(shape[1:] or 1, np.int64))
        ends = m.input("ends", np.ones(shape, np.int64))
        m.output(m.node("Slice", [x, starts, ends]))
        refuse(m, "starts and ends must have one dimension")
    for mode in ("constant", "edge", "reflect", "wrap"):
        for pads in [(1, 2, 0, 3), (-1, 2, 1, -2)]:
            m = Model("pad")
            x, p = m.input("x", floats(4, 5)), m.input("p", ints(*pads))
            m.output(m.node("Pad", [m.node("Neg", [x]), p], mode=mode))
            if mode != "wrap" or min(pads) >= 0:
                m.check(ALL if mode == "constant" else ["c99"], "--bound",
                        "p=-3..3")
    for size in [(6, 3), (3, 8), (4, 5)]:
        m = Model("center")
        x, s = m.input("x", floats(4, 5)), m.input("s", ints(*size))
        m.output(m.node("CenterCropPad", [x, s]))
        m.check(ALL if size[0] == 3 else ["c99"], "--bound", "s=9")


def refuse(m, words, *options):
    m.reference = lambda: {name: floats(1) for name in m.outputs}
    said = helper.tirc("compile", m.write(), "-o", helper.work_folder(),
                       *options, status=1).stderr
    if words not in said:
        helper.fail("'%s' is not in: %s" % (words, said))


def bounds():
    """A size beyond its bound is a status, in every dialect, by turns; so is a
    shape that does not fit."""
    for op, value, bound in [("Expand", ints(2, 3, 5), "s=4"),
                             ("Expand", ints(2, 2, 4), "s=4"),
                             ("Reshape", ints(4, 4), "s=12"),
                             ("Reshape", ints(-1, 3), "s=12"),
                             ("Tile", ints(2, 1 << 40), "s=3")]:
        m = Model(op.lower())
        x = m.input("x", floats(3, 4))
        s = m.input("s", value)
        m.output(m.node(op, [x, s]))
        m.reference = lambda: {name: floats(1) for name in m.outputs}
        path = m.write()
        case = "%s %s" % (op, value)
        for target in turns.first_and_some(case, ALL):
            arguments = arguments_of(target, quick=True)
            if arguments is None:
                continue
            seen = helper.tirc("test", path, *arguments, "--bound", bound,
                               status=1)
            if "status" not in seen.stderr:
                helper.fail("%s of %s is not refused when it runs:\n%s" %
                            (op, value, seen.stderr))
    for side, status in [(7.2, 0), (np.nan, 1)]:
        m = Model("limited")
        x = m.input("x", floats(1, 1, 4, 4))
        side = m.node("Clip", [m.input("a", np.array(side, np.float32))] +
                      [m.constant(np.float32(v)) for v in (1, 9)])
        side = m.node("Cast", [m.node("Ceil", [side])],
                      to=TensorProto.INT64)
        one = m.constant(ints(1))
        sizes = [m.node("Reshape", [side, one])] * 2
        y = m.node("Resize", [x, "", "", m.node(
            "Concat", [one, one] + sizes, axis=0)], mode="linear")
        m.output(y)
        if status:
            m.reference = lambda: {name: floats(1) for name in m.outputs}
        helper.tirc("test", m.write(), status=status)
    # The number of a condition is 0 or 1.
    for flag in (True, False):
        m = Model("flagged")
        m.input("flag", np.array([flag]))
        count = m.node("Cast", ["flag"], to=TensorProto.INT64)
        y = m.node("Expand", [m.input("x", floats(1)),
                              m.node("Add", [count, count])])
        m.output(m.node("Exp", [y]))
        m.check(["c99", "misra"])
    # An empty dimension has no element for the result.
    for count in (0, 2):
        rows = np.arange(4) < count
        for op in ("linear", "nearest", "cubic", "edge", "reflect", "wrap"):
            m = Model("filled")
            x = m.node("Compress", [m.input("x", floats(4, 6)),
                                    m.input("rows", rows)], axis=0)
            if op in ("linear", "nearest", "cubic"):
                x = m.node("Unsqueeze", [x, m.constant(ints(0, 1))])
                m.output(m.node("Resize", [x, "", "", m.constant(
                    ints(1, 1, 3, 6))], mode=op))
            else:
                m.output(m.node("Pad", [x, m.constant(ints(1, 0, 0, 0))],
                                mode=op))
            if count == 0:
                m.reference = lambda: {name: floats(1) for name in m.outputs}
            seen = helper.tirc("test", m.write(), status=int(count == 0))
            if count == 0 and "status" not in seen.stderr:
                helper.fail("%s of nothing is not refused when it runs:\n%s" %
                            (op, seen.stderr))
    m = Model("tight")
    m.output(m.node("NonZero", [m.input("x", floats(3, 8))], names=["y"]))
    path = m.write()
    helper.tirc("test", path, "--bound", "y=24")
    helper.tirc("test", path, "--bound", "y=2", status=1)
    m = Model("negative")
    m.output(m.node("Expand", [m.input("x", floats(1)),
                               m.input("s", ints(2))]))
    refuse(m, "--bound s: the size is between 0 and", "--bound", "s=-5..-2")
    # 0 fits 0 and 1, and 1 fits 0.
    for x, value in [(floats(0), 0), (floats(0), 1), (floats(1), 0),
                     (floats(2, 0), 0), (floats(0, 1), 0)]:
        m = Model("nothing")
        shape = ints(*x.shape[:-1], value)
        m.output(m.node("Expand", [m.input("x", x), m.input("s", shape)]))
        m.check(ALL, "--bound", "s=0..3")
    m = Model("contradiction")
    m.output(m.node("Expand", [m.input("x", floats(1, 4)),
                               m.input("s", ints(3, 4))]))
    refuse(m, "contradict each other", "--bound", "s=2..3")
    for bound in ["y=", "y=a", "=3", "y=3..2", "y=-1", "z=3"]:
        helper.tirc("compile", path, "-o", helper.work_folder(), "--bound",
                    bound, status=1)


def constants():
    """--const-input by numbers, files, and the data set."""
    m = Model("constants")
    x, s = m.input("x", floats(3, 4)), m.input("s", ints(2, -1, 3))
    k = m.input("k", np.array([2.5], np.float32))
    m.output(m.node("Mul", [m.node("Reshape", [x, s]), k]))
    path = m.write()
    data = os.path.join(os.path.dirname(path), "test_data_set_0")
    array = os.path.join(helper.work_folder(), "s.npy")
    np.save(array, ints(2, -1, 3))
    for given in ["s=2,-1,3", "s", "s=@" + os.path.join(data, "input_1.pb"),
                  "s=@" + array]:
        helper.tirc("test", path, "--const-input", given)
    helper.tirc("test", path, "--const-input", "s", "--const-input", "k")
    for given in ["s=2,-1", "s=2,-1,x", "q=1", "s=2,3,2", "s=@nowhere.npy",
                  "s=@" + os.path.join(data, "input_2.pb")]:
        helper.tirc("test", path, "--const-input", given, status=1)
    helper.tirc("test", path, "--const-input", "s=2,-1,3", "--const-input",
                "s=2,-1,3", status=1)


def windows():
    """Images of symbolic height and width: windows that reach beyond the edges of
    what other kernels wrote, with steps and gaps, at sizes from one element on."""
    w = {"a": floats(16, 3, 3, 3), "b": floats(16, 16, 3, 3),
         "c": floats(16, 1, 5, 5), "d": floats(16, 16, 3, 2)}
    for height, width in [(1, 1), (2, 7), (3, 3), (5, 4), (9, 8)]:
        m = Model("windows")
        m.sizes["x"] = [1, 3, "height", "width"]
        x = m.input("x", floats(1, 3, height, width))
        a = m.node("Relu", [m.node("Conv", [x, m.constant(w["a"])],
                                   pads=[1, 1, 1, 1])])
        b = m.node("Relu", [m.node("Conv", [a, m.constant(w["b"])],
                                   pads=[2, 2, 2, 2], dilations=[2, 2])])
        c = m.node("Conv", [b, m.constant(w["c"])], pads=[2, 2, 2, 2],
                   group=16)
        s = m.node("Add", [c, a])
        d = m.node("Conv", [s, m.constant(w["d"])], pads=[1, 1, 1, 0],
                   strides=[2, 2])
        m.output(d)
        m.output(m.node("MaxPool", [s], kernel_shape=[3, 3], pads=[1, 1, 1, 1],
                        strides=[2, 1]))
        m.output(m.node("AveragePool", [d], kernel_shape=[2, 3],
                        pads=[0, 1, 1, 1]))
        m.check(["c99", "gnu-c", "x86-64-v3", "c-openmp", "opencl-cpu", "cuda"],
                "--dim", "height=1..9", "--dim", "width=1..8")


CASES = [nonzero, compress, suppression, unique, inputs, parts, deform, resize,
         scales, bounds, constants, windows]

for case in CASES:
    if sys.argv[1:] == [case.__name__]:
        case()
        break
else:
    helper.fail("run_sizes.py: one of " +
                ", ".join(case.__name__ for case in CASES))
