# SPDX-License-Identifier: Apache-2.0
# Loops that carry state: a running maximum, and two states at once.
import tvm
from tvm import te

t, n = te.var("t"), te.var("n")
X = te.placeholder((t, n), name="X")
state = te.placeholder((t, n), name="state")
first = te.compute((1, n), lambda _, i: X[0, i], name="first")
step = te.compute((t, n), lambda s, i: te.max(state[s - 1, i], X[s, i]), name="step")
highest = te.scan(first, step, state, inputs=[X], name="highest")
s = te.create_schedule(highest.op)
print(tvm.lower(s, [X, highest], simple_mode=True))

a = te.placeholder((20,), name="a")
b = te.placeholder((20,), name="b")
fib = te.scan(
    [te.compute((1,), lambda _: 1.0, name="a0"), te.compute((1,), lambda _: 1.0, name="b0")],
    [
        te.compute((20,), lambda s: b[s - 1], name="a1"),
        te.compute((20,), lambda s: a[s - 1] + b[s - 1], name="b1"),
    ],
    [a, b],
    name="fib",
)
print(tvm.lower(te.create_schedule(fib[0].op), fib, simple_mode=True))
