# SPDX-License-Identifier: Apache-2.0
"""Models that a program builds of Relay's expressions: what each operator computes, by
NumPy."""
import numpy as np
import tvm
from tvm import relay
from tvm.contrib import graph_executor
from tvm.relay import nn

np.random.seed(3)


def array(*shape):
    return np.random.uniform(-2, 2, shape).astype("float32")


def var_of(name, value):
    return relay.var(name, shape=value.shape, dtype=str(value.dtype))


def results(expr, **inputs):
    """The results of an expression of the variables that the inputs name."""
    mod = tvm.IRModule.from_expr(relay.Function(relay.analysis.free_vars(expr), expr))
    lib = relay.build(mod, target="llvm")
    model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    model.set_input(**inputs)
    model.run()
    return [model.get_output(i).numpy() for i in range(model.get_num_outputs())]


def check(label, expr, want, **inputs):
    got = results(expr, **inputs)[0]
    want = np.asarray(want)
    assert got.shape == want.shape, (label, got.shape, want.shape)
    assert str(got.dtype) == str(want.dtype), (label, got.dtype, want.dtype)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


a, b = array(2, 3, 4), array(2, 3, 4)
x, y = var_of("x", a), var_of("y", b)
f32 = lambda v: np.asarray(v, "float32")

# Operators of Python.
for label, expr, want in (
        ("sum", x + y, a + b), ("difference", x - y, a - b), ("product", x * y, a * b),
        ("quotient", x / y, a / b), ("negative", -x, -a), ("call", relay.add(x, rhs=x), a + a),
        ("number", relay.const(2.0) * x - relay.const(1, "float32"), 2 * a - 1),
        ("less", (x < y).astype("int8"), (a < b).astype("int8")),
        ("not less", (x >= y).astype("int8"), (a >= b).astype("int8")),
        ("equal", relay.cast(relay.equal(x, x), "int32"), np.ones(a.shape, "int32")),
        ("chosen", relay.where(x > y, x, y), np.maximum(a, b))):
    inputs = {"x": a, "y": b}
    names = [v.name_hint for v in relay.analysis.free_vars(expr)]
    check(label, expr, want, **{name: inputs[name] for name in names})

# One argument.
for label, expr, want in (
        ("relu", nn.relu(x), np.maximum(a, 0)), ("exp", relay.exp(x), np.exp(a)),
        ("leaky", nn.leaky_relu(x), np.where(a < 0, a * f32(.01), a)),
        ("clip", relay.clip(x, -1, 0.5), np.clip(a, -1, .5)),
        ("reshape", relay.reshape(x, (0, -1)), a.reshape(2, 12)),
        ("transpose", relay.transpose(x), a.transpose()),
        ("axes", relay.transpose(x, axes=(1, 0, 2)), a.transpose((1, 0, 2))),
        ("squeeze", relay.squeeze(relay.expand_dims(x, 1, 2), [1]), a.reshape(2, 1, 3, 4)),
        ("slice", relay.strided_slice(x, [0, 1], [2, 3]), a[0:2, 1:3]),
        ("steps", relay.strided_slice(x, begin=[0], end=[4], strides=[2], axes=[2]),
         a[:, :, 0:4:2]),
        ("sum", relay.sum(x, axis=(0, 2)), a.sum((0, 2))),
        ("mean", relay.mean(x, 1, keepdims=True), a.mean(1, keepdims=True)),
        ("max", relay.max(x), f32(a.max())),
        ("variance", relay.variance(x, axis=[1]), a.var(1)),
        ("std", relay.std(x, axis=2), a.std(2)),
        ("argmax", relay.argmax(x, axis=2), np.argmax(a, 2).astype("int32")),
        ("softmax", nn.softmax(x), np.exp(a) / np.exp(a).sum(-1, keepdims=True)),
        ("pad", nn.pad(x, ((0, 0), (1, 0), (0, 2)), 3.0),
         np.pad(a, ((0, 0), (1, 0), (0, 2)), constant_values=3)),
        ("concatenate", relay.concatenate([x, relay.abs(x)], axis=1),
         np.concatenate([a, np.abs(a)], 1)),
        ("stack", relay.stack((x, x), 0), np.stack([a, a])),
        ("zeros", relay.zeros((2, 3, 4), "float32") + x, a),
        ("full", relay.full(relay.const(2.0), (4,), "float32") + x, a + 2),
        ("take", relay.take(x, relay.const([[1, 0]]), axis=2), a[:, :, [1, 0]].reshape(2, 3, 1, 2)),
        ("dropout", nn.dropout(x, 0.3), a), ("repeat", relay.repeat(x, 2, 1), np.stack([a, a], 2).reshape(2, 6, 4)),
        ("cumsum", relay.cumsum(x, axis=1), a.cumsum(1)),
        ("cumprod", relay.cumprod(x, axis=1), np.stack(
            [a[:, 0], a[:, 0] * a[:, 1], a[:, 0] * a[:, 1] * a[:, 2]], 1))):
    check(label, expr, want, x=a)

