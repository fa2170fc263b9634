# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i], name="B")
sch = tvm.tir.Schedule(te.create_prim_func([A, B]))
sch.splitt(sch.get_loops("B")[0], factors=[2, 4])
