# SPDX-License-Identifier: Apache-2.0
# An external function of the name of a function of the program.
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def inner(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)

    @T.prim_func
    def outer(A: T.Buffer((4,), "float32")):
        T.evaluate(T.call_extern("int32", "inner", A.data))
