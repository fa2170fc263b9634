#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Operators' definitions against onnxruntime: models of one node with random
shapes and attributes (the same in every run), each computed by evaluate_model
and by onnxruntime. An argument is part of an operator's name."""
import os
import subprocess
import sys
import tempfile

import helper

try:
    import numpy as np
    import onnx
    import exact
    from onnx import TensorProto, numpy_helper
    from onnx import helper as make
except ImportError as missing:
    helper.skip(str(missing))

from definitions import PROGRAM, difference

OPSET = 21


class Source:
    """Random numbers, shapes and attributes."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def number(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def flag(self):
        return bool(self.rng.integers(2))

    def choice(self, options):
        return options[self.number(0, len(options) - 1)]

    def shape(self, rank, high=5):
        return [self.number(1, high) for _ in range(rank)]

    def floats(self, shape, low=-2.0, high=2.0):
        return self.rng.uniform(low, high, shape).astype(np.float32)

    def ints(self, shape, dtype, low=-9, high=9):
        if np.issubdtype(dtype, np.unsignedinteger):
            low = 0
        return self.rng.integers(low, high + 1, shape).astype(dtype)

    def broadcast(self, shape):
        """A shape that broadcasts to the given one."""
        part = list(shape[self.number(0, len(shape)):])
        return [1 if self.number(0, 2) == 0 else n for n in part]


def window(s, rank):
    """A kernel's shape, and strides, pads, … to go with it."""
    kernel = [s.number(1, 3) for _ in range(rank)]
    dilation = [s.number(1, 2) for _ in range(rank)]
    attributes = {"strides": [s.number(1, 3) for _ in range(rank)],
                  "dilations": dilation}
    mode = s.choice(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER",
                     "VALID"])
    if mode == "NOTSET":
        attributes["pads"] = [s.number(0, k - 1) for k in kernel * 2]
    else:
        # onnxruntime's SAME with dilations differs between operators, and
        # it pads by negative amounts where windows leave gaps.
        attributes["dilations"] = [1] * rank
        attributes["strides"] = [s.number(1, k) for k in kernel]
        attributes["auto_pad"] = mode
    return kernel, attributes


def conv(s):
    rank = s.number(1, 3)
    kernel, attributes = window(s, rank)
    group = s.number(1, 3)
    per_group, out = s.number(1, 3), s.number(1, 3)
    if s.number(0, 3) == 0:
        per_group = 1
    x = [s.number(1, 2), group * per_group] + \
        [s.number(7, 9) for _ in range(rank)]
    inputs = [s.floats(x), s.floats([group * out, per_group] + kernel)]
    if s.flag():
        inputs.append(s.floats([group * out]))
    return inputs, dict(attributes, group=group)


def conv_transpose(s):
    rank = s.number(1, 3)
    kernel, attributes = window(s, rank)
    attributes.pop("auto_pad", None)
    group = s.number(1, 2)
    per_group, out = s.number(1, 3), s.number(1, 3)
    x = [s.number(1, 2), group * per_group] + \
        [s.number(3, 5) for _ in range(rank)]
    if s.flag():
        attributes["output_padding"] = [
            s.number(0, n - 1) for n in attributes["strides"]]
    inputs = [s.floats(x), s.floats([group * per_group, out] + kernel)]
    if s.flag():
        inputs.append(s.floats([group * out]))
    return inputs, dict(attributes, group=group)


def pool(s, extra=()):
    rank = s.number(1, 3)
    kernel, attributes = window(s, rank)
    attributes["kernel_shape"] = kernel
    if "auto_pad" not in attributes:
        attributes["ceil_mode"] = int(s.flag())
    for name in extra:
        attributes[name] = int(s.flag())
    x = s.shape(2, 3) + [s.number(6, 9) for _ in range(rank)]
    return [s.floats(x)], attributes


def lp_pool(s):
    inputs, attributes = pool(s)
    # onnxruntime does not pool what is only padding with ceil_mode.
    attributes.pop("ceil_mode", None)
    return inputs, dict(attributes, p=s.number(1, 3))


