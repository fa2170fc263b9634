# SPDX-License-Identifier: Apache-2.0
import numpy as np
import tvm
from tvm.script import tir as T


@T.prim_func
def f(a: T.handle, n: T.int32):
    A = T.match_buffer(a, (n,), "float32")
    for i in range(64):
        A[i] = T.float32(1)


built = tvm.build(f, target="c", name="f")
built(tvm.nd.array(np.zeros((8,), "float32")), 2**32 + 8)
