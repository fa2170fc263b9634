# SPDX-License-Identifier: Apache-2.0
"""A program that calls on arrays what it builds, and checks and times it. What needs
modules that tirc does not have, or results that take too long, does not run."""
import tvm
import tvm.testing
import numpy as np
import torch
from tvm import te

dev = tvm.device("llvm", 0)
n = te.var("n")
A = te.placeholder((n, 8), np.float32, name="A")
B = te.compute((n, 8), lambda i, j: A[i, j] * tvm.tir.const(2, np.float32), name="B")
s = te.create_schedule(B.op)


def inputs():
    rng = np.random.default_rng(0)
    return rng.integers(0, 9, (4, 8)).astype("float32")


with tvm.transform.PassContext(opt_level=3):
    f = tvm.build(s, [A, B], target="llvm", name="twice")
x = inputs()
a, b = tvm.nd.array(x, dev), tvm.nd.array(np.zeros((4, 8), np.float32), dev)
f(a, b)
tvm.testing.assert_allclose(b.numpy(), x * 2)
assert np.allclose(b.asnumpy(), x * 2)
print(b, a.device, b.shape, type(b))
f["twice"](b, a)
print(a.numpy()[0], f.entry_name)
print("%d runs" % len(f.time_evaluator("twice", dev, number=10)(a, b).results))
torch.testing.assert_close(torch.tensor(x), torch.tensor(x))

k = te.reduce_axis((0, n), name="k")
X = te.placeholder((n,), name="X")
Y = te.compute((1024,), lambda i: te.sum(X[k] * i, axis=k), name="Y")
g = tvm.build(te.create_schedule(Y.op), [X, Y], name="long")
c, d = tvm.nd.empty((1 << 20,), device=dev), tvm.nd.empty((1024,), "float32")
g(c, d)
y = d.numpy()
np.testing.assert_equal(y, np.zeros(1024))
print(d)
print(f"{d}", str(d), repr(d))
print("%s" % d, "{:>9}".format(d), [d], {"d": d})
print(d.shape)

gpu = te.create_schedule(B.op)
gpu[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
gpu[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
tvm.build(gpu, [n, A, B], target="cuda")(4, a, b)
np.testing.assert_array_equal(b.numpy(), x * 8)
print(tvm.lower(s, [A, B], name="twice", simple_mode=True))
