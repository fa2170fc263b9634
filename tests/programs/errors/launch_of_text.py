# SPDX-License-Identifier: Apache-2.0
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((4,), "int8")):
    T.evaluate(T.launch_kernel("x<<<1, 1>>>();\n#error injected\n", 1, 1, 1, 1,
                               1, 1, A.data))