# Tuples.
parts = relay.split(x, 2, axis=2)
assert len(parts) == 2
check("split", parts[1] - parts[0], a[..., 2:] - a[..., :2], x=a)
first, rest = relay.split(x, indices_or_sections=[1], axis=2)
check("indices", rest * first, a[..., 1:] * a[..., :1], x=a)
both = results(relay.Tuple([x, relay.TupleGetItem(parts.astuple(), 0)]), x=a)
np.testing.assert_allclose(both[1], a[..., :2])
values, order = relay.topk(x, k=2, axis=-1)
check("topk", values, -np.sort(-a, -1)[..., :2], x=a)

# Products and convolutions.
p, q = array(3, 5), array(7, 5)
u, v = var_of("u", p), var_of("v", q)
check("dense", nn.dense(u, v), p.dot(q.transpose()), u=p, v=q)
check("matmul", nn.matmul(u, v, transpose_b=True), p.dot(q.transpose()), u=p, v=q)
check("batch", nn.batch_matmul(x, y), np.matmul(a, b.transpose((0, 2, 1))), x=a, y=b)
image, kernel = array(1, 2, 6, 6), array(4, 2, 3, 3)
i, k = var_of("i", image), var_of("k", kernel)


def conv(data, weight, pad):
    data = np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    n, m = data.shape[2] - 2, data.shape[3] - 2
    out = np.zeros((1, weight.shape[0], n, m), "float32")
    for o in range(weight.shape[0]):
        for r in range(3):
            for s in range(3):
                out[0, o] += (data[0, :, r:r + n, s:s + m] *
                              weight[o, :, r:r + 1, s:s + 1]).sum(0)
    return out


check("conv2d", nn.conv2d(i, k, padding=1), conv(image, kernel, 1), i=image, k=kernel)
check("layouts", nn.conv2d(relay.transpose(i, (0, 2, 3, 1)), relay.transpose(k, (2, 3, 1, 0)),
                           data_layout="NHWC", kernel_layout="HWIO"),
      conv(image, kernel, 0).transpose((0, 2, 3, 1)), i=image, k=kernel)
pools = image.reshape(1, 2, 3, 2, 3, 2)
for label, expr, want in (
        ("max", nn.max_pool2d(i, (2, 2), (2, 2)), pools.max(5).max(3)),
        ("avg", nn.avg_pool2d(i, pool_size=2, strides=2), pools.mean(5).mean(3)),
        ("global", nn.global_avg_pool2d(i), image.mean(3, keepdims=True).mean(
            2, keepdims=True)),
        ("adaptive", nn.adaptive_avg_pool2d(i, (3, 3)), pools.mean(5).mean(3)),
        ("the same size", nn.adaptive_max_pool2d(i), image),
        ("upsampling", nn.upsampling(i, 2, 2), (
            image.reshape(1, 2, 6, 1, 6, 1) *
            np.ones((1, 2, 6, 2, 6, 2), "float32")).reshape(1, 2, 12, 12)),
        ("resize", relay.image.resize2d(i, (3, 3), method="nearest_neighbor",
                                        coordinate_transformation_mode="asymmetric",
                                        rounding_method="floor"), image[:, :, ::2, ::2]),
        ("flat", nn.batch_flatten(i), image.reshape(1, 72))):
    check(label, expr, want, i=image)

