# SPDX-License-Identifier: Apache-2.0
# Vectors of elements, with masks.
import numpy as np
import tvm
from tvm.script import tir as T

@T.prim_func
def masked(A: T.Buffer((3, 4), "float32"), B: T.Buffer((3, 4), "float32"), n: T.int32):
    for i in range(3):
        B.vstore([i, 0], A.vload([i, T.Ramp(0, 1, 4)], predicate=T.Broadcast(i < n, 4)) * T.Broadcast(T.float32(2), 4),
                 predicate=T.Broadcast(i != 1, 4))

def run(f, *arrays):
    arrays = [tvm.nd.array(x) if isinstance(x, np.ndarray) else x for x in arrays]
    tvm.build(f, target="c")(*arrays)
    return arrays

print(run(masked, np.arange(12, dtype="float32").reshape(3, 4), np.ones((3, 4), "float32"), 2)[1])

# Vectors of the shortest length that a processor may have.
@T.prim_func
def scalable(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(T.ceildiv(8, 4 * T.vscale())):
        x: T.float32xvscalex4 = A.vload([T.Ramp(i * 4, 1, T.vscale() * 4)], dtype="float32xvscalex4")
        B[T.Ramp(i * 4 * T.vscale(), 1, 4 * T.vscale())] = x + T.Broadcast(T.float32(1), 4 * T.vscale())

print(run(scalable, np.arange(8, dtype="float32"), np.zeros(8, "float32"))[1])