def global_pool(s):
    return [s.floats(s.shape(s.number(3, 5)))], {}


def gemm(s):
    m, n, k = s.shape(3)
    trans_a, trans_b = s.flag(), s.flag()
    inputs = [s.floats([k, m] if trans_a else [m, k]),
              s.floats([n, k] if trans_b else [k, n])]
    if s.flag():
        inputs.append(s.floats(s.choice([[n], [1, n], [m, 1], [m, n], [1],
                                         []])))
    attributes = {"transA": int(trans_a), "transB": int(trans_b)}
    if s.flag():
        attributes["alpha"] = 0.5
        attributes["beta"] = 0.25
    return inputs, attributes


def matmul(s):
    m, n, k = s.shape(3)
    batch = s.shape(s.number(0, 3), 3)
    a, b = s.broadcast(batch), s.broadcast(batch)
    a += [k] if not a and s.flag() else [m, k]
    b += [k] if not b and s.flag() else [k, n]
    return [s.floats(a), s.floats(b)], {}


def reduce(s):
    x = s.shape(s.number(1, 5))
    axes = [d - (len(x) if s.flag() else 0) for d in range(len(x))
            if s.flag()]
    inputs = [s.floats(x, 0.5, 2)]
    if axes or s.flag():
        inputs.append(np.array(axes, np.int64))
    return inputs, {"keepdims": int(s.flag()),
                    "noop_with_empty_axes": int(s.flag())}


def arg(s):
    x = s.shape(s.number(1, 4))
    values = s.ints(x, np.int32, 0, 3).astype(np.float32)
    return [values], {"axis": s.number(-len(x), len(x) - 1),
                      "keepdims": int(s.flag()),
                      "select_last_index": int(s.flag())}


def along_axis(s):
    x = s.shape(s.number(1, 4))
    return [s.floats(x)], {"axis": s.number(-len(x), len(x) - 1)}


def layer_norm(s):
    x = s.shape(s.number(1, 4))
    axis = s.number(0, len(x) - 1)
    inputs = [s.floats(x), s.floats(x[axis:])]
    if s.flag():
        inputs.append(s.floats(x[axis:]))
    return inputs, {"axis": axis - (len(x) if s.flag() else 0),
                    "epsilon": 1e-3}


def batch_norm(s):
    x = s.shape(s.number(2, 5))
    c = [x[1]]
    return [s.floats(x), s.floats(c), s.floats(c), s.floats(c),
            s.floats(c, 0.5, 2)], {"epsilon": 1e-3}


def instance_norm(s):
    x = s.shape(s.number(3, 5))
    c = [x[1]]
    return [s.floats(x), s.floats(c), s.floats(c)], {"epsilon": 1e-2}


def group_norm(s):
    groups = s.number(1, 3)
    x = s.shape(s.number(3, 5))
    x[1] = groups * s.number(1, 3)
    return [s.floats(x), s.floats([x[1]]), s.floats([x[1]])], {
        "num_groups": groups, "epsilon": 1e-2}


def lrn(s):
    return [s.floats(s.shape(4))], {"size": s.choice([1, 3, 5]),
                                    "alpha": 0.02, "beta": 0.6,
                                    "bias": 1.5}


def binary(s, dtypes=(np.float32,), low=-9, positive=False):
    x = s.shape(s.number(0, 4))
    a, b = s.broadcast(x), s.broadcast(x)
    dtype = s.choice(dtypes)
    if dtype is np.float32:
        return [s.floats(a, 0.1 if positive else -2),
                s.floats(b, 0.1 if positive else -2)], {}
    if dtype is bool:
        return [s.ints(a, np.int32, 0, 1).astype(bool),
                s.ints(b, np.int32, 0, 1).astype(bool)], {}
    divisor = s.ints(b, dtype, 1, 9)
    if not np.issubdtype(dtype, np.unsignedinteger):
        divisor *= s.choice([np.array(1, dtype), np.array(-1, dtype)])
    return [s.ints(a, dtype), divisor], {}


