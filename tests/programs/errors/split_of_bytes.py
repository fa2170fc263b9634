# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

n = tvm.tir.const(100, "int8")
A = te.placeholder((n,), dtype="float32", name="A")
k = te.reduce_axis((tvm.tir.const(0, "int8"), n), name="k")
B = te.compute((1,), lambda i: te.sum(A[k], axis=k), name="B")
s = te.create_schedule(B.op)
s[B].split(s[B].op.reduce_axis[0], factor=256)
