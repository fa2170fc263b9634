#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floats of 16 and 8 bits in C: all patterns come out as the numbers that they
are and go back to themselves; numbers between two of them go to the nearest,
the even one of two, whether they come from float or double, and those beyond
the largest to infinity or NaN; the constant folder gives the same; and a model
of float16 or bfloat16 compiles and gives what numpy gives."""
import collections
import ctypes
import os

import numpy as np

import proto
from helper import STRICT, compile_model, compilers, execute, fail, tirc, \
    work_folder

folder = work_folder()
np.seterr(all="ignore")             # infinity and NaN are meant
PROGRAM = """
from tvm.script import tir as T

@T.prim_func
def convert(A: T.Buffer((%d,), "%s"), B: T.Buffer((%d,), "%s")):
    for i in range(%d):
        with T.block("B"):
            v = T.axis.spatial(%d, i)
            B[v] = T.Cast("%s", A[v])
"""


def converter(source, to, n, cc, target="c99"):
    name = "%s_%s_%d_%s" % (source, to, n, target)
    program = os.path.join(folder, name + ".py")
    with open(program, "w") as file:
        file.write(PROGRAM % (n, source, n, to, n, n, to))
    out = os.path.join(folder, name)
    tirc("codegen", program, "--target", target, "-o", out)
    text = [os.path.join(out, f) for f in os.listdir(out) if f.endswith(".c")]
    lib = os.path.join(folder, name + cc + ".so")
    execute([cc, "-std=c99", *STRICT, "-O2", "-shared", "-fPIC", *text, "-o",
             lib, "-lm"])
    function = ctypes.CDLL(lib).convert

    def run(data, kind):
        result = np.empty(n, kind)
        function(data.ctypes.data_as(ctypes.c_void_p),
                 result.ctypes.data_as(ctypes.c_void_p))
        return result
    return run


# Bits behind the point, what the exponent is biased by, the pattern of the
# largest number, and whether there are infinity and a negative zero.
Form = collections.namedtuple("Form", "bits fraction bias largest inf zeros")
FORMS = {
    "float16": Form(16, 10, 15, 0x7bff, True, 2),
    "bfloat16": Form(16, 7, 127, 0x7f7f, True, 2),
    "float8_e4m3fn": Form(8, 3, 7, 0x7e, False, 2),
    "float8_e4m3fnuz": Form(8, 3, 8, 0x7f, False, 1),
    "float8_e5m2": Form(8, 2, 15, 0x7b, True, 2),
    "float8_e5m2fnuz": Form(8, 2, 16, 0x7f, False, 1),
}


def pattern_type(kind):
    return np.uint16 if FORMS[kind].bits == 16 else np.uint8


def exact(bits, kind):
    """The numbers of all patterns, as float64."""
    form = FORMS[kind]
    sign = 1 << (form.bits - 1)
    magnitude = bits.astype(np.int64) & (sign - 1)
    exponent = np.maximum(magnitude >> form.fraction, 1)
    part = magnitude - ((exponent - 1) << form.fraction)
    values = np.ldexp(part.astype(np.float64),
                      exponent - form.bias - form.fraction)
    values[magnitude > form.largest] = np.nan
    if form.inf:
        values[magnitude == form.largest + 1] = np.inf
    values = np.where(bits & sign, -values, values)
    if form.zeros == 1:
        values[bits == sign] = np.nan
    return values


def nearest(x, kind):
    """Patterns of the numbers nearest to x (float64): found among all."""
    form = FORMS[kind]
    sign = 1 << (form.bits - 1)
    values = exact(np.arange(form.largest + 1), kind)
    values = np.append(values, 2 * values[-1] - values[-2])
    magnitude = np.abs(x)
    above = np.clip(np.searchsorted(values, magnitude), 1, len(values) - 1)
    low, high = values[above - 1], values[above]
    middle = (low + high) / 2                       # exact: 53 bits are many
    up = (magnitude > middle) | ((magnitude == middle) & (above % 2 == 0))
    found = np.where(up, above, above - 1)
    found = np.where(magnitude >= values[-1], form.largest + 1, found)
    sign = np.where(np.signbit(x) & ((form.zeros == 2) | (found > 0)), sign, 0)
    return (found | sign).astype(pattern_type(kind))


def same(got, want, what):
    wrong = np.nonzero(got != want)[0]
    if len(wrong):
        i = wrong[0]
        fail("%s: %d wrong, the first at %d: %#x, not %#x" % (
            what, len(wrong), i, int(got[i]), int(want[i])))


checked = 0
for kind, form in FORMS.items():
    bits = pattern_type(kind)
    every = np.arange(1 << form.bits).astype(bits)
    values = exact(every, kind)
    number = ~np.isnan(values)
    finite = np.sort(values[np.isfinite(values)])
    middles = (finite[1:] + finite[:-1]) / 2
    last = finite[-1] + (finite[-1] - finite[-2]) / 2
    over = np.array([1e300, -1e300, last, -last, 3.3e38, 1e39, 1e-300,
                     -1e-300, 1e-40, 5e-324, 0.0, -0.0, np.inf, -np.inf])
    ways = [(cc, "c99") for cc in compilers()] + [(compilers()[0], "misra")]
    for way in ways:
        got = converter(kind, "float32", len(every), *way)(every, np.float32)
        same(got[number].view(np.uint32),
             values[number].astype(np.float32).view(np.uint32), kind)
        if not np.isnan(got[~number]).all():
            fail("NaN of %s is none" % kind)
        back = converter("float32", kind, len(every), *way)(got, bits)
        same(back[number], every[number], "back to " + kind)
        if not np.isnan(exact(back, kind)[~number]).all():
            fail("NaN does not stay NaN")
        for source in (np.float32, np.float64):
            m = np.concatenate([middles, over]).astype(source)
            data = np.concatenate([m, np.nextafter(m, source(np.inf)),
                                   np.nextafter(m, source(-np.inf))])
            run = converter(np.dtype(source).name, kind, len(data), *way)
            same(run(data, bits), nearest(data.astype(np.float64), kind),
                 "%s from %s by %s" % (kind, source.__name__, way))
            checked += len(data)
print("%d numbers rounded" % checked)

# -- Cast, of an input and of a constant, which is computed by the folder --
CODES = {"float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19,
         "float8_e5m2fnuz": 20}
FLOAT = 1
data = [np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e9, -1e9])]
for kind in CODES:
    values = np.unique(exact(np.arange(256), kind))
    values = values[np.isfinite(values)].astype(np.float32)
    values = np.concatenate([values, (values[1:] + values[:-1]) / 2,
                             [values[-1] * 1.0625, values[-1] * 1.125]])
    data += [values, np.nextafter(values, np.float32(np.inf)),
             np.nextafter(values, np.float32(-np.inf))]
data = np.concatenate(data).astype(np.float32)
nodes, outputs = [], []
for kind, code in CODES.items():
    for saturate in (0, 1):
        for x in "xc":
            y = "%s_%s_%d" % (kind, x, saturate)
            nodes.append(proto.node("Cast", [x], [y], to=code,
                                    saturate=saturate))
            outputs.append(proto.value_info(y, data.shape, code))
model = os.path.join(folder, "cast.onnx")
with open(model, "wb") as file:
    file.write(proto.model(proto.graph(
        nodes, [proto.value_info("x", data.shape, FLOAT)], outputs,
        [proto.tensor("c", data.shape, data.tobytes(), FLOAT)])))
np.save(os.path.join(folder, "x.npy"), data)
for target in ("c99", "gnu-c"):
    tirc("run", model, "--target", target, "-q", "--input",
         os.path.join(folder, "x.npy"), "--output",
         os.path.join(folder, "y.npz"))
    for name, got in np.load(os.path.join(folder, "y.npz")).items():
        kind, saturate = name[:-4], name[-1] == "1"
        wide = data.astype(np.float64)
        if saturate:
            most = exact(np.array([FORMS[kind].largest]), kind)[0]
            wide = np.clip(wide, -most, most)       # NaN stays
        got = got.view(np.uint8)
        nan = np.isnan(wide)
        same(got[~nan], nearest(wide[~nan], kind), name + " by " + target)
        if not np.isnan(exact(got[nan], kind)).all():
            fail("%s: NaN becomes a number" % name)

# -- models --
MAIN = """
#include "m.h"
#include <stdio.h>
int main(void)
{
	static uint16_t x[M_X_COUNT], y[M_Y_COUNT];
	static double space[M_WORKSPACE_BYTES / 8 + 8];
	struct m m;
	struct m_config c = { space, sizeof space };
	struct m_inputs in = { x };
	struct m_outputs out = { y };
	for (unsigned i = 0; i < M_X_COUNT; i++) x[i] = (uint16_t)(%s + i * 8u);
	if (m_init(&m, &c) != M_OK || m_run(&m, &in, &out) != M_OK) return 1;
	for (unsigned i = 0; i < M_Y_COUNT; i++) printf("%%u\\n", (unsigned)y[i]);
	return 0;
}
"""
for kind, code, one in (("float16", 10, 0x3c00), ("bfloat16", 16, 0x3f80)):
    w = np.array([(i * 7 % 13 - 6) / 8 for i in range(12 * 5)], np.float64)
    w_bits = nearest(w, kind)
    model = os.path.join(folder, kind + ".onnx")
    with open(model, "wb") as file:
        file.write(proto.model(proto.graph(
            [proto.node("MatMul", ["x", "w"], ["s"]),
             proto.node("Relu", ["s"], ["y"])],
            [proto.value_info("x", (3, 12), code)],
            [proto.value_info("y", (3, 5), code)],
            [proto.tensor("w", [12, 5], w_bits.tobytes(), code)])))
    x = exact((one + np.arange(36) * 8).astype(np.uint16), kind)
    want = np.maximum(x.reshape(3, 12) @ exact(w_bits, kind).reshape(12, 5),
                      0).reshape(-1)
    for target in ("c99", "gnu-c"):
        out = compile_model(model, "--target", target, "-q", "--name", "m")
        with open(os.path.join(out, "main.c"), "w") as file:
            file.write(MAIN % ("%du" % one))
        exe = os.path.join(out, "a.out")
        execute([compilers()[0], "-std=gnu99", "-O1", "-fopenmp-simd",
                 "-I" + out, *[os.path.join(out, f) for f in os.listdir(out)
                               if f.endswith(".c")], "-o", exe, "-lm"])
        got = exact(np.array(execute([exe]).stdout.split(), np.uint16), kind)
        step = 2.0 ** (-10 if kind == "float16" else -7)
        if not np.allclose(got, want, rtol=8 * step, atol=24 * step):
            fail("%s on %s: %s, not %s" % (kind, target, got, want))
