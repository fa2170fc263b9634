# SPDX-License-Identifier: Apache-2.0
"""Functions of one name in two modules, each called by its own module; a reduction
that is factored and does not begin at 0."""
import numpy as np
import tvm
from tvm import te
from tvm.script import ir as I
from tvm.script import tir as T


@I.ir_module
class Module:
    @T.prim_func
    def fill(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 1.0

    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        Module.fill(A.data)


@T.prim_func
def twos(A: T.Buffer((4,), "float32")):
    for i in range(4):
        A[i] = 2.0


module = Module
a = tvm.nd.array(np.zeros(4, "float32"))
tvm.build(module, target="c")(a)
print(a)
module["fill"] = twos
tvm.build(module, target="c")(a)
print(a)

A = te.placeholder((4, 8), name="A")
k = te.reduce_axis((2, 6), name="k")
B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="B")
s = te.create_schedule(B.op)
s.rfactor(B, k)
b = tvm.nd.array(np.zeros(4, "float32"))
tvm.build(s, [A, B], target="c")(
    tvm.nd.array(np.arange(32, dtype="float32").reshape(4, 8)), b)
print(b)
