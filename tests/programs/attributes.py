# SPDX-License-Identifier: Apache-2.0
"""Attributes in a dict; the function of a schedule is main to its module."""
import tvm
from tvm import te

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1.0, name="B")
f = te.create_prim_func([A, B]).with_attr({"global_symbol": "grown", "kind": 3})
sch = tvm.tir.Schedule(f)
sch.work_on("main")
sch.vectorize(sch.get_loops(sch.get_block("B"))[0])
print(sch.mod["main"])
