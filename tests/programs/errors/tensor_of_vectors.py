# SPDX-License-Identifier: Apache-2.0
from tvm import te, topi

A = te.placeholder((4,), dtype="float32x4", name="A")
topi.cast(A, "int32")