def arithmetic(s):
    return binary(s, (np.float32, np.float64, np.int32, np.int64))


def power(s):
    return binary(s, positive=True)


def remainder(s):
    inputs, _ = binary(s, (np.float32, np.int32, np.int64, np.int8,
                           np.uint8))
    return inputs, {"fmod": 1 if inputs[0].dtype == np.float32
                    else int(s.flag())}


def logic(s):
    return binary(s, (bool,))


def where(s):
    x = s.shape(s.number(0, 4))
    condition = s.ints(s.broadcast(x), np.int32, 0, 1).astype(bool)
    return [condition, s.floats(s.broadcast(x)), s.floats(s.broadcast(x))], {}


def variadic(s):
    x = s.shape(s.number(0, 4))
    return [s.floats(s.broadcast(x)) for _ in range(s.number(1, 4))], {}


def unary(s):
    return [s.floats(s.shape(s.number(0, 4)))], {}


def inside(s):
    return [s.floats(s.shape(s.number(0, 4)), -0.9, 0.9)], {}


def above_one(s):
    return [s.floats(s.shape(s.number(0, 4)), 1.1, 5)], {}


def alpha(s):
    return unary(s)[0], {"alpha": 0.3}


def gelu(s):
    return [s.floats(s.shape(3), -6, 6)], {
        "approximate": s.choice(["none", "tanh"])}


def clip(s):
    inputs = unary(s)[0] + [np.array(-0.5, np.float32)]
    return inputs + ([np.array(0.7, np.float32)] if s.flag() else []), {}


def cast(s):
    to = s.choice([TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8,
                   TensorProto.BOOL, TensorProto.FLOAT16, TensorProto.DOUBLE,
                   TensorProto.INT8])
    return [s.floats(s.shape(3), 0, 100)], {"to": to}


def quantize(s):
    x = s.shape(s.number(2, 4))
    dtype = s.choice([np.uint8, np.int8, np.int16, np.uint16])
    axis = s.number(0, len(x) - 1)
    of = [x[axis]] if s.flag() else []
    return [s.floats(x, -9, 9), s.floats(of, 0.05, 0.2),
            s.ints(of, dtype)], {"axis": axis}


def dequantize(s):
    inputs, attributes = quantize(s)
    zero = inputs[2]
    return [s.ints(inputs[0].shape, zero.dtype, -100, 100), inputs[1],
            zero], attributes


def matmul_integer(s):
    m, n, k = s.shape(3)
    a, b = s.choice([np.uint8, np.int8]), s.choice([np.uint8, np.int8])
    return [s.ints([m, k], a, -99, 99), s.ints([k, n], b, -99, 99),
            s.ints([], a), s.ints(s.choice([[], [n]]), b)], {}


CASES = {
    "Conv": (conv, 40), "ConvTranspose": (conv_transpose, 30),
    "MaxPool": (pool, 30), "LpPool": (lp_pool, 10),
    "AveragePool": (lambda s: pool(s, ["count_include_pad"]), 40),
    "GlobalAveragePool": (global_pool, 3), "GlobalMaxPool": (global_pool, 3),
    "GlobalLpPool": (global_pool, 3), "Gemm": (gemm, 20),
    "MatMul": (matmul, 20), "MatMulInteger": (matmul_integer, 5),
    "ArgMax": (arg, 8), "ArgMin": (arg, 8), "Softmax": (along_axis, 8),
    "LogSoftmax": (along_axis, 8), "Hardmax": (along_axis, 4),
    "LpNormalization": (along_axis, 4),
    "LayerNormalization": (layer_norm, 8),
    "BatchNormalization": (batch_norm, 4),
    "InstanceNormalization": (instance_norm, 4),
    "GroupNormalization": (group_norm, 6), "LRN": (lrn, 4),
    "Pow": (power, 4), "Mod": (remainder, 10), "And": (logic, 2),
    "Or": (logic, 2), "Xor": (logic, 2), "Where": (where, 6),
    "Equal": (arithmetic, 3), "Greater": (arithmetic, 3),
    "GreaterOrEqual": (arithmetic, 3), "Less": (arithmetic, 3),
    "LessOrEqual": (arithmetic, 3), "PRelu": (binary, 4), "Clip": (clip, 4), "Cast": (cast, 10),
    "Gelu": (gelu, 4), "LeakyRelu": (alpha, 2), "Elu": (alpha, 2),
    "Celu": (alpha, 2), "ThresholdedRelu": (alpha, 2),
    "HardSigmoid": (alpha, 2),
    "QuantizeLinear": (quantize, 10), "DequantizeLinear": (dequantize, 10),
    "Asin": (inside, 1), "Acos": (inside, 1), "Atanh": (inside, 1),
    "Acosh": (above_one, 1), "Log": (above_one, 1), "Sqrt": (above_one, 1),
}
for _name in ("Add", "Sub", "Mul", "Div"):
    CASES[_name] = (arithmetic, 6)
