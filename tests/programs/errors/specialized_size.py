# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(a: T.handle, n: T.int8):
    A = T.match_buffer(a, (n,), "float32")
    for i in T.serial(n):
        A[i] = 1.0


f.specialize({f.params[1]: 300})
