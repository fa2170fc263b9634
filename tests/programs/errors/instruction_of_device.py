# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import tir as T

@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    T.evaluate(T.ptx_wait_group(0))
    A[0] = 1.0

print(tvm.build(f, target="c").get_source())
