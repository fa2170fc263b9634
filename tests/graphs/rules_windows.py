# SPDX-License-Identifier: Apache-2.0
"""Rules for operators that move a window over pictures: convolutions, pools,
Resize."""
import numpy as np

from maker import SYMBOL
from reference import Rejected
from large import CONST, CONV, F, I, IMAGE, case, floats


def pictures(g, op, types=None):
    """A tensor [n, c, spatial…] whose spatial sizes are fixed."""
    def fits(shape):
        return 0 not in shape and SYMBOL not in shape[1:]
    return g.data(types or g.types(op), 3, g.choice([3, 4, 4, 4, 5]), fits)


def window(g, sizes):
    """A kernel's shape, and a dictionary of attributes that suit it: strides,
    pads, auto_pad, dilations."""
    kernel = [g.number(1, min(n, g.choice([1, 2, 3, 3, 3, 5])))
              for n in sizes]
    more = {}
    if g.chance(0.5):
        more["strides"] = [g.number(1, 3) for _ in sizes]
    mode = g.choice(["", "", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
    if mode in ("", "NOTSET") and g.chance(0.7):
        more["pads"] = [g.number(0, k - 1) for k in kernel * 2]
    if mode:
        more["auto_pad"] = mode
    if mode.startswith("SAME") and "strides" in more:
        # windows that leave gaps would be padded by negative amounts
        more["strides"] = [min(s, k) for s, k in zip(more["strides"],
                                                     kernel)]
    if not mode.startswith("SAME") and g.chance(0.3):
        more["dilations"] = [
            g.number(1, 2) if (k - 1) * 2 + 1 <= n else 1
            for k, n in zip(kernel, sizes)]
    return kernel, more


def divisor(g, n):
    return g.choice([1, 1, n] + [d for d in range(1, n + 1) if n % d == 0])


def conv(g):
    x = pictures(g, "Conv")
    shape = g.value(x).shape
    kernel, more = window(g, shape[2:])
    group = divisor(g, shape[1])
    out = group * g.choice([1, 1, 2, 3, 4, 8, 16])
    if out > 64:
        raise Rejected("many channels")
    kind = g.dtype(x)
    w = g.exact(kind, [out, shape[1] // group] + kernel,
                constant=g.chance(0.8) or None)
    inputs = [x, w]
    if g.chance(0.6):
        inputs.append(g.exact(kind, [out], constant=g.chance(0.8) or None))
    if g.chance(0.5):
        more["kernel_shape"] = kernel
    if group != 1 or g.chance(0.3):
        more["group"] = group
    g.node("Conv", inputs, **more)


def plain_conv(g):
    """A Conv 3x3 without strides or groups, which --conv winograd computes by
    tiles."""
    channels = g.choice([3, 8, 16, 16])
    size = g.number(3, 12)
    x = g.exact("float32", [1, channels, size, g.number(3, 12)],
                "plain", False)
    w = g.exact("float32", [g.choice([5, 8, 16]), channels, 3, 3], "plain",
                True)
    more = {"pads": g.choice([[1, 1, 1, 1], [0, 1, 1, 0]])} \
        if g.chance(0.7) else {}
    y = g.node("Conv", [x, w], **more)
    if g.chance(0.3):
        g.node(g.choice(["Relu", "Sigmoid"]), [y])


def conv_transpose(g):
    x = pictures(g, "ConvTranspose")
    shape = g.value(x).shape
    kernel, more = window(g, [max(n, 3) for n in shape[2:]])
    group = divisor(g, shape[1])
    out = g.choice([1, 2, 3, 8])
    kind = g.dtype(x)
    inputs = [x, g.exact(kind, [shape[1], out] + kernel,
                         constant=g.chance(0.8) or None)]
    if g.chance(0.6):
        inputs.append(g.exact(kind, [out * group]))
    strides = more.get("strides", [1] * len(kernel))
    if g.chance(0.3) and "auto_pad" not in more:
        more["output_padding"] = [g.number(0, s - 1) for s in strides]
    if group != 1 or g.chance(0.3):
        more["group"] = group
    if g.chance(0.3):
        more["kernel_shape"] = kernel
    g.node("ConvTranspose", inputs, **more)


def pool(op):
    def rule(g):
        x = pictures(g, op)
        kernel, more = window(g, g.value(x).shape[2:])
        more["kernel_shape"] = kernel
        if "auto_pad" not in more and g.chance(0.4):
            more["ceil_mode"] = 1
        outputs = 1
        if op == "AveragePool":
            more["count_include_pad"] = g.number(0, 1)
        elif op == "LpPool":
            more["p"] = g.number(1, 3)
        elif g.chance(0.3):
            outputs = 2
            more["storage_order"] = g.number(0, 1)
        g.node(op, [x], outputs, **more)
    return rule


def max_unpool(g):
    x = pictures(g, "MaxUnpool", g.types("MaxUnpool"))
    shape = g.value(x).shape
    kernel = [g.number(1, min(2, n)) for n in shape[2:]]
    y, at = g.node("MaxPool", [x], 2, kernel_shape=kernel, strides=kernel)
    inputs = [y, at]
    if shape[0] != SYMBOL and g.chance():
        inputs.append(g.constant(list(shape)))
    g.node("MaxUnpool", inputs, kernel_shape=kernel, strides=kernel)


def grid_sample(g):
    x = pictures(g, "GridSample", ["float32"])
    shape = g.value(x).shape
    sizes = [shape[0]] + [g.number(1, 5) for _ in shape[2:]]
    grid = g.rng.uniform(-1.3, 1.3, sizes + [len(sizes) - 1])
    mode = g.choice(["nearest", "linear", "cubic"])
    padding = g.choice(["zeros", "border", "reflection"])
    # At a border, onnxruntime moves both coordinates of a position if one is
    # outside; ONNX's reference moves that one. Here it makes a difference:
    aligned = 1 if (mode, padding) == ("cubic", "border") else g.number(0, 1)
    if g.graph.opset < 20 and mode != "nearest":
        mode = "bi" + mode
    g.node("GridSample", [x, g.add(grid.astype(g.dtype(x)), "input")],
           mode=mode, padding_mode=padding, align_corners=aligned)


def regions(g, x, count):
    """Corners x1, y1, x2, y2 of regions, in quarters of an element."""
    height, width = g.value(x).shape[2:]
    corners = np.stack([g.rng.integers(-4, 4 * size + 4, (count, 2))
                        for size in (width, height)], 2) / 4
    return np.sort(corners, 1).reshape(count, 4)


def image(g, op):
    return g.data(g.types(op), 4, 4, lambda shape: 0 not in shape and
                  SYMBOL not in shape)


def roi_align(g):
    x = image(g, "RoiAlign")
    count = g.number(1, 3)
    rois = regions(g, x, count).astype(g.value(x).dtype)
    where = g.rng.integers(0, g.value(x).shape[0], count)
    g.node("RoiAlign", [x, g.add(rois, "input"), g.add(where, "input")],
           output_height=g.number(1, 3), output_width=g.number(1, 3),
           sampling_ratio=g.number(0, 2),
           spatial_scale=g.choice([1.0, 0.5]),
           coordinate_transformation_mode=g.choice(
               ["half_pixel", "output_half_pixel"]))


def max_roi_pool(g):
    x = image(g, "MaxRoiPool")
    count = g.number(1, 3)
    where = g.rng.integers(0, g.value(x).shape[0], (count, 1))
    rois = np.concatenate([where, np.rint(regions(g, x, count))], 1)
    g.node("MaxRoiPool", [x, g.add(rois.astype(g.value(x).dtype), "input")],
           pooled_shape=[g.number(1, 3), g.number(1, 3)])


def deform_conv(g):
    """tirc.DeformSample and a product of matrices. The elements are finite:
    onnx.reference rounds positions so that elements beside them count a bit."""
    x = g.data(["float32"], 4, 4, lambda shape: 0 not in shape and
               SYMBOL not in shape and min(shape[2:]) > 1, "plain", share=0)
    n, channels, *sizes = g.value(x).shape
    group = g.choice([k for k in (1, 2, 3) if channels % k == 0])
    offsets = g.choice([k for k in (1, 2, 3) if channels % k == 0])
    kernel = [g.number(1, min(2, size)) for size in sizes]
    pads = [g.number(0, 1) for _ in range(4)]
    taps = int(np.prod(kernel))
    out = [size + pads[d] + pads[2 + d] - kernel[d] + 1
           for d, size in enumerate(sizes)]
    moves = g.rng.uniform(-1, 1, [n, offsets * taps * 2] + out)
    maps = group * g.number(1, 2)
    inputs = [x, g.exact("float32", [maps, channels // group] + kernel,
                         "plain", share=0),
              g.add(moves.astype(np.float32), "input")]
    if g.chance():
        inputs.append(g.exact("float32", [maps]) if g.chance() else None)
        inputs.append(g.exact("float32", [n, offsets * taps] + out, "plain",
                              share=0))
    g.node("DeformConv", inputs, kernel_shape=kernel, pads=pads, group=group,
           offset_group=offsets)


def global_pool(op):
    def rule(g):
        x = pictures(g, op)
        more = {"p": g.number(1, 3)} if op == "GlobalLpPool" else {}
        g.node(op, [x], **more)
    return rule


def resize(g):
    x = g.data(g.types("Resize"), 2, 4, lambda s: 0 not in s and
               SYMBOL not in s[-2:])
    shape = g.value(x).shape
    rank = len(shape)
    mode = g.choice(["nearest", "nearest", "linear", "cubic"])
    axes = list(range(rank))[-g.number(1, 2):]
    more = {"mode": mode, "coordinate_transformation_mode": g.choice(
        ["half_pixel", "half_pixel", "asymmetric", "align_corners",
         "pytorch_half_pixel", "half_pixel_symmetric"])}
    if mode == "nearest":
        more["nearest_mode"] = g.choice(
            ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
    if mode == "cubic":
        more["cubic_coeff_a"] = g.choice([-0.75, -0.5])
        more["exclude_outside"] = g.number(0, 1)
    if mode != "nearest" and g.chance(0.2):
        more["antialias"] = 1
    sizes = [g.number(1, 2 * shape[d] + 1) for d in axes]
    inputs = [x, None]
    if g.chance(0.4):
        more["axes"] = axes
        if g.chance(0.3):
            more["keep_aspect_ratio_policy"] = g.choice(
                ["stretch", "not_larger", "not_smaller"])
        scales = [g.choice([0.5, 1.0, 1.5, 2.0, 2.5]) for _ in axes]
    else:
        sizes = [sizes[axes.index(d)] if d in axes else shape[d]
                 for d in range(rank)]
        scales = [g.choice([0.5, 1.0, 1.5, 2.0, 3.0]) if d in axes else 1.0
                  for d in range(rank)]
    if SYMBOL in sizes or g.chance():
        more.pop("keep_aspect_ratio_policy", None)
        inputs.append(g.constant(scales, "float32"))
    else:
        inputs += [None, g.constant(sizes)]
    g.node("Resize", inputs, **more)


def col2im(g):
    rank = g.number(1, 3)
    block = [g.number(1, 3) for _ in range(rank)]
    strides = [g.number(1, 2) for _ in range(rank)]
    dilations = [g.number(1, 2) for _ in range(rank)]
    pads = [g.number(0, 1) for _ in range(2 * rank)]
    image = [d * (b - 1) + 1 + g.number(0, 4)
             for b, d in zip(block, dilations)]
    count = [(i + pads[k] + pads[rank + k] - d * (b - 1) - 1) // s + 1
             for k, (i, b, d, s) in enumerate(zip(image, block, dilations,
                                                  strides))]
    x = g.exact("float32", [g.number(1, 2),
                            g.number(1, 3) * int(np.prod(block)),
                            int(np.prod(count))])
    g.node("Col2Im", [x, g.constant(image), g.constant(block)], pads=pads,
           strides=strides, dilations=dilations)


RULES = {
    "Col2Im": col2im,
    "Conv": conv, "ConvTranspose": conv_transpose,
    "MaxPool": pool("MaxPool"), "AveragePool": pool("AveragePool"),
    "LpPool": pool("LpPool"), "MaxUnpool": max_unpool, "Resize": resize,
    "GridSample": grid_sample, "RoiAlign": roi_align,
    "MaxRoiPool": max_roi_pool}
RULES.update({op: global_pool(op) for op in [
    "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"]})

# One node of the size that models have, for tests/ops/work.py.
LARGE = {
    "Col2Im": case([(F, [1, 16 * 9, 38 * 38]), CONST([40, 40]), CONST([3, 3])],
                   products=16 * 40 * 40 * 9),
    "Resize": case([IMAGE, "", floats(4) * CONST([2, 2, 4, 4], np.float32)],
        products=4 * 16 * 80 * 80, mode="linear"),
    "Conv": case([IMAGE, (F, [16, 16, 3, 3])], products=CONV, pads=[1, 1, 1,
        1]),
    "ConvTranspose": case([IMAGE, (F, [16, 16, 4, 4])], products=16 * 1600 * 16
        * 16, strides=[2, 2]),
    "MaxPool": case([IMAGE], products=16 * 1600 * 9, kernel_shape=[3, 3]),
    "AveragePool": case([IMAGE], products=16 * 1600 * 9, kernel_shape=[3, 3]),
    "LpPool": case([IMAGE], products=16 * 1600 * 9, kernel_shape=[3, 3]),
    "GlobalMaxPool": case([IMAGE]),
    "GridSample": case([IMAGE, (F, [1, 30, 30, 2])]),
    "RoiAlign": case([IMAGE, (F, [9, 4]), np.zeros(9, np.int64)],
        products=9 * 16 * 49 * 4, output_height=7, output_width=7,
        sampling_ratio=2),
    "MaxRoiPool": case([IMAGE, (F, [9, 5])], pooled_shape=[7, 7]),
    "GlobalAveragePool": case([IMAGE]),
    "GlobalLpPool": case([IMAGE]),
    "MaxUnpool": case([(F, [1, 16, 20, 20]), (I, [1, 16, 20, 20])],
        kernel_shape=[2, 2], strides=[2, 2]),
}
