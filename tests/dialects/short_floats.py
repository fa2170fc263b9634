#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floats of 16 and 8 bits in C: all patterns come out as the numbers that they
are and go back to themselves; numbers between two of them go to the nearest,
the even one of two, whether they come from float or double, and those beyond
the largest to infinity or NaN; and a model of float16 or bfloat16 compiles and
gives what numpy gives."""
import ctypes
import os

import numpy as np

import proto
from helper import STRICT, compile_model, compilers, execute, fail, tirc, \
    work_folder
from short_forms import FORMS, exact, nearest, pattern_type, same

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
        execute([compilers()[0], "-std=gnu99", "-O0", "-fopenmp-simd",
                 "-I" + out, *[os.path.join(out, f) for f in os.listdir(out)
                               if f.endswith(".c")], "-o", exe, "-lm"])
        got = exact(np.array(execute([exe]).stdout.split(), np.uint16), kind)
        step = 2.0 ** (-10 if kind == "float16" else -7)
        if not np.allclose(got, want, rtol=8 * step, atol=24 * step):
            fail("%s on %s: %s, not %s" % (kind, target, got, want))
