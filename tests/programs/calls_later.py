# SPDX-License-Identifier: Apache-2.0
# Functions that call functions which the module defines later: the source has
# them in the order of their calls.
import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        Module.twice(A.data, B.data)
        Module.one_more(B.data)

    @T.prim_func
    def twice(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = A[i] * T.float32(2)
        Module.one_more(B.data)

    @T.prim_func
    def one_more(B: T.Buffer((8,), "float32")):
        for i in range(8):
            B[i] = B[i] + T.float32(1)


built = tvm.build(Module, target="c")
a, b = tvm.nd.array(np.arange(8, dtype="float32")), tvm.nd.empty((8,))
built["main"](a, b)
print(b.numpy())
lines = built.get_source().split("\n")
print([lines[i + 1].split("(")[0] for i in range(len(lines)) if lines[i] == "void"])
