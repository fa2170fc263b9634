# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

last = te.placeholder((8,), name="A")
args, stages = [last], []
for n in range(40):
    last = te.compute((8,), lambda i: last[i] * last[i], name=f"B{n}")
    stages.append(last)
s = te.create_schedule(last.op)
for stage in stages[:-1]:
    s[stage].compute_inline()
print(tvm.lower(s, args + [last]))
