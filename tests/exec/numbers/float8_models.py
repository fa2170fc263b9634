#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models with floats of 8 bits and fewer: Cast, with and without saturation,
gives what the types' definitions say, of an input and of a constant that is
folded, also to and from the exponents of e8m0 in each rounding; a layer
between QuantizeLinear and DequantizeLinear, whose result is moved about, gives
what numpy computes, from every dialect in C and as kernels with a graph; the
largest and smallest elements are right for extreme ones, too."""
import os

import numpy as np

import dtypes
import proto
from helper import fail, has_dialect, results_alone, tirc, work_folder
from short_forms import FORMS, exact, nearest, same

results_alone()

CASTS = {name: dtypes.TYPES[name].code
         for name in dtypes.names("FLOAT", most=8)}
CODES = {name: CASTS[name] for name in dtypes.names("FLOAT", 8, 8)}
FLOAT, INT64 = 1, 7
np.seterr(all="ignore")             # infinity and NaN are meant
folder = work_folder()
random = np.random.default_rng(8)


def run(model, x, *options):
    """The model's outputs by name."""
    paths = [os.path.join(folder, f) for f in ("m.onnx", "x.npy", "y.npz")]
    with open(paths[0], "wb") as file:
        file.write(model)
    np.save(paths[1], x)
    tirc("run", paths[0], "-q", "--input", paths[1], "--output", paths[2],
         *options)
    return dict(np.load(paths[2]).items())


def largest(kind):
    return exact(np.array([FORMS[kind].largest]), kind)[0]


def quantized(wide, kind, saturate):
    """The patterns nearest to numbers of float64, NaN as -1: it has many."""
    has_nan = FORMS[kind].specials != "FINITE"
    if saturate:
        wide = np.clip(wide, -largest(kind), largest(kind))     # NaN stays
    bits = nearest(wide, kind).astype(np.int64)
    return np.where(np.isnan(exact(bits, kind)) | has_nan & np.isnan(wide),
                    -1, bits)


def patterns(got, kind):
    bits = got.view(np.uint8).astype(np.int64)
    return np.where(np.isnan(exact(bits, kind)), -1, bits)


# -- Cast --
data = [np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e9, -1e9])]
for kind in CASTS:
    values = np.unique(exact(np.arange(256), kind))
    values = values[np.isfinite(values)].astype(np.float32)
    values = np.concatenate([values, (values[1:] + values[:-1]) / 2,
                             [values[-1] * 1.0625, values[-1] * 1.125]])
    data += [values, np.nextafter(values, np.float32(np.inf)),
             np.nextafter(values, np.float32(-np.inf))]
data = np.concatenate(data).astype(np.float32)
nodes, outputs = [], []
for kind, code in CASTS.items():
    for saturate in (0, 1):
        for x in "xc":
            y = "%s_%s_%d" % (kind, x, saturate)
            nodes.append(proto.node("Cast", [x], [y], to=code,
                                    saturate=saturate))
            outputs.append(proto.value_info(y, data.shape, code))
casts = proto.model(proto.graph(
    nodes, [proto.value_info("x", data.shape, FLOAT)], outputs,
    [proto.tensor("c", data.shape, data.tobytes(), FLOAT)]))
for name, got in run(casts, data, "--target", "c99").items():
    kind, saturate = name[:-4], name[-1] == "1"
    same(patterns(got, kind),
         quantized(data.astype(np.float64), kind, saturate), name)


# -- exponents --
E8M0 = dtypes.TYPES["e8m0"].code


def exponents(x, mode, saturate):
    """The power of two that each magnitude is rounded to, as an element of e8m0;
    255 for NaN. Out of range: the nearest power, or NaN."""
    size = np.abs(x.astype(np.float64))
    low = np.floor(np.log2(np.clip(size, 2.0 ** -127, 2.0 ** 128)))
    power = 2.0 ** low
    up = {"up": size > power, "down": np.zeros(x.shape, bool),
          "nearest": size >= 1.5 * power}[mode]
    bits = low + up + 127
    if saturate:
        bits = np.minimum(bits, 254)
    else:
        bits[(bits > 254) | (size < 2.0 ** -127)] = 255
    return np.where(np.isnan(x), 255, bits).astype(np.uint8)