# Weights whose shapes follow from the data.
weight, bias, gamma = relay.var("weight"), relay.var("bias"), relay.var("gamma")
body = nn.conv2d(i, weight, channels=4, kernel_size=(3, 3), padding=(1, 1))
body = nn.bias_add(body, bias)
body = nn.batch_norm(body, gamma, relay.var("beta"), relay.var("mean"), relay.var("var"))[0]
ones, zeros = np.ones(4, "float32"), np.zeros(4, "float32")
check("weights", body, f32((conv(image, kernel, 1) + 0.5 - 1) / np.sqrt(4 + 1e-5) * 2 + 1),
      i=image, weight=kernel, bias=ones * f32(0.5), gamma=ones * 2, beta=ones, mean=ones, var=ones * 4)
depthwise = nn.conv2d(i, relay.var("weight"), channels=2, groups=2, kernel_size=3)
assert relay.testing.run_infer_type(depthwise).args[1].checked_type.shape == [2, 1, 3, 3]

# Quantized.
bytes_ = np.array([[-3, 5, 7, 100]], "int8")
check("dequantize", relay.qnn.op.dequantize(var_of("n", bytes_), relay.const(0.5),
                                            relay.const(1)), (bytes_ - 1) * f32(.5), n=bytes_)
rows = np.array([[[1, -2, 3, 4], [5, 0, 0, -1]]], "int8")
check("bytes", relay.qnn.op.batch_matmul(
    var_of("m", rows), var_of("n", rows), relay.const(1), relay.const(0), relay.const(1.0),
    relay.const(1.0)), np.matmul(rows.astype("int32") - 1, rows.astype("int32").transpose(
        (0, 2, 1))).astype("int32"), m=rows, n=rows)
check("quantize", relay.qnn.op.quantize(u, relay.const(0.25), relay.const(2), out_dtype="uint8"),
      np.clip(np.rint(p / f32(.25)) + 2, 0, 255).astype("uint8"), u=p)

# Arrays as constants, functions, lets, shared expressions.
table = relay.const(b)
twice = relay.Function([y], y + y)
check("constants", x * table + table, a * b + b, x=a)
check("function", relay.Call(twice, [x * table]), 2 * a * b, x=a)
adds = relay.Function([x], x + table)
check("constant of a function", adds(x), a + b, x=a)
t = relay.var("t", shape=a.shape)
check("let", relay.Let(t, x * x, t + t), 2 * a * a, x=a)
many = x
for _ in range(40):
    many = many + many
check("doubled", many * relay.const(1e-12), a * f32(2.0 ** 40 * 1e-12), x=a)

# A module of two functions; the executors.
mod = tvm.IRModule()
square = relay.GlobalVar("square")
mod[square] = relay.Function([y], y * y)
mod["main"] = relay.Function([x], square(x + relay.const(1.0)))
got = relay.create_executor("graph", mod, tvm.cpu(), "llvm").evaluate()(a)
np.testing.assert_allclose(got.numpy(), (a + 1) ** 2, rtol=1e-5)
got = relay.create_executor("vm").evaluate(relay.Function([x, y], x - y))(a, b)
np.testing.assert_allclose(got.numpy(), a - b)
bound = relay.build_module.bind_params_by_name(relay.Function([x, y], x / y), {"y": b})
assert [v.name_hint for v in bound.params] == ["x"]
got = relay.create_executor("debug").evaluate(bound)(a)
np.testing.assert_allclose(got.numpy(), a / b, rtol=1e-5)

# Names that Relay's text does not have, and two of the same name.
odd = relay.var("conv_1/kernel:0", shape=(2,))
check("names", odd + relay.const([1.0, 2.0]), f32([4, 6]), **{"conv_1/kernel:0": f32([3, 4])})
other = relay.var("x", shape=a.shape)
mod = tvm.IRModule.from_expr(relay.Function([x, other], x - other))
lib = relay.build(mod, "llvm")
model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
model.set_input(0, a)
model.set_input(1, b)
model.run()
np.testing.assert_allclose(model.get_output(0).numpy(), a - b)

# The text with its arrays is the same model.
halves = relay.const(np.array([[0.5, 2.0]], "float16"))
rest = relay.cast(halves, "float32") * relay.const(np.array([3, 4], "int8")).astype("float32")
text = tvm.IRModule.from_expr(relay.Function([x], x * table + relay.sum(rest))).astext()
print(text)
lib = relay.build(relay.fromtext(text), "llvm")
model = graph_executor.GraphModule(lib["default"](tvm.cpu()))
model.set_input("x", a)
model.run()
np.testing.assert_allclose(model.get_output(0).numpy(), a * b + 9.5, rtol=1e-5)
