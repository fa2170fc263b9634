#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""relay.py [PATTERN]: modules of Relay as text, by `tirc test` against numpy: operators,
tuples, functions, branches, constants, layouts; what is refused."""
import base64
import json
import os
import struct
import sys

import numpy as np

import turns
from helper import compile_model, fail, results_alone, tirc, work_folder
from onnx_data import write_data

results_alone()

PATTERN = sys.argv[1] if len(sys.argv) > 1 else ""
random = np.random.default_rng(5)


def f(*shape):
    return random.standard_normal(shape).astype("float32")


def i8(*shape):
    return random.integers(-128, 128, shape).astype("int8")


def type_of(x):
    shape = "(%s)" % ", ".join(map(str, x.shape)) if x.ndim != 1 else "(%d,)" % x.shape[0]
    return "Tensor[%s, %s]" % (shape, x.dtype) if x.ndim else str(x.dtype)


def module(inputs, body, before="", after=""):
    return "#[version = \"0.0.5\"]\n%sdef @main(%s) {\n%s\n}\n%s" % (
        before, ", ".join("%%x%d: %s /* span=aa */" % (k, type_of(x))
                          for k, x in enumerate(inputs)), body, after)


def save(text):
    path = os.path.join(work_folder(), "net.relay")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def check(label, body, inputs, *want, **around):
    if PATTERN not in label + body:
        return
    path = save(module(inputs, body, **around))
    names = ["output"] if len(want) == 1 else ["output_%d" % k for k in range(len(want))]
    write_data(os.path.dirname(path), [("x%d" % k, x) for k, x in enumerate(inputs)],
               [(n, np.asarray(y)) for n, y in zip(names, want)])
    tirc("test", path, "--rtol", "1e-4", "--atol", "1e-5", status=0)


def refuse(body, inputs, says, **around):
    if PATTERN not in body:
        return
    path = save(module(inputs, body, **around))
    done = tirc("compile", path, "-o", os.path.join(work_folder(), "o"), status=1)
    if says not in done.stderr or done.stderr.count("error: ") != 1:
        fail("%s: not '%s' but\n%s" % (body, says, done.stderr))


# -- element by element

x, y = f(2, 3, 4), f(2, 3, 4)
for text, want in (
        ("rsqrt(abs(%x0))", 1 / np.sqrt(np.abs(x))), ("trunc(multiply(%x0, 3f))", np.trunc(x * 3)),
        ("log2(abs(%x0))", np.log2(np.abs(x))), ("log10(abs(%x0))", np.log10(np.abs(x))),
        ("nn.leaky_relu(%x0)", np.where(x < 0, x * .25, x)),
        ("nn.leaky_relu(%x0, alpha=2)", np.where(x < 0, x * 2, x)),
        ("clip(%x0, a_min=-0.5f, a_max=1f)", np.clip(x, -.5, 1)),
        ("subtract(%x0, %x1)", x - y), ("minimum(%x0, 0.25f)", np.minimum(x, .25)),
        ("mod(%x0, 0.5f)", np.fmod(x, np.float32(.5))),
        ("floor_mod(%x0, 0.5f)", np.mod(x, np.float32(.5))),
        ("floor_divide(%x0, 0.5f)", np.floor_divide(x, np.float32(.5))),
        ("cast(not_equal(%x0, %x0), dtype=\"int32\")", np.zeros(x.shape, "int32")),
        ("cast(isfinite(divide(%x0, 0f)), dtype=\"int8\")", np.zeros(x.shape, "int8")),
        ("where(greater(%x0, 0f), %x0, %x1)", np.where(x > 0, x, y)),
        ("power(abs(%x0), 0.5f)", np.abs(x) ** .5)):
    check("", text, [x, y] if "x1" in text else [x], want.astype(want.dtype))
n = random.integers(-20, 20, (3, 5)).astype("int32")
d = np.where(random.integers(0, 2, (3, 5)), 3, -4).astype("int32")
for text, want in (("divide(%x0, %x1)", (n / d).astype("int32")),
                   ("mod(%x0, %x1)", np.fmod(n, d)), ("floor_mod(%x0, %x1)", n % d),
                   ("floor_divide(%x0, %x1)", n // d)):
    check("integers", text, [n, d], want.astype("int32"))

# -- shapes

for text, want in (
        ("reshape(%x0, newshape=[0, -1])", x.reshape(2, 12)),
        ("reshape(%x0, newshape=[-3, 0])", x.reshape(6, 4)),
        ("reshape(%x0, newshape=[0, -2])", x),
        ("reshape(%x0, newshape=[0, 0, -4, 2, -1])", x.reshape(2, 3, 2, 2)),
        ("squeeze(expand_dims(%x0, axis=1, num_newaxis=2), axis=[1])", x.reshape(2, 1, 3, 4)),
        ("expand_dims(%x0, axis=-1)", x[..., None]), ("transpose(%x0)", x.transpose()),
        ("transpose(%x0, axes=[0, 2, 1])", x.transpose(0, 2, 1)),
        ("reverse(%x0, axis=1)", x[:, ::-1]),
        ("layout_transform(%x0, src_layout=\"NWC\", dst_layout=\"NCW\")", x.transpose(0, 2, 1)),
        ("broadcast_to(%x0, shape=[5, 2, 3, 4])", np.broadcast_to(x, (5, 2, 3, 4))),
        ("add(full(0.5f, shape=[3, 1]), %x0)", x + np.float32(.5)),
        ("tile(%x0, reps=[2, 1])", np.tile(x, (2, 1))),
        ("tile(%x0, reps=[2, 1, 1, 2])", np.tile(x, (2, 1, 1, 2))),
        ("repeat(%x0, repeats=3, axis=-2)", np.repeat(x, 3, -2)),
        ("nn.batch_flatten(%x0)", x.reshape(2, 12)),
        ("strided_slice(%x0, begin=[0, 1], end=[2, 3], strides=[1])", x[0:2, 1:3]),
        ("strided_slice(%x0, begin=[1, -1], end=[-1, 2], slice_mode=\"size\", axes=[1, 2])",
         x[:, 1:, 3:5]),
        ("strided_slice(%x0, begin=[3], end=[0], strides=[-2], axes=[2])", x[..., 3:0:-2]),
        ("nn.pad(%x0, 2f, pad_width=[[0, 0], [1, 2], [0, 1]])",
         np.pad(x, ((0, 0), (1, 2), (0, 1)), constant_values=2)),
        ("nn.pad(%x0, 2, pad_width=[[0, 0], [1, 0], [0, 0]])",
         np.pad(x, ((0, 0), (1, 0), (0, 0)), constant_values=2)),
        ("nn.pad(%x0, 0f, pad_width=[[0, 0], [1, 1], [2, 2]], pad_mode=\"reflect\")",
         np.pad(x, ((0, 0), (1, 1), (2, 2)), "reflect")),
        ("collapse_sum_to(%x0, shape=[3, 1])", x.sum((0, 2)).reshape(3, 1))):
    check("shapes", text, [x], want)
at = np.array([[2, 0], [9, -3]], "int32")
check("take", "take(%x0, %x1, axis=1)", [x, at], x.take(at, 1, mode="clip"))
check("take wrap", "take(%x0, %x1, axis=1, mode=\"wrap\")", [x, at], x.take(at, 1, mode="wrap"))
check("take flat", "take(%x0, %x1)", [x, at], x.take(at, mode="clip"))
positions = np.array([[1, 0, 1], [2, 1, 0]], "int64")
check("gather_nd", "gather_nd(%x0, %x1)", [x, positions], x[positions[0], positions[1]])
check("one_hot", "one_hot(%x0, 2f, -1f, depth=4, axis=-1, dtype=\"float32\")",
      [np.array([1, 3, 0], "int32")],
      np.where(np.eye(4)[[1, 3, 0]] > 0, 2, -1).astype("float32"))
check("arange", "arange(1f, 4f, 0.5f, dtype=\"float32\")",
      [], np.arange(1, 4, .5, dtype="float32"))

# -- reductions and orders

for text, want in (
        ("sum(%x0, axis=[0, -1])", x.sum((0, 2))), ("mean(%x0, axis=[1], keepdims=True)",
                                                    x.mean(1, keepdims=True)),
        ("max(%x0)", x.max()), ("min(%x0, axis=1, exclude=True)", x.min((0, 2))),
        ("prod(%x0, axis=[2])", x.prod(2)),
        ("variance(%x0, mean(%x0, axis=[1], keepdims=True), axis=[1])", x.var(1)),
        ("cast(any(greater(%x0, 1f), axis=[2]), dtype=\"int8\")", (x > 1).any(2).astype("int8")),
        ("argmax(%x0, axis=[1])", x.argmax(1).astype("int32")),
        ("argmin(%x0, axis=-1, keepdims=True)", x.argmin(-1, keepdims=True).astype("int32")),
        ("argmax(%x0)", np.int32(x.argmax())),
        ("cumprod(%x0, axis=1)", x.cumprod(1)),
        ("cumsum(%x0, axis=1)", x.cumsum(1)), ("cumsum(%x0)", x.cumsum()), ("sort(%x0, axis=1)", np.sort(x, 1)),
        ("argsort(%x0, axis=2, is_ascend=False)", np.argsort(-x, 2).astype("int32"))):
    check("reductions", text, [x], want)
check("topk", "%0 = topk(%x0, k=2, axis=-1);\n(%0.1, %0.0)", [x],
      np.argsort(-x, -1)[..., :2].astype("int32"), -np.sort(-x, -1)[..., :2])

# -- products, convolutions, pools


def conv(x, w, stride=1, pad=0, groups=1):
    x = np.pad(x.astype("float64"), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    o, c, kh, kw = w.shape
    h, v = (x.shape[2] - kh) // stride + 1, (x.shape[3] - kw) // stride + 1
    y = np.zeros((x.shape[0], o, h, v))
    for k in range(o):
        g = k // (o // groups) * c
        for i in range(h):
            for j in range(v):
                part = x[:, g:g + c, i * stride:i * stride + kh, j * stride:j * stride + kw]
                y[:, k, i, j] = (part * w[k]).sum((1, 2, 3))
    return y


a, b = f(3, 5), f(7, 5)
check("dense", "nn.dense(%x0, %x1, units=7)", [a, b], a @ b.T)
p, q = i8(3, 5), i8(7, 5)
check("dense of bytes", "nn.dense(%x0, %x1, units=None, out_dtype=\"int32\")", [p, q],
      p.astype("int32") @ q.astype("int32").T)
check("batch", "nn.batch_matmul(%x0, %x1, transpose_b=True)", [x, y], x @ y.transpose(0, 2, 1))
image, w = f(1, 4, 7, 6), f(6, 4, 3, 3)
for text, inputs, want in (
        ("padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]", [image, w], conv(image, w, 1, 1)),
        ("strides=[2, 2], padding=[1, 1]", [image, w], conv(image, w, 2, 1)),
        ("padding=[0, 1, 2, 1]", [np.pad(image, ((0, 0), (0, 0), (0, 0), (0, 0))), w],
         conv(np.pad(image, ((0, 0), (0, 0), (0, 2), (1, 1))), w)),
        ("groups=2", [image, w[:, :2]], conv(image, w[:, :2], groups=2)),
        ("groups=4, channels=8", [image, f(4, 2, 3, 3)], None),
        ("data_layout=\"NHWC\", kernel_layout=\"HWIO\"",
         [image.transpose(0, 2, 3, 1).copy(), w.transpose(2, 3, 1, 0).copy()],
         conv(image, w).transpose(0, 2, 3, 1)),
        ("data_layout=\"NHWC\", kernel_layout=\"HWOI\", groups=4",
         [image.transpose(0, 2, 3, 1).copy(), w[:4, :1].transpose(2, 3, 0, 1).copy()],
         conv(image, w[:4, :1], groups=4).transpose(0, 2, 3, 1))):
    if want is None:
        want = conv(image, inputs[1].reshape(8, 1, 3, 3), groups=4)
    check("conv", "nn.conv2d(%%x0, %%x1, %s)" % text, inputs, want.astype("float32"))
m, k = i8(1, 2, 5, 5), i8(3, 2, 3, 3)
check("conv of bytes", "nn.conv2d(%x0, %x1, out_dtype=\"int32\")", [m, k],
      conv(m, k.astype("float64")).astype("int32"))
bias = f(4)
check("bias", "nn.bias_add(%x0, %x1)", [image, bias], image + bias[:, None, None])
square = f(1, 2, 6, 6)
pools = square.reshape(1, 2, 3, 2, 3, 2)
for text, want in (
        ("nn.max_pool2d(%x0, pool_size=[2, 2], strides=[2, 2])", pools.max((3, 5))),
        ("nn.avg_pool2d(%x0, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])",
         pools.mean((3, 5))),
        ("nn.global_avg_pool2d(%x0)", square.mean((2, 3), keepdims=True)),
        ("nn.adaptive_avg_pool2d(%x0, output_size=[3, 3])", pools.mean((3, 5))),
        ("nn.adaptive_max_pool2d(%x0, output_size=[1])", square.max((2, 3), keepdims=True)),
        ("nn.max_pool2d(%x0, pool_size=[3, 3], strides=[4, 4], ceil_mode=True)",
         np.array([[[[square[0, c, i:i + 3, j:j + 3].max() for j in (0, 4)] for i in (0, 4)]
                    for c in range(2)]])),
        ("nn.upsampling(%x0, scale_h=2f, scale_w=2f)", square.repeat(2, 2).repeat(2, 3)),
        ("image.resize2d(%x0, size=[3, 3], method=\"nearest_neighbor\", "
         "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\")",
         square[:, :, ::2, ::2]),
        ("nn.space_to_depth(%x0, block_size=2)",
         pools.transpose(0, 3, 5, 1, 2, 4).reshape(1, 8, 3, 3))):
    check("pools", text, [square], want.astype("float32"))

# -- normalizations

e = np.exp(x - x.max(1, keepdims=True))
check("softmax", "nn.softmax(%x0, axis=1)", [x], e / e.sum(1, keepdims=True))
check("l2", "nn.l2_normalize(%x0, eps=1e-05f, axis=[1])", [x],
      x / np.sqrt(np.maximum((x * x).sum(1, keepdims=True), 1e-5)))
g, c, mean, var = f(4), f(4), f(4), np.abs(f(4)) + .5
across = (image - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
check("batch_norm", "%0 = nn.batch_norm(%x0, %x1, %x2, %x3, %x4);\n%0.0",
      [image, g, c, mean, var], across * g[:, None, None] + c[:, None, None])
check("batch_norm without scale", "%0 = nn.batch_norm(%x0, %x1, %x2, %x3, %x4, scale=False);\n%0.0",
      [image, g, c, mean, var], across + c[:, None, None])
last = x.reshape(2, 3, 4)
check("batch_norm of the last axis", "%0 = nn.batch_norm(%x0, %x1, %x2, %x3, %x4, axis=2);\n%0.0",
      [last, g, c, mean, var], (last - mean) / np.sqrt(var + 1e-5) * g + c)
check("dropout", "%0 = nn.dropout(%x0, rate=0.3f);\nnn.relu(%0.0)", [x], np.maximum(x, 0))
row = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
check("layer_norm", "nn.layer_norm(%x0, %x1, %x2)", [x, g, c], row * g + c)
column = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
check("layer_norm along", "nn.layer_norm(%x0, %x1, %x2, axis=1)", [x, g[:3], c[:3]],
      column * g[:3, None] + c[:3, None])

# -- quantized

bytes_ = i8(2, 6)
check("dequantize", "qnn.dequantize(%x0, 0.25f, 3)", [bytes_],
      (bytes_.astype("float32") - 3) * .25)
check("quantize", "qnn.quantize(%x0, 0.5f, 2, out_dtype=\"uint8\")", [x],
      np.clip(np.rint(x / .5) + 2, 0, 255).astype("uint8"))
sums = random.integers(-9999, 9999, (3, 4)).astype("int32")
check("requantize", "qnn.requantize(%x0, 0.01f, 0, 0.5f, 4, out_dtype=\"int8\")", [sums],
      np.clip(np.rint((sums * np.float32(.01)) / np.float32(.5)) + 4, -128, 127).astype("int8"))
check("qnn.conv2d", "qnn.conv2d(%x0, %x1, 5, 0, 0.1f, 0.2f, padding=[1, 1, 1, 1], channels=3, "
      "kernel_size=[3, 3], out_dtype=\"int32\")", [m, k],
      conv(m.astype("float64") - 5, k.astype("float64"), 1, 1).astype("int32"))
check("qnn.add", "qnn.add(%x0, %x0, 0.5f, 1, 0.5f, 1, 1f, 0)", [bytes_],
      np.clip(bytes_.astype("int32") - 1, -128, 127).astype("int8"))
check("qnn.concatenate", "qnn.concatenate((%x0, %x0), (0.5f, 1f), (0, 0), 1f, 0, axis=1)",
      [bytes_], np.concatenate([np.rint(bytes_ * .5), bytes_], 1).astype("int8"))

# -- tuples, functions, branches, names

check("concatenate", "concatenate((%x0, %x1), axis=1)", [x, y], np.concatenate([x, y], 1))
check("stack", "stack((%x0, %x1), axis=-1)", [x, y], np.stack([x, y], -1))
check("split", "%0 = split(%x0, indices_or_sections=2, axis=2);\n(%0.1, %0.0)", [x],
      x[..., 2:], x[..., :2])
check("split at", "split(%x0, indices_or_sections=[1, 3], axis=2)", [x],
      x[..., :1], x[..., 1:3], x[..., 3:])
check("let", "let %a: Tensor[(2, 3, 4), float32] = nn.relu(%x0);\nlet %b = add(%a, %a);\n(%b, (%a,))",
      [x], 2 * np.maximum(x, 0), np.maximum(x, 0))
check("functions", "%1 = fn (%p: Tensor[(2, 3, 4), float32], Primitive=1, hash=\"ab\") -> "
      "(Tensor[(2, 3, 4), float32], Tensor[(2, 3, 4), float32]) {\n  (abs(%p), sign(%p))\n};\n"
      "%2 = %1(%x0);\n%3 = @twice(%2.0);\n(%3, %2.1)", [x], np.abs(x) * 2, np.sign(x),
      before="def @twice(%q: Tensor[(2, 3, 4), float32], Compiler=\"dnnl\", Primitive=1) -> "
      "Tensor[(2, 3, 4), float32] {\n  add(%q, %q)\n}\n")
check("if", "if (%x1) {\n  %0 = add(%x0, 1f);\n  multiply(%0, 2f)\n} else {\n  %x0\n}",
      [x, np.array(True)], (x + 1) * 2)
check("scopes", "let %a = nn.relu(%x0);\nlet %b = {\n  let %a = negative(%x0);\n  %a\n};\n(%a, %b)",
      [x], np.maximum(x, 0), -x)
check("if of tuples", "%0 = if (%x1) {\n  (%x0, abs(%x0))\n} else {\n  (%x0, %x0)\n};\n%0.1",
      [x, np.array(True)], np.abs(x))
check("names", "%conv1.weight = add(%x0, 1f);\n%a.0 = multiply(%conv1.weight, %x0);\n%a.0", [x],
      (x + 1) * x)
check("annotations", "%0 = annotation.compiler_begin(%x0, compiler=\"dnnl\");\n"
      "annotation.compiler_end(nn.relu(%0), compiler=\"dnnl\")", [x], np.maximum(x, 0))

# -- constants behind the functions


def metadata(*arrays):
    nodes = [{"type_key": ""},
             {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
             {"type_key": "Array", "data": [3 + k for k in range(len(arrays))]}]
    texts = []
    for k, a in enumerate(arrays):
        nodes.append({"type_key": "relay.Constant", "attrs": {
            "_checked_type_": "0", "data": str(k), "span": "0", "virtual_device_": "0"}})
        code = {"f": 2, "i": 0, "u": 1, "b": 1}[a.dtype.kind]
        bits = 1 if a.dtype == bool else 8 * a.dtype.itemsize
        texts.append(base64.b64encode(
            struct.pack("<QQiii", 0xDD5E40F096B4A13F, 0, 1, 0, a.ndim) +
            struct.pack("<BBH", code, bits, 1) + struct.pack("<%dq" % a.ndim, *a.shape) +
            struct.pack("<q", a.nbytes) + a.tobytes()).decode())
    return "\n#[metadata]\n" + json.dumps({
        "root": 1, "nodes": nodes, "b64ndarrays": texts,
        "attrs": {"tvm_version": "0.14.0"}}, indent=2) + "\n"


check("constants", "%0 = add(%x0, meta[relay.Constant][1] /* ty=float32 */);\n"
      "take(%0, meta[relay.Constant][0], axis=2)", [x], (x + y).take([3, 1], 2),
      after=metadata(np.array([3, 1], "int64"), y))
for text in (metadata(y)[:-200], metadata(y).replace("P6G0", "P6G1"),
             metadata(y).replace('"data": "0"', '"data": "7"'),
             metadata(y).replace('"root": 1', '"root": 70')):
    refuse("add(%x0, meta[relay.Constant][0])", [x], "net.relay:", after=text)
refuse("meta[relay.Constant][0]", [x], "print the module with show_meta_data=True")

# -- what is refused, with its place

for text, says in (
        ("nn.unheard_of(%x0)", "tvm.relay.nn_unheard_of is not supported"),
        ("nn.relu(%x0, slope=1f)", "does not have the attribute 'slope'"),
        ("nn.softmax(%x0, axis=[1])", "the attribute 'axis' is of another kind"),
        ("add(%x0, %y)", "net.relay:3:10: %y is not known here"),
        ("add(%x0", "net.relay:4:1: ')' is expected here"),
        ("%0 = add(%x0, %x0)\n%0", "';' is expected here"),
        ("%x0.1", "this has no item 1; it is a tensor"),
        ("concatenate(%x0)", "argument 1 of concatenate is a tuple of tensors"),
        ("@main(%x0)", "recursion is not supported"),
        ("%0 = fn (%a) {\n  add(%a, %x0)\n};\n%0(%x0)", "%x0 is not known here"),
        ("match (%x0) {}", "'match' is not supported here"),
        ("add(%x0, 1f16f)", "net.relay:3:"), ("\"a\"", "an expression is expected"),
        ("add(%x0, 99999999999999999999)", "is no number of 64 bits"),
        ("(" * 100 + "%x0" + ")" * 100, "nested more than 64 deep"),
        ("nn.conv2d(%x0, %x0, data_layout=\"NCHW4c\")", "the layout 'NCHW4c' is not supported"),
        ("split(%x0, indices_or_sections=99999)", "split has from 1 to 4096 results"),
        ("let nn.relu(%x0)", "a name is expected here: let"),
        ("let %a = %(%x0);\n%a", "a name follows %"),
        ("mean(%x0, axis=[3])", "an axis is outside of the 3 dimensions"),
        ("repeat(%x0, axis=-4)", "copies along axis -4 of 3 dimensions"),
        ("\n".join(["%0 = (%x0,);"] + ["%%%d = (%%%d,);" % (k, k - 1) for k in range(1, 70)] +
                   ["%x0"]), "tuples in more than 64 tuples"),
        ("\n".join(["%0 = (%x0,);"] + ["%%%d = (%%%d, %%%d);" % (k, k - 1, k - 1)
                                       for k in range(1, 60)] + ["%x0"]),
         "a tuple of more than 16384 tensors"),
        ("%0 = fn (%a) {\n  ((%a, %a), %a)\n};\n%0(%x0).1", "tuples in tuples are not supported"),
        ("if (True) {\n  (%x0,)\n} else {\n  %x0\n}", "its branches have results alike"),
        ("add(%x0, cast(3000000000, dtype=\"float32\"))", "does not fit the type int32"),
        ("add(%x0, cast(300i8, dtype=\"float32\"))", "does not fit the type int8"),
        ("add((%x0, %x0))", "argument 1 of add is a tuple, not a tensor"),
        ("concatenate((%x0, %x0), axes=1)", "does not have the attribute 'axes'"),
        ("stack((%x0, %x0), axis=[1])", "the axis of stack is an integer"),
        ("concatenate((%x0, %x0), %x0)", "takes one argument, a tuple"),
        ("()", "main has no result")):
    refuse(text, [x], says)

# A module without a function main, and one whose parameter has no type.
for text, says in (("def @other(%x: float32) {\n  %x\n}\n", "has no function @main"),
                   ("def @main(%x) {\n  %x\n}\n", "has the type of a tensor"),
                   ("def @main(%x: Tensor[(2), float33]) {\n  %x\n}\n", "a type of elements"),
                   ("#[version = \"0.0.5\"", "']' is expected here")):
    done = tirc("compile", save(text), "-o", os.path.join(work_folder(), "o"), status=1)
    if says not in done.stderr or done.stderr.count("error: ") != 1:
        fail(done.stderr)
