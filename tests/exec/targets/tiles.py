#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tiles.py plain|instructions

Convolutions and matrix products of the target x86-64-amx by tiles, against
sums of integers, and bfloat16 against sums of double: with strides, padding,
channels in blocks of 64 and 32, rows of more and less than half of a tile. As
plain C everywhere; with the instructions where this machine has them."""
import itertools
import os
import platform
import re
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper
import turns

# channels, results, size, kernel, stride; 0 for the size: a matrix product
CASES = [(64, 64, 28, 3, 1), (128, 32, 14, 3, 2), (32, 96, 20, 1, 1),
         (256, 64, 9, 1, 2), (192, 64, 7, 3, 1), (16, 32, 40, 3, 1),
         (256, 64, 0, 1, 1)]
BFLOAT16_CASES = [(64, 32, 14, 3, 1), (32, 64, 28, 1, 2), (128, 96, 0, 1, 1)]
TILES = ["-mamx-tile", "-mamx-int8", "-mamx-bf16"]
NEEDED = {"amx_tile", "amx_int8", "amx_bf16", "avx512_vnni"}
SCALES = 0.02, 0.01, 0.5
random = numpy.random.default_rng(3)


def sums(x, w, stride):
    """Of products, with a border of zeroes for kernels of more than a point."""
    border = w.shape[2] // 2
    x = numpy.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
    windows = numpy.lib.stride_tricks.sliding_window_view(
        x, w.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return numpy.einsum("nchwij,ocij->nohw", windows, w)


def quantized_model(case, folder):
    """x, stored in 8 bits, by w; the result in 8 bits too. What is stored on
    both sides is moved, so that the tensors between are in blocks."""
    channels, results, size, kernel, stride = case
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(numpy.asarray(array), name))
        return name

    zero = constant("zero", numpy.uint8(0))
    steps = [constant("s%d" % i, numpy.float32(v))
             for i, v in enumerate(SCALES)]
    if size:
        given = [1, channels, size, size]
        weights = random.integers(-127, 128, (results, channels, kernel,
                                              kernel)).astype(numpy.int8)
    else:
        given = [20, channels]
        weights = random.integers(-127, 128,
                                  (channels, results)).astype(numpy.int8)
    bias = random.integers(-5000, 5000, results).astype(numpy.int32)
    for kind, name in (("QuantizeLinear", "xq"), ("DequantizeLinear", "xd")):
        nodes.append(make.make_node(kind, [
            "x" if name == "xq" else "xq", steps[0], zero], [name]))
    nodes.append(make.make_node("DequantizeLinear", [
        constant("w", weights), steps[1],
        constant("wz", numpy.int8(0))], ["wd"]))
    nodes.append(make.make_node("DequantizeLinear", [
        constant("b", bias),
        constant("bs", numpy.float32(SCALES[0]) * numpy.float32(SCALES[1])),
        constant("bz", numpy.int32(0))], ["bd"]))
    if size:
        nodes.append(make.make_node(
            "Conv", ["xd", "wd", "bd"], ["c"], strides=[stride] * 2,
            pads=[kernel // 2] * 4))
    else:
        nodes.append(make.make_node("Gemm", ["xd", "wd", "bd"], ["c"]))
    nodes.append(make.make_node("Relu", ["c"], ["r"]))
    nodes.append(make.make_node("QuantizeLinear", ["r", steps[2], zero],
                                ["y"]))
    data = random.integers(0, 256, given)
    if size:
        total = sums(data, weights.astype(numpy.int64), stride)
        total += bias[None, :, None, None]
    else:
        total = data @ weights.astype(numpy.int64) + bias
    factor = float(numpy.float32(SCALES[0])) * \
        float(numpy.float32(SCALES[1])) / float(numpy.float32(SCALES[2]))
    wanted = numpy.clip(numpy.rint(total * factor), 0, 255)
    if len(set(wanted.flat)) < 50:
        helper.fail("the results say nothing")
    graph = make.make_graph(
        nodes, "tiles",
        [make.make_tensor_value_info("x", TensorProto.FLOAT, given)],
        [make.make_tensor_value_info("y", TensorProto.UINT8,
                                     list(wanted.shape))], constants)
    return save(graph, folder,
                (data * numpy.float32(SCALES[0])).astype(numpy.float32),
                wanted.astype(numpy.uint8))


def bfloat16(array):
    """The nearest bfloat16, as float."""
    bits = array.astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000
    return bits.astype(numpy.uint32).view(numpy.float32)


def bfloat16_tensor(name, array):
    bits = (array.view(numpy.uint32) >> 16).astype(numpy.uint16)
    return make.make_tensor(name, TensorProto.BFLOAT16, array.shape,
                            bits.tobytes(), raw=True)


def bfloat16_model(case, folder):
    """x by w, all of them bfloat16, with sums of float."""
    channels, results, size, kernel, stride = case
    shape = [1, channels, size, size] if size else [48, channels]
    x = bfloat16(random.standard_normal(shape))
    if size:
        w = bfloat16(
            random.standard_normal((results, channels, kernel, kernel)))
        y = sums(numpy.abs(x).astype(numpy.float64),
                 w.astype(numpy.float64), stride)
        nodes = [make.make_node("Abs", ["x"], ["a"]), make.make_node(
            "Conv", ["a", "w"], ["y"], strides=[stride] * 2,
            pads=[kernel // 2] * 4)]
    else:
        w = bfloat16(random.standard_normal((channels, results)))
        y = x.astype(numpy.float64) @ w.astype(numpy.float64)
        nodes = [make.make_node("MatMul", ["x", "w"], ["y"])]
    graph = make.make_graph(
        nodes, "tiles",
        [make.make_tensor_value_info("x", TensorProto.BFLOAT16, shape)],
        [make.make_tensor_value_info("y", TensorProto.BFLOAT16,
                                     list(y.shape))],
        [bfloat16_tensor("w", w)])
    return save(graph, folder, x, bfloat16(y), bfloat16_tensor)


def save(graph, folder, x, y, tensor=lambda n, a: numpy_helper.from_array(a)):
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 22)])
    model.ir_version = 10
    os.makedirs(os.path.join(folder, "test_data_set_0"))
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    for stem, array in (("input_0", x), ("output_0", y)):
        onnx.save_tensor(tensor(stem, array), os.path.join(
            folder, "test_data_set_0", stem + ".pb"))
    return path


def check(path, folder, instruction, cc):
    """Compiled without AMX and run; compiled without a warning, with or without it
    by turns."""
    target = ["--target", "x86-64-amx"]
    out = helper.compile_model(path, "--name", "m", *target)
    with open(os.path.join(out, "m.c"), encoding="utf-8") as file:
        if not re.search(instruction + r"\(\s*&", file.read()):
            helper.fail("%s: no %s" % (folder, instruction))
    both = [[], TILES][:1 + (platform.machine() == "x86_64")]
    for flags in turns.some(folder[-6:], both):
        helper.execute([cc, "-std=gnu11", "-O1", "-fopenmp-simd", *flags,
                        *helper.STRICT, "-I" + out, "-c",
                        os.path.join(out, "m.c"), "-o", os.devnull])
    helper.tirc("test", path, *target, "--cc", cc, "--cflags", "-O0")


def check_instructions(path, folder, instruction, cc):
    helper.tirc("test", path, "--target", "x86-64-amx", "--cc", cc)


if sys.argv[1] == "instructions":
    lacking = NEEDED - helper.processor_features()
    if lacking:
        helper.skip("this processor has no " + ", ".join(sorted(lacking)))
    check = check_instructions
top = helper.work_folder()
compilers = itertools.cycle(helper.compilers())
for number, one in enumerate(CASES):
    place = os.path.join(top, "int8_%d" % number)
    check(quantized_model(one, place), str(one), "tirc_amx_dot_u8s8",
          next(compilers))
for number, one in enumerate(BFLOAT16_CASES):
    place = os.path.join(top, "bf16_%d" % number)
    check(bfloat16_model(one, place), str(one), "tirc_amx_dot_bf16",
          next(compilers))