for _name in ("Min", "Max", "Sum", "Mean"):
    CASES[_name] = (variadic, 4)
for _name in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare",
              "LogSum", "LogSumExp"):
    CASES["Reduce" + _name] = (reduce, 8)
for _name in ("Abs Neg Sign Floor Ceil Round Reciprocal Exp Sin Cos Tan Atan "
              "Sinh Cosh Tanh Asinh Erf Relu Selu HardSwish Sigmoid Softplus "
              "Softsign Mish Shrink Identity IsNaN").split():
    CASES[_name] = (unary, 2)


def build(op, inputs, attributes):
    names = ["x%d" % i for i in range(len(inputs))]
    node = make.make_node(op, names, ["y"], **attributes)
    graph = make.make_graph(
        [node], op, [], [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(v, n) for v, n in zip(inputs, names)])
    model = make.make_model(graph, opset_imports=[make.make_opsetid(
        "", OPSET)], ir_version=10)
    # onnxruntime wants the output's type; shapes of pools with ceil_mode
    # differ between it and onnx.
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    known = inferred.graph.output[0].type.tensor_type.elem_type
    kind = known or make.np_dtype_to_tensor_dtype(inputs[0].dtype)
    del model.graph.output[:]
    model.graph.output.append(make.make_tensor_value_info("y", kind, None))
    return model


def compute(model, folder):
    """What evaluate_model gives, or its complaint as a text."""
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    done = subprocess.run([PROGRAM, path, folder], text=True,
                          capture_output=True, timeout=120)
    if done.returncode != 0:
        return "status %d: %s" % (done.returncode, done.stderr[-300:])
    with open(os.path.join(folder, "output_0.pb"), "rb") as file:
        result = onnx.TensorProto()
        result.ParseFromString(file.read())
    return numpy_helper.to_array(result)


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    made = failed = refused = 0
    with tempfile.TemporaryDirectory(prefix="tirc-ops-") as folder:
        for op in sorted(CASES):
            form, count = CASES[op]
            for seed in range(count if pattern in op else 0):
                inputs, attributes = form(Source(seed))
                try:
                    model = build(op, inputs, attributes)
                    want = exact.run(model)[0]
                except Exception as error:  # its own limits, not ours
                    refused += 1
                    if os.environ.get("VERBOSE"):
                        print(op, seed, attributes, str(error)[:200])
                    continue
                made += 1
                got = compute(model, folder)
                wrong = got if isinstance(got, str) else difference(
                    got, want, 1e-4, 1e-5)
                if wrong:
                    failed += 1
                    print("failed: %s, seed %d, %s, %s: %s" % (
                        op, seed, [list(v.shape) for v in inputs],
                        attributes, wrong))
    print("%d models, %d failed, %d that onnxruntime refuses" % (
        made, failed, refused))
    return 1 if failed or not made else 0


if __name__ == "__main__":
    sys.exit(main())
