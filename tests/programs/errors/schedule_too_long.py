# SPDX-License-Identifier: Apache-2.0
# A step of a schedule walks through the function: its statements count.
import tvm
from tvm import te

A = te.placeholder((16,), name="A")
made = [te.compute((16,), lambda i: A[i] + 1.0, name="b" + str(k))
        for k in range(1000)]
sch = tvm.tir.Schedule(te.create_prim_func([A] + made))
block = sch.get_block("b0")
for k in range(19000):
    sch.annotate(block, "k", k)
