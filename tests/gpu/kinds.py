# SPDX-License-Identifier: Apache-2.0
"""A model of small products of bfloat16 and of bytes, sizes that no tile divides:
what tensor cores compute of other types than half; and of casts to floats of 8
bits and back. All sums are exact, so that results are those of numpy, rounded
once."""
import numpy
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import shapes

# The second stores bfloat16 and computes in float.
TARGETS = ["cuda-sm80", "cuda"]
BFLOAT16, SIGNED, UNSIGNED = (
    "wmma_sync_16x16x16_" + name
    for name in ("bf16bf16f32", "s8s8s32", "u8u8s32"))
# The tensor intrinsic that the schedule of each output names.
SCHEDULES = {"bf16": BFLOAT16, "pairs": BFLOAT16, "signed": SIGNED,
             "unsigned": UNSIGNED, "scaled": SIGNED, "conv": SIGNED}


def bfloat16_tensor(name, array):
    """A tensor of numbers that bfloat16 represents."""
    bits = (array.astype(numpy.float32).view(numpy.uint32) >> 16).astype(
        numpy.uint16)
    return make.make_tensor(name, TensorProto.BFLOAT16, array.shape,
                            bits.tobytes(), raw=True)


def nearest_bfloat16(array):
    bits = array.astype(numpy.float32).view(numpy.uint32).astype(numpy.uint64)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000
    return bits.astype(numpy.uint32).view(numpy.float32)


class Model(shapes.Model):
    opset, ir_version = 19, 9  # that have floats of 8 bits

    def bfloat16(self, *shape):
        return self.random.integers(-8, 9, shape) / 8

    def given_bfloat16(self, name, *shape):
        value = self.bfloat16(*shape)
        self.inputs.append((name, bfloat16_tensor(name, value)))
        return value

    def gives_bfloat16(self, name, value):
        value = bfloat16_tensor(name, nearest_bfloat16(value))
        self.outputs.append((name, value))

    def bytes(self, kind, *shape):
        limits = numpy.iinfo(kind)
        return self.random.integers(limits.min, limits.max + 1, shape).astype(
            kind)

    def given_bytes(self, name, kind, *shape):
        value = self.bytes(kind, *shape)
        self.inputs.append((name, value))
        return value.astype(numpy.int64)

    def known(self, name, value):
        self.constants.append(numpy_helper.from_array(
            numpy.asarray(value), name))
        return name

    def scaled(self, kind, x, y, scale, zero):
        """y = QuantizeLinear or DequantizeLinear of x."""
        self.node(kind, " ".join([
            x, self.known(y + "_scale", numpy.float32(scale)),
            self.known(y + "_zero", zero)]), y)

    def gives_scaled(self, name, sums, scale, zero):
        stored = numpy.rint(sums * scale) + zero
        self.outputs.append((name, stored.clip(-128, 127).astype(numpy.int8)))


def bfloat16_products(m):
    x, w = m.given_bfloat16("xb", 40, 72), m.bfloat16(72, 24)
    m.constants.append(bfloat16_tensor("wb", w))
    m.node("MatMul", "xb wb", "tb")
    m.node("Relu", "tb", "bf16")
    m.gives_bfloat16("bf16", numpy.maximum(x @ w, 0))
    x, y = m.given_bfloat16("xp", 2, 20, 24), m.given_bfloat16("yp", 2, 24, 17)
    m.node("MatMul", "xp yp", "pairs")
    m.gives_bfloat16("pairs", x @ y)


def integers(m):
    for name, kind in (("signed", numpy.int8), ("unsigned", numpy.uint8)):
        x = m.given_bytes("x" + name, kind, 2, 20, 40)
        y = m.given_bytes("y" + name, kind, 2, 40, 17)
        m.node("MatMulInteger", "x%s y%s" % (name, name), name)
        m.outputs.append((name, (x @ y).astype(numpy.int32)))


def quantized(m):
    """A product with a bias; a convolution of unsigned data by signed weights, of
    which the target multiplies no such pairs."""
    sx, sw, sy = (numpy.float32(s) for s in (0.02, 0.013, 0.61))
    factor = numpy.float64(sx) * sw / sy
    x, w = m.given_bytes("xq", numpy.int8, 30, 40), m.bytes(numpy.int8, 40, 24)
    b = m.random.integers(-9000, 9000, 24).astype(numpy.int32)
    m.scaled("DequantizeLinear", "xq", "xd", sx, numpy.int8(5))
    m.scaled("DequantizeLinear", m.known("wq", w), "wd", sw, numpy.int8(0))
    m.scaled("DequantizeLinear", m.known("bq", b), "bd", sx * sw,
             numpy.int32(0))
    m.node("Gemm", "xd wd bd", "tq")
    m.scaled("QuantizeLinear", "tq", "scaled", sy, numpy.int8(-7))
    m.gives_scaled("scaled", (x - 5) @ w.astype(numpy.int64) + b, factor, -7)
    x, w = m.given("xc", 1, 5, 7, 7), m.bytes(numpy.int8, 20, 5, 3, 3)
    m.scaled("QuantizeLinear", "xc", "qc", sx, numpy.uint8(121))
    m.scaled("DequantizeLinear", "qc", "dc", sx, numpy.uint8(121))
    m.scaled("DequantizeLinear", m.known("wc", w), "vc", sw, numpy.int8(0))
    m.node("Conv", "dc vc", "tc", pads=[1, 1, 1, 1])
    m.scaled("QuantizeLinear", "tc", "conv", sy, numpy.int8(3))
    stored = numpy.rint(x.astype(numpy.float32) / sx).clip(-121, 134)
    m.gives_scaled("conv", shapes.convolve(stored, w.astype(float), 1), factor,
                   3)


def floats_of_bytes(m):
    """Of numbers that all four types hold."""
    x = m.random.integers(-7, 8, (5, 33)).astype(numpy.float32) / 4
    m.inputs += [("xs", x), ("hs", x.astype(numpy.float16))]
    for name in ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2",
                 "FLOAT8E5M2FNUZ"):
        kind = getattr(TensorProto, name)
        want = make.make_tensor(name, kind, x.shape, x.ravel())
        for given in ("xs", "hs"):
            output = "%s_of_%s" % (name, given)
            m.node("Cast", given, output, to=kind)
            m.outputs.append((output, want))
        m.node("Cast", name + "_of_hs", name + "_back", to=TensorProto.FLOAT)
        m.outputs.append((name + "_back", x))


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    bfloat16_products(m)
    integers(m)
    quantized(m)
    floats_of_bytes(m)
    return m.write(folder)
