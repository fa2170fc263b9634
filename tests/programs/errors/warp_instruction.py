# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((256,), "float32")):
    T.tvm_fill_fragment(A.data, 16, 16, 16, 0, T.float32(0))
