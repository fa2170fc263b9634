#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floats of 16 bits in C: all 2^16 patterns come out as the numbers that they
are and go back to themselves; numbers between two of them go to the nearest,
the even one of two, whether they come from float or double; and a model of
float16 or bfloat16 compiles and gives what numpy gives."""
import ctypes
import os

import numpy as np

import proto
from helper import STRICT, compile_model, compilers, execute, fail, tirc, \
    work_folder

folder = work_folder()
N = 1 << 16
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


def converter(source, to, n, cc):
    name = "%s_%s_%d" % (source, to, n)
    program = os.path.join(folder, name + ".py")
    with open(program, "w") as file:
        file.write(PROGRAM % (n, source, n, to, n, n, to))
    out = os.path.join(folder, name)
    tirc("codegen", program, "--target", "c99", "-o", out)
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


def exact(bits, kind):
    """The numbers of all patterns, as float64."""
    if kind == "float16":
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def nearest(x, kind):
    """Patterns of the numbers nearest to x (float64): found among all."""
    bits = np.arange(0x8000, dtype=np.uint16)
    values = exact(bits, kind)
    top = int(np.argmax(~np.isfinite(values)))      # infinity
    values = values[:top + 1].copy()
    values[top] = 2 * values[top - 1] - values[top - 2]  # where it would be
    magnitude = np.abs(x)
    above = np.clip(np.searchsorted(values, magnitude), 1, top)
    low, high = values[above - 1], values[above]
    middle = (low + high) / 2                       # exact: 53 bits are many
    up = (magnitude > middle) | ((magnitude == middle) & (above % 2 == 0))
    found = np.where(up, above, above - 1)
    found = np.where(magnitude >= values[top], top, found)
    return (found | np.where(np.signbit(x), 0x8000, 0)).astype(np.uint16)


def same(got, want, what):
    wrong = np.nonzero(got != want)[0]
    if len(wrong):
        i = wrong[0]
        fail("%s: %d wrong, the first at %d: %#x, not %#x" % (
            what, len(wrong), i, int(got[i]), int(want[i])))


every = np.arange(N, dtype=np.uint16)
checked = 0
for kind in ("float16", "bfloat16"):
    values = exact(every, kind)
    number = ~np.isnan(values)
    finite = np.sort(values[np.isfinite(values)])
    middles = (finite[1:] + finite[:-1]) / 2
    over = np.array([1e300, -1e300, 70000.0, 65519.99, 65520.0, 3.3e38, 1e39,
                     1e-300, -1e-300, 5e-324, np.inf, -np.inf])
    wide = np.concatenate([middles, np.nextafter(middles, np.inf),
                           np.nextafter(middles, -np.inf), over])
    for cc in compilers():
        got = converter(kind, "float32", N, cc)(every, np.float32)
        same(got[number].view(np.uint32),
             values[number].astype(np.float32).view(np.uint32), kind)
        if not np.isnan(got[~number]).all():
            fail("NaN of %s is none" % kind)
        back = converter("float32", kind, N, cc)(got, np.uint16)
        same(back[number], every[number], "back to " + kind)
        if not np.isnan(exact(back, kind)[~number]).all():
            fail("NaN does not stay NaN")
        for source, numpy_type in (("float32", np.float32),
                                   ("float64", np.float64)):
            data = wide.astype(numpy_type)
            if numpy_type is np.float32:
                m = middles.astype(numpy_type)
                data = np.concatenate([m, np.nextafter(m, numpy_type(np.inf)),
                                       np.nextafter(m, numpy_type(-np.inf)),
                                       over.astype(numpy_type)])
            run = converter(source, kind, len(data), cc)
            same(run(data, np.uint16),
                 nearest(data.astype(np.float64), kind),
                 "%s from %s" % (kind, source))
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
        execute([compilers()[0], "-std=gnu99", "-O1", "-fopenmp-simd",
                 "-I" + out, *[os.path.join(out, f) for f in os.listdir(out)
                               if f.endswith(".c")], "-o", exe, "-lm"])
        got = exact(np.array(execute([exe]).stdout.split(), np.uint16), kind)
        step = 2.0 ** (-10 if kind == "float16" else -7)
        if not np.allclose(got, want, rtol=8 * step, atol=24 * step):
            fail("%s on %s: %s, not %s" % (kind, target, got, want))
