# SPDX-License-Identifier: Apache-2.0
# Operators under topi's names, as functions with symbolic and constant sizes.
import tvm
from tvm import te, topi
from tvm.topi import nn

n = te.var("n")
A = te.placeholder((n, 6), name="A")
B = te.placeholder((6,), name="B")


def show(inputs, out):
    print(tvm.lower(te.create_schedule(out.op), inputs + [out], simple_mode=True))


show([A, B], nn.relu(A * 2 + B))
show([A], topi.transpose(topi.exp(-A), [1, 0]))
show([A], topi.max(A, axis=0, keepdims=True))
show([A], nn.softmax(A))

x = te.placeholder((1, 3, 7, 7), name="x")
w = te.placeholder((4, 3, 3, 3), name="w")
conv = nn.conv2d_nchw(x, w, stride=2, padding=1, dilation=1)
print(conv.shape, conv.dtype)
show([x, w], conv)
show([x], nn.pool2d(x, (2, 2), (2, 2), (1, 1), (0, 0, 0, 0), pool_type="avg"))

d = te.placeholder((2, 8), name="d")
v = te.placeholder((5, 8), name="v")
show([d, v], nn.dense(d, v))
print(topi.reshape(d, (4, 4)).shape, topi.concatenate((d, v), axis=0).shape, topi.sum(d).shape)
