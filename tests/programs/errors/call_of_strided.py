# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def far(A: T.Buffer((4,), "float32", strides=[100])):
        for i in range(4):
            A[i] = 2.0

    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        Module.far(A.data)


tvm.build(Module, target="c").get_source()
