# SPDX-License-Identifier: Apache-2.0
# te.gradient, compared with differences of the function.
import numpy as np
import tvm
from tvm import te, tir, topi

rng = np.random.RandomState(2)


def reads(out, x):
    return out == x or any([reads(t, x) for t in out.op.input_tensors])


def built(inputs, out):
    """The function of arrays that computes out; it has parameters for those of the
    inputs that out reads."""
    read = [reads(out, x) for x in inputs]
    f = tvm.build(te.create_schedule(out.op),
                  [x for x, r in zip(inputs, read) if r] + [out], "llvm")

    def run(arrays):
        made = tvm.nd.array(np.zeros(out.shape, out.dtype))
        f(*([tvm.nd.array(x) for x, r in zip(arrays, read) if r] + [made]))
        return made.numpy()
    return run


def check(name, inputs, out, low=-1.0, high=1.0):
    """The gradients of sum(out * head), by differences in float64."""
    head = te.placeholder(out.shape, out.dtype, name="head")
    grads = te.gradient(out, inputs, head)
    arrays = [rng.uniform(low, high, t.shape).astype("float64") for t in inputs]
    h = rng.uniform(-1, 1, out.shape).astype("float64")
    value = built(inputs, out)
    for k, g in enumerate(grads):
        assert g.shape == inputs[k].shape
        got = built(inputs + [head], g)(arrays + [h])
        want = np.zeros(got.shape)
        flat, eps = arrays[k].reshape(-1), 1e-5
        for i in range(len(flat)):
            keep = flat[i]
            sums = []
            for step in (eps, -eps):
                moved = flat.copy()
                moved[i] = keep + step
                all_of = list(arrays)
                all_of[k] = moved.reshape(inputs[k].shape)
                sums.append((value(all_of) * h).sum())
            w = want.reshape(-1)
            w[i] = (sums[0] - sums[1]) / (2 * eps)
            want = w.reshape(got.shape)
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    print(name, "is right")


def tensor(*shape):
    return te.placeholder(shape, "float64", name="X")


A, B = tensor(3, 4), tensor(4)
check("elements", [A, B], te.compute((3, 4), lambda i, j: tir.exp(
    A[i, j]) * B[j] - tir.tanh(A[i, j] * B[j]) / (B[j] * B[j] + 1.0)))
check("functions", [B], te.compute((4,), lambda i: tir.sqrt(B[i]) + tir.log(
    B[i]) * tir.sin(B[i]) + tir.power(B[i], 1.5) + tir.sigmoid(B[i])), 0.5, 2)
check("choices", [A], te.compute((3, 4), lambda i, j: tir.max(A[i, j], 0.25) +
                                 tir.Select(j > 1, A[i, j] * 2.0, 0.0) +
                                 tir.abs(A[i, j])))
W = tensor(5, 4)
check("dense", [A, W], topi.nn.dense(A, W))
check("softmax", [A], topi.nn.softmax(A))
check("transpose", [A], topi.transpose(topi.multiply(A, A)))
check("reshape", [A], topi.reshape(topi.sin(A), (2, 6)))
check("maximum", [A], topi.max(A, axis=1))
X, F = tensor(1, 2, 5, 5), tensor(2, 2, 3, 3)
check("conv2d", [X, F], topi.nn.conv2d_nchw(X, F, 1, 1, 1))
check("strides", [X, F], topi.nn.conv2d_nchw(X, F, 2, 1, 1))
check("pool", [X], topi.nn.pool2d(X, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0),
                                  "avg"))
check("twice", [A], te.compute((3, 3), lambda i, j: A[i, j] * A[i, j + 1]))

# without a head, all derivatives of all elements
Y = te.compute((4,), lambda i: B[i] * B[i], name="Y")
[J] = te.gradient(Y, [B])
print(J.shape)
print(built([B], J)([np.array([1.0, 2, 3, 4])]))
C = tensor(2)
[N] = te.gradient(Y, [C], te.placeholder((4,), "float64"))
print(N.shape)

# as TVM's tutorials: a convolution's gradient, lowered
D = te.placeholder((1, 2, 6, 6), name="D")
K = te.placeholder((3, 2, 3, 3), name="K")
R = topi.nn.conv2d_nchw(D, K, 1, 1, 1)
H = te.placeholder(R.shape, name="H")
dD, dK = te.gradient(R, [D, K], H)
print(tvm.lower(te.create_schedule([dD.op, dK.op]), [D, K, H, dD, dK],
                simple_mode=True))
