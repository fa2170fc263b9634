#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Integers of 4 and 2 bits as emitted source: every operation on every pair of them
gives what whole numbers say; models whose weights are INT4 and UINT4 keep two of
them in a byte, as many bytes as that are, and compute what numpy computes; what
lies between kernels, comes in and goes out is a byte each."""
import ctypes
import json
import os
import shutil

import numpy as np

import dtypes
import proto
from helper import (ROOT, STRICT, compile_model, compilers, execute, fail,
                    has_dialect, results_alone, tirc, work_folder)

results_alone()

FLOAT, INT8, UINT4, INT4 = 1, 3, 21, 22
KINDS = {name: (np.uint8 if dtypes.TYPES[name].of == "UINT" else np.int8,
                2 ** dtypes.TYPES[name].bits)
         for name in dtypes.names("INT", most=7) +
         dtypes.names("UINT", most=7)}
random = np.random.default_rng(4)
folder = work_folder()
cc = compilers()[0]
targets = [t for t in ("c99", "gnu-c", "c-openmp", "misra") if has_dialect(t)]
flags = {"c99": ["-std=c99"], "misra": ["-std=c99"],
         "gnu-c": ["-std=gnu11", "-fopenmp-simd", "-Wno-psabi"],
         "c-openmp": ["-std=gnu11", "-fopenmp", "-Wno-psabi"]}


def library(out, target):
    """A shared one, of all of a folder's sources."""
    sources = [os.path.join(out, f) for f in sorted(os.listdir(out))
               if f.endswith((".c", ".S"))]
    path = os.path.join(out, "m.so")
    execute([cc, *flags[target], *STRICT, "-O1", "-shared", "-fPIC",
             "-I" + out, *sources, "-o", path, "-lm"], cwd=out)
    return ctypes.CDLL(path)


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def wrapped(kind, v):
    """The low bits, as the type has them."""
    numpy_type, n = KINDS[kind]
    low = np.asarray(v).astype(np.int64) & (n - 1)
    return np.where(low >= n // 2, low - n, low) \
        if numpy_type == np.int8 else low


def packed(values):
    """Two in a byte, the first in the low bits."""
    low = np.asarray(values).reshape(-1).astype(np.int64) & 15
    low = np.append(low, np.zeros(len(low) % 2, np.int64))
    return (low[0::2] | low[1::2] << 4).astype(np.uint8).tobytes()


# -- programs --
OPERATIONS = [
    ("A[i] + B[j]", lambda a, b: a + b),
    ("A[i] - B[j]", lambda a, b: a - b),
    ("A[i] * B[j]", lambda a, b: a * b),
    ("A[i] // B[j]", lambda a, b: a // np.where(b == 0, 1, b)),
    ("A[i] % B[j]", lambda a, b: a % np.where(b == 0, 1, b)),
    ("T.min(A[i], B[j]) - T.max(A[i], B[j])",
     lambda a, b: np.minimum(a, b) - np.maximum(a, b)),
    ("T.bitwise_xor(A[i], T.bitwise_not(B[j]))", lambda a, b: a ^ ~b),
    ("T.shift_left(A[i], T.bitwise_and(B[j], T.{t}(1)))",
     lambda a, b: a << (b & 1)),
    ("T.Select(A[i] < B[j], A[i] * A[i], B[j])",
     lambda a, b: np.where(a < b, a * a, b)),
    ("T.Cast('{t}', T.Cast('int32', A[i]) * 5 - T.Cast('int32', B[j]))",
     lambda a, b: a * 5 - b),
]


def try_operations(kind, target):
    n = len(OPERATIONS)
    lines = ["from tvm.script import tir as T\n\n@T.prim_func\ndef every("
             "A: T.Buffer((16,), '%s'), B: T.Buffer((16,), '%s'), "
             "C: T.Buffer((%d, 16, 16), '%s')):\n" % (kind, kind, n, kind)]
    for k, (text, _) in enumerate(OPERATIONS):
        lines.append("    for i, j in T.grid(16, 16):\n"
                     "        C[%d, i, j] = %s\n" % (
                         k, text.replace("{t}", kind)))
    path = os.path.join(folder, "every_%s.py" % kind)
    with open(path, "w") as file:
        file.write("".join(lines))
    out = work_folder()
    tirc("codegen", path, "--target", target, "-o", out)
    numpy_type = KINDS[kind][0]
    a = wrapped(kind, np.arange(16)).astype(numpy_type)
    got = np.empty((n, 16, 16), numpy_type)
    library(out, target).every(pointer(a), pointer(a), pointer(got))
    x = a.astype(np.int64)[:, None] + np.zeros((16, 16), np.int64)
    y = x.T
    for k, (text, function) in enumerate(OPERATIONS):
        want = wrapped(kind, function(x, y))
        if "//" in text or "%" in text:
            want = np.where(y == 0, 0, want)
        if not np.array_equal(got[k], want):
            fail("%s of %s on %s:\n%s\nnot\n%s" % (text, kind, target, got[k],
                                                   want))


# -- a model of all --
def quantized(x, kind, scale, zero):
    low = -8 if kind == "int4" else 0
    return np.clip(np.rint(x / scale) + zero, low, low + 15).astype(int)


def convolved(x, w):
    """3x3, padded by one."""
    x = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    n = x.shape[1] - 2
    return np.array([[[np.sum(x[:, i:i + 3, j:j + 3] * one) for j in range(n)]
                      for i in range(n)] for one in w])


K, BLOCK = 20, 8
data = {}
nodes, inputs, outputs, constants, want = [], [], [], [], {}


def constant(name, values, number):
    values = np.asarray(values)
    raw = packed(values) if number in (INT4, UINT4) else values.tobytes()
    constants.append(proto.tensor(name, list(values.shape), raw, number))
    return name


def given(name, values, number):
    values = np.asarray(values)
    inputs.append(proto.value_info(name, values.shape, number))
    data[name] = proto.tensor(name, list(values.shape),
                              packed(values) if number in (INT4, UINT4)
                              else values.tobytes(), number)
    return name


def result(name, values, number=FLOAT):
    values = np.asarray(values)
    outputs.append(proto.value_info(name, values.shape, number))
    want[name] = proto.tensor(
        name, list(values.shape), packed(values)
        if number in (INT4, UINT4) else
        values.astype(np.float32 if number == FLOAT else np.int8).tobytes(),
        number)


def node(*args, **attributes):
    nodes.append(proto.node(*args, **attributes))


def add_blocks(kind, m, turned):
    """A product by weights of m columns, stored as rows if turned, that are
    quantized in blocks. Two steps of the sum share a byte."""
    number = dtypes.TYPES[kind].code
    name = "%s_%d_" % (kind, m)
    rows = np.arange(K) // BLOCK
    w = wrapped(kind, random.integers(0, 16, (K, m)))
    zero = wrapped(kind, random.integers(0, 16, (3, m)))
    scale = random.integers(1, 9, (3, m)).astype(np.float32) / 8
    constant(name + "w", w.T if turned else w, number)
    constant(name + "zero", zero.T if turned else zero, number)
    constant(name + "scale", scale.T if turned else scale, FLOAT)
    node("DequantizeLinear", [name + "w", name + "scale", name + "zero"],
         [name + "real"], axis=int(turned), block_size=BLOCK)
    node("Gemm", ["x", name + "real"], [name + "y"], transB=int(turned))
    result(name + "y", x @ ((w - zero[rows]) * scale[rows]))
    return [K * m // 2, 2 * m, 3 * m * 4]


def add_channels():
    """A product by weights of which each column has a zero point."""
    w = random.integers(0, 16, (K, 48))
    zero = random.integers(0, 16, 48)
    scale = random.integers(1, 9, 48).astype(np.float32) / 8
    constant("chan_w", w, UINT4)
    constant("chan_zero", zero, UINT4)
    constant("chan_scale", scale, FLOAT)
    node("DequantizeLinear", ["chan_w", "chan_scale", "chan_zero"],
         ["chan_real"], axis=1)
    node("MatMul", ["x", "chan_real"], ["chan_y"])
    result("chan_y", x @ ((w - zero) * scale))
    return [K * 48 // 2]


def add_convolution():
    w = random.integers(0, 16, (5, 3, 3, 3))
    picture = random.integers(-4, 5, (1, 3, 6, 6)).astype(np.float32)
    zero = random.integers(0, 16, 5)
    scale = np.array([1, 2, 0.5, 0.25, 1], np.float32)
    given("picture", picture, FLOAT)
    constant("conv_w", w, UINT4)
    constant("conv_zero", zero, UINT4)
    constant("conv_scale", scale, FLOAT)
    node("DequantizeLinear", ["conv_w", "conv_scale", "conv_zero"],
         ["conv_real"], axis=0)
    node("Conv", ["picture", "conv_real"], ["conv_y"], pads=[1, 1, 1, 1])
    real = (w - zero[:, None, None, None]) * scale[:, None, None, None]
    result("conv_y", convolved(picture[0], real)[None])
    return [5 * 3 * 3 * 2]  # how the others are stored is open


def add_integers():
    """8 bits by 4, added up as integers."""
    w = random.integers(0, 16, (K, 3))
    constant("int_w", w, UINT4)
    constant("int_zero", np.array(8), UINT4)
    constant("one", np.array(1, np.float32), FLOAT)
    constant("wide", np.array(64, np.float32), FLOAT)
    constant("none", np.array(0, np.int8), INT8)
    node("QuantizeLinear", ["x", "one", "none"], ["x8"])
    node("DequantizeLinear", ["x8", "one", "none"], ["xr"])
    node("DequantizeLinear", ["int_w", "one", "int_zero"], ["int_real"])
    node("MatMul", ["xr", "int_real"], ["int_sum"])
    node("QuantizeLinear", ["int_sum", "wide", "none"], ["int_y"])
    result("int_y", np.clip(np.rint(x @ (w - 8) / 64), -128, 127), INT8)
    return [K * 3 // 2]


def add_movement():
    """Into 4 bits and out of them, by and between the model's own."""
    table = random.integers(-8, 8, (7, 3))
    u = random.integers(0, 16, (3, 5))
    index = np.array([6, 0, 3, 3], np.int64)
    given("u", u, UINT4)
    given("index", index, proto.INT64)
    constant("table", table, INT4)
    constant("quarter", np.array(0.25, np.float32), FLOAT)
    constant("two", np.array(2), INT4)
    node("Gather", ["table", "index"], ["row"])
    result("row", table[index], INT4)
    node("Transpose", ["u"], ["turned"], perm=[1, 0])
    node("Cast", ["turned"], ["turned_i4"], to=INT4)
    result("turned_i4", wrapped("int4", u.T), INT4)
    node("Cast", ["turned"], ["turned_real"], to=FLOAT)
    node("QuantizeLinear", ["turned_real", "quarter", "two"], ["u_i4"])
    node("DequantizeLinear", ["u_i4", "quarter", "two"], ["u_y"])
    result("u_y", (quantized(u.T, "int4", 0.25, 2) - 2) * 0.25)
    return [(7 * 3 + 1) // 2]


for kind in KINDS:
    for target in [t for t in targets if t != "c-openmp"]:
        try_operations(kind, target)

x = random.integers(-8, 9, (3, K)).astype(np.float32)
given("x", x, FLOAT)
stored = add_blocks("int4", 6, False) + add_blocks("uint4", 6, True) + \
    add_blocks("int4", 32, True) + add_blocks("uint4", 64, False) + \
    add_channels() + add_convolution() + add_integers() + add_movement()
model = os.path.join(folder, "nibbles.onnx")
with open(model, "wb") as file:
    file.write(proto.model(proto.graph(nodes, inputs, outputs, constants)))
sets = os.path.join(folder, "test_data_set_0")
os.mkdir(sets)
for what, tensors in (("input", data), ("output", want)):
    for i, tensor in enumerate(tensors.values()):
        with open(os.path.join(sets, "%s_%d.pb" % (what, i)), "wb") as file:
            file.write(tensor)
for target in targets:
    tirc("test", model, "--target", target)
tirc("test", model, "--target", "c99", "--form", "graph")
if has_dialect("cuda") and shutil.which("g++"):
    tirc("test", model, "--target", "cuda", "--cc", "g++", "--cflags",
         "-x c++ -std=c++14 -O1 -I%s -I%s" % (
             os.path.join(ROOT, "tests", "gpu"),
             os.path.join(ROOT, "tests", "gpu", "toolkit")))

out = compile_model(model, "--target", "c99-scalar", "-q", "--name", "m")
with open(os.path.join(out, "m.json")) as file:
    sizes = [w["bytes"] for w in json.load(file)["weights"]]
for one in stored:
    if one not in sizes:
        fail("no constant has %d bytes: %s" % (one, sizes))
    sizes.remove(one)

# As many weights as a vector has lanes come out of their bytes at once.
out = compile_model(model, "--target", "x86-64-v3", "-q", "--name", "m")
with open(os.path.join(out, "m.c")) as file:
    source = file.read()
for name, loads in (("i8", 2), ("u8", 3)):
    start = name + "x8_of_nibbles(*(const u8x8_any *)&"
    if source.count(start) < loads:
        fail("weights of 4 bits are taken out one by one:\n" + source)
print("%d operations of each type, and a model on %s" % (
    len(OPERATIONS), ", ".join(targets)))
