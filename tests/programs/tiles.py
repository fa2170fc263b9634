# SPDX-License-Identifier: Apache-2.0
# Operators on parts of buffers.
import numpy as np
import tvm
from tvm.script import tir as T

@T.prim_func
def parts(A: T.Buffer((3, 8), "float32"), B: T.Buffer((8, 2), "float32"), C: T.Buffer((4,), "int32")):
    Tx.fill(B, 7)
    Tx.copy(B[2:6, 1], A[1, 4:8])
    Tx.add(B[0:2, 0:2], A[0:2, 2:4], 0.5)
    Tx.cta.maximum(B[6:8, 0], A[2, 0:2], A[0, 6:8])
    Tx.cast(C[0:3], A[1, 1:4])
    Tx.sqrt(B[7, 0:1])

b = tvm.nd.array(np.zeros((8, 2), "float32"))
c = tvm.nd.array(np.zeros(4, "int32"))
tvm.build(parts, target="c")(tvm.nd.array(np.arange(24, dtype="float32").reshape(3, 8)), b, c)
print(b)
print(c)
print(parts)
