# SPDX-License-Identifier: Apache-2.0
# topi's schedules: the rules, for the target of the enclosing `with` or the build.
import numpy as np
import tvm
from tvm import te, topi

A = te.placeholder((20, 128), name="A")
W = te.placeholder((24, 128), name="W")
B = topi.nn.relu(topi.nn.dense(A, W))
with tvm.target.Target("llvm -mcpu=haswell"):
    s = topi.x86.schedule_dense([B])
    print(tvm.lower(s, [A, W, B], simple_mode=True))

n = te.var("n")
X = te.placeholder((n, 33), name="X")
Y = topi.nn.softmax(X)
f = tvm.build(topi.generic.schedule_softmax(Y), [X, Y], "llvm -mcpu=haswell",
              name="softmax")
x = np.random.RandomState(1).uniform(-1, 1, (5, 33)).astype("float32")
y = tvm.nd.array(np.zeros((5, 33), "float32"))
f(tvm.nd.array(x), y)
e = np.exp(x - x.max(1, keepdims=True))
np.testing.assert_allclose(y.numpy(), e / e.sum(1, keepdims=True), rtol=1e-5)

# a program that makes requests schedules all itself
s = topi.generic.schedule_injective(Y)
xo, xi = s[Y].split(Y.op.axis[1], 11)
print(tvm.lower(s, [X, Y], simple_mode=True))
