# SPDX-License-Identifier: Apache-2.0
# A type that the target does not have.
import tvm
from tvm import te

A = te.placeholder((8,), name="A", dtype="float8_e4m3fn")
B = te.compute((8,), lambda i: A[i] + A[i], name="B")
f = tvm.build(te.create_schedule(B.op), [A, B], name="twice")