values = 2.0 ** np.arange(-126, 128)
values = np.concatenate([[np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0 ** -127,
                          2.0 ** -149, -3.0 * 2.0 ** -128, 3.0 * 2.0 ** -129,
                          2.0 ** -127 + 2.0 ** -149],
                         values, -values, values * 1.25, values * 1.5,
                         values * 1.75]).astype(np.float32)
nodes, outputs = [], []
for mode in ("up", "down", "nearest"):
    for saturate in (0, 1):
        for x in "xc":
            y = "%s_%s_%d" % (mode, x, saturate)
            nodes += [proto.node("Cast", [x], [y], to=E8M0, saturate=saturate,
                                 round_mode=mode),
                      proto.node("Cast", [y], ["back_" + y], to=FLOAT)]
            outputs += [proto.value_info(y, values.shape, E8M0),
                        proto.value_info("back_" + y, values.shape, FLOAT)]
nodes += [proto.node("Reshape", ["nearest_x_0", "sizes"], ["rows"]),
          proto.node("Transpose", ["rows"], ["columns"]),
          proto.node("Unsqueeze", ["columns", "axis"], ["plane"]),
          proto.node("Squeeze", ["plane", "axis"], ["moved"])]
outputs.append(proto.value_info("moved", (160, 8), E8M0))
casts = proto.model(proto.graph(
    nodes, [proto.value_info("x", values.shape, FLOAT)], outputs,
    [proto.tensor("c", values.shape, values.tobytes(), FLOAT),
     proto.tensor("sizes", [2], proto.ints(8, 160), proto.INT64),
     proto.tensor("axis", [1], proto.ints(1), proto.INT64)]), version=25)
for target in ("c99", "c-openmp"):
    got = run(casts, values, "--target", target)
    same(got["moved"].view(np.uint8).ravel(),
         exponents(values, "nearest", 0).reshape(8, 160).T.ravel(),
         "moved, " + target)
    for mode in ("up", "down", "nearest"):
        for saturate in (0, 1):
            for x in "xc":
                y = "%s_%s_%d" % (mode, x, saturate)
                want = exponents(values, mode, saturate)
                same(got[y].view(np.uint8), want,
                     "%s, %s" % (y, target))
                power = np.where(want == 255, np.nan,
                                 2.0 ** (want.astype(np.float64) - 127))
                if not np.array_equal(got["back_" + y], power, equal_nan=True):
                    fail("back_%s, %s" % (y, target))


# -- a layer --
def layer(kind, w, steps):
    """y, which is moved about, and z are floats of 8 bits, `steps` for each one:
    z saturates, y does not."""
    code = CODES[kind]
    return proto.model(proto.graph(
        [proto.node("QuantizeLinear", ["x", "s", "zero"], ["q"]),
         proto.node("DequantizeLinear", ["q", "s", "zero"], ["d"]),
         proto.node("DequantizeLinear", ["w", "s"], ["wd"]),
         proto.node("MatMul", ["d", "wd"], ["m"]),
         proto.node("Relu", ["m"], ["r"]),
         proto.node("QuantizeLinear", ["r", "t", "zero"], ["rq"], saturate=0),
         proto.node("Transpose", ["rq"], ["rt"], perm=[1, 0]),
         proto.node("Reshape", ["rt", "shape"], ["rs"]),
         proto.node("Identity", ["rs"], ["y"]),
         proto.node("CastLike", ["y", "x"], ["f"]),
         proto.node("QuantizeLinear", ["m", "t"], ["z"], output_dtype=code)],
        [proto.value_info("x", (6, 8), FLOAT)],
        [proto.value_info("y", (5, 2, 3), code),
         proto.value_info("f", (5, 2, 3), FLOAT),
         proto.value_info("z", (6, 5), code)],
        [proto.tensor("s", [], np.float32(0.25).tobytes(), FLOAT),
         proto.tensor("t", [], np.float32(1 / steps).tobytes(), FLOAT),
         proto.tensor("zero", [], b"\0", code),
         proto.tensor("w", w.shape, w.tobytes(), code),
         proto.tensor("shape", [3], np.array([5, 2, 3]).tobytes(), INT64)]))


