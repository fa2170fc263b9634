# SPDX-License-Identifier: Apache-2.0
"""A model of products that groups of warps multiply where the operands lie in
shared memory: sizes that tiles divide, and that they do not, operands as they come
and turned, batches, a convolution and bytes; and one that is too narrow for such
tiles. Operands are copied as boxes where there are several tiles along the sum and
rows begin at multiples of 16 bytes."""
import kinds
import numpy
import shapes

TARGETS = ["cuda-sm90", "cuda-sm90"]
ARCHES = ["sm_90a"]
# Tiles as if there were many for each unit.
FACTS = " -units=1"
HALF, BFLOAT16, SIGNED, UNSIGNED = (
    "wgmma_sync_64x128x" + name
    for name in ("64_f16f16f32", "64_bf16bf16f32", "128_s8s8s32_trans",
                 "128_u8u8s32_trans"))
BOXES = "_swizzle128"
# The end of the tensor intrinsic that the schedule of each output names.
SCHEDULES = {
    "even": HALF + BOXES, "ends": HALF + BOXES, "odd": HALF,
    "across": HALF + "_trans", "turned": HALF + "_trans" + BOXES,
    "conv": HALF, "or_error": BFLOAT16, "pairs": BFLOAT16 + BOXES,
    "signed": SIGNED, "unsigned": UNSIGNED, "bytes": SIGNED + BOXES,
    "narrow": "wmma_sync_16x16x16_f16f16f32",
}
TEXTS = ["tensor tiles of 64 x 128, 64 at a time, 64 x 128 per group of",
         "tensor tiles of 256 x 128, 64 at a time, 128 x 128 per group of",
         "half (&rows)[2][8][257][8] =", "\tstruct tirc_wgmma_64x128 acc[2];",
         "\tif (tx == 0 && tz == 0) {\n\t\ttensor_copy_2d(&copies, &rows[0][0][0], ",
         "{ 3, { 2, 64, 128 }, { 8192, 128, 1 }, { 1, 64, 64 } }"]


class Model(kinds.Model):
    numbers = numpy.float16


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    for name, rows, summed, columns in (("even", 64, 192, 128),
                                        ("ends", 200, 184, 120),
                                        ("odd", 200, 100, 100),
                                        ("narrow", 64, 64, 40)):
        x, w = m.given("x" + name, rows, summed), \
            m.given("w" + name, summed, columns)
        m.node("MatMul", "x%s w%s" % (name, name), "t" + name)
        m.node("Relu", "t" + name, name)
        m.gives(name, numpy.maximum(x @ w, 0))
    for name, summed in (("across", 64), ("turned", 128)):
        x, y = m.given("x" + name, 2, 64, summed), m.given("y" + name, 2, 96, summed)
        m.node("Transpose", "y" + name, "t" + name, perm=[0, 2, 1])
        m.node("MatMul", "x%s t%s" % (name, name), name)
        m.gives(name, x @ y.transpose(0, 2, 1))
    x, w = m.given("xc", 1, 16, 10, 10), m.given("wc", 64, 16, 3, 3)
    m.node("Conv", "xc wc", "conv", pads=[1, 1, 1, 1])
    m.gives("conv", shapes.convolve(x, w, 1))
    # The first is called as a function of the emitted file is.
    for name, summed in (("or_error", 64), ("pairs", 128)):
        x = m.given_bfloat16("x" + name, 2, 64, summed)
        y = m.given_bfloat16("y" + name, 2, summed, 120)
        m.node("MatMul", "x%s y%s" % (name, name), name)
        m.gives_bfloat16(name, x @ y)
    for name, kind, rows, summed in (("signed", numpy.int8, 60, 200),
                                     ("unsigned", numpy.uint8, 60, 200),
                                     ("bytes", numpy.int8, 64, 256)):
        x, w = m.given_bytes("x" + name, kind, rows, summed), \
            m.bytes(kind, summed, 120)
        m.node("MatMulInteger", "x%s %s" % (name, m.known("w" + name, w)), name)
        m.outputs.append((name, (x @ w.astype(numpy.int64)).astype(
            numpy.int32)))
    return m.write(folder)
