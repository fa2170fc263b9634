# SPDX-License-Identifier: Apache-2.0
from tvm import te, tir

A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: tir.hardware_intrin("f", A[i]), name="B")