ways = [["--target", t] for t in ("c99", "gnu-c", "c-openmp", "misra")
        if has_dialect(t)] + [["--target", "c99", "--form", "graph"]]
x = (random.integers(-40, 40, (6, 8)) / 4).astype(np.float32)
for kind in CODES:
    w = nearest(random.integers(-64, 64, (8, 5)) / 8, kind)
    q = exact(quantized(x / 0.25, kind, True), kind) * 0.25
    m = q @ (exact(w, kind) * 0.25)                 # exact: of few bits
    steps = 2.0 ** np.floor(np.log2(largest(kind) / m.max()) + 2)
    m *= steps
    y = quantized(np.maximum(m, 0), kind, False).T.reshape(5, 2, 3)
    if not (y == quantized(np.array([1e9]), kind, False)).any():
        fail("nothing is beyond the largest " + kind)
    for way in ways if kind == "float8_e4m3fn" else ways[:1]:
        got = run(layer(kind, w, steps), x, *way)
        what = "%s by %s" % (kind, " ".join(way))
        same(patterns(got["y"], kind).ravel(), y.ravel(), "y, " + what)
        same(patterns(got["z"], kind).ravel(),
             quantized(m, kind, True).ravel(), "z, " + what)
        want = exact(got["y"].view(np.uint8), kind)
        if not np.array_equal(got["f"], want.astype(np.float32),
                              equal_nan=True):
            fail("f, " + what)


# -- the largest and smallest of some elements --
def extremes(code):
    """A model whose outputs are the extreme elements of rows, in float32."""
    nodes = [proto.node("Cast", ["x"], ["e"], to=code, saturate=0),
             proto.node("ReduceMax", ["e"], ["r_max"], axes=[3], keepdims=0),
             proto.node("ReduceMin", ["e"], ["r_min"], axes=[3], keepdims=0),
             proto.node("MaxPool", ["e"], ["r_pool"], kernel_shape=[1, 8]),
             proto.node("TopK", ["e", "k"], ["r_best", ""]),
             proto.node("TopK", ["e", "k"], ["r_worst", ""], largest=0)]
    shapes = {"max": ROWS[:3], "min": ROWS[:3], "pool": ROWS[:3] + (1,),
              "best": ROWS[:3] + (3,), "worst": ROWS[:3] + (3,)}
    outputs = []
    for name, shape in shapes.items():
        nodes.append(proto.node("Cast", ["r_" + name], [name], to=FLOAT))
        outputs.append(proto.value_info(name, shape, FLOAT))
    return proto.model(proto.graph(
        nodes, [proto.value_info("x", ROWS, FLOAT)], outputs,
        [proto.tensor("k", [1], proto.ints(3), INT64)]), version=13)


ROWS = (1, 1, 6, 8)
for kind, code in CODES.items():
    most = np.inf if FORMS[kind].specials == "IEEE" else largest(kind)
    x = exact(nearest(random.normal(0, 4, ROWS), kind), kind)
    x[..., 0, :], x[..., 1, :] = -most, most        # none is beyond
    x[..., 2, 1:], x[..., 3, 1:] = -most, most
    x = x.astype(np.float32)
    order = np.sort(x, axis=3)
    wanted = {"max": order[..., -1], "min": order[..., 0],
              "pool": order[..., -1:], "best": order[..., :-4:-1],
              "worst": order[..., :3]}
    for target in ("c99", "c-openmp"):
        got = run(extremes(code), x, "--target", target)
        for name, want in wanted.items():
            if not np.array_equal(got[name], want):
                fail("%s of %s, %s:\n%s\n%s" % (name, kind, target, got[name],
                                               want))
