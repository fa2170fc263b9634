# SPDX-License-Identifier: Apache-2.0
"""A program that calls on arrays what it builds, and checks and times it: the
statements that need numpy and devices do not run, the others do."""
import time
import tvm
import tvm.testing
import numpy as np
from tvm import te

dev = tvm.device("llvm", 0)
n = te.var("n")
A = te.placeholder((n, 8), np.float32, name="A")
B = te.compute((n, 8), lambda i, j: A[i, j] * tvm.tir.const(2, np.float32), name="B")
s = te.create_schedule(B.op)


def inputs():
    rng = np.random.default_rng(0)
    return rng.standard_normal((4, 8)).astype("float32")


with tvm.transform.PassContext(opt_level=3):
    f = tvm.build(s, [A, B], target="llvm", name="twice")
x = inputs()
a, b = tvm.nd.array(x, dev), tvm.nd.array(np.zeros((4, 8), np.float32), dev)
f(a, b)
tvm.testing.assert_allclose(b.numpy(), x * 2)
assert np.allclose(b.numpy(), x * 2)
start = time.time()
start += 1
print("%.3f ms" % (f.time_evaluator("twice", dev, number=10)(a, b).mean * 1e3))
print(tvm.lower(s, [A, B], name="twice", simple_mode=True))
