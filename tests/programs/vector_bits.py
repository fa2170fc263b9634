# SPDX-License-Identifier: Apache-2.0
# The bits of vectors of elements as numbers, and back.
import numpy as np
import tvm
from tvm.script import tir as T

@T.prim_func
def bits(A: T.Buffer((8,), "int8"), B: T.Buffer((2,), "int32"), C: T.Buffer((8,), "uint8")):
    for i in range(2):
        v = T.reinterpret(A.vload([i * 4], "int8x4"), dtype="int32")
        B[i] = v
        C.vstore([i * 4], T.reinterpret("uint8x4", v + 1))

def run(f, *arrays):
    arrays = [tvm.nd.array(x) if isinstance(x, np.ndarray) else x for x in arrays]
    tvm.build(f, target="c")(*arrays)
    return arrays

a = np.array([1, -2, 3, 4, 127, -128, 0, 9], dtype="int8")
print(*run(bits, a, np.zeros(2, "int32"), np.zeros(8, "uint8"))[1:])
