# SPDX-License-Identifier: Apache-2.0
# Stages of scans whose names are equal: each keeps its own schedule.
import tvm
from tvm import te

m, n = te.var("m"), te.var("n")
X = te.placeholder((m, n))

# One state: the loops of the update are split, those of the init are not.
state = te.placeholder((m, n))
init = te.compute((1, n), lambda _, i: X[0, i])
update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i])
total = te.scan(init, update, state, inputs=[X])
s = te.create_schedule(total.op)
xo, xi = s[update].split(update.op.axis[1], factor=16)
s[update].unroll(xi)
print(tvm.lower(s, [X, total], simple_mode=True))

# Both, with different factors.
s = te.create_schedule(total.op)
s[init].split(init.op.axis[1], factor=32)
s[update].split(update.op.axis[1], factor=16)
print(tvm.lower(s, [X, total], simple_mode=True))

# Two states, and a stage between state and update.
first, second = te.placeholder((m, n)), te.placeholder((m, n))
inits = [te.compute((1, n), lambda _, i: X[0, i]), te.compute((1, n), lambda _, i: X[0, i] * 2)]
both = te.compute((m, n), lambda t, i: first[t - 1, i] + second[t - 1, i])
updates = [te.compute((m, n), lambda t, i: both[t, i] + X[t, i]), te.compute((m, n), lambda t, i: both[t, i] * X[t, i])]
left, right = te.scan(inits, updates, [first, second], inputs=[X])
s = te.create_schedule(left.op)
s[inits[1]].split(inits[1].op.axis[1], factor=8)
s[updates[1]].split(updates[1].op.axis[1], factor=4)
s[both].split(both.op.axis[1], factor=2)
print(tvm.lower(s, [X, left, right], simple_mode=True))
