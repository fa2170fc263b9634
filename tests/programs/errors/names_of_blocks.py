# SPDX-License-Identifier: Apache-2.0
# The name of a block is looked up in the function: its statements count.
import tvm
from tvm import te

A = te.placeholder((16,), name="A")
made = [te.compute((16,), lambda i: A[i] + 1.0, name="b" + str(k))
        for k in range(1000)]
sch = tvm.tir.Schedule(te.create_prim_func([A] + made))
blocks = [sch.get_block("b999")] * 100000
for k in range(100):
    str(blocks)
