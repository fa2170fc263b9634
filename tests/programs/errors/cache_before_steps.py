# SPDX-License-Identifier: Apache-2.0
from tvm import te

X = te.placeholder((8, 4), name="X")
state = te.placeholder((8, 4), name="state")
first = te.compute((1, 4), lambda _, i: X[0, i], name="first")
step = te.compute((8, 4), lambda t, i: X[t - 1, i], name="step")
S = te.scan(first, step, state, name="S")
s = te.create_schedule(S.op)
s.cache_write(step, "local")
