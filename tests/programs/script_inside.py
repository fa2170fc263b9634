# SPDX-License-Identifier: Apache-2.0
# TVMScript beside a program: a function whose sizes come from outside.
import tvm
from tvm.script import ir as I
from tvm.script import tir as T

N, M = 12, 8


@T.prim_func
def rows(A: T.Buffer((N, M), "float32"), B: T.Buffer((N,), "float32")):
    for i, k in T.grid(N, M):
        with T.block("rows"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]


@I.ir_module
class Both:
    @T.prim_func
    def twice(X: T.Buffer((N,), "float32"), Y: T.Buffer((N,), "float32")):
        for i in range(N):
            with T.block("Y"):
                v = T.axis.spatial(N, i)
                Y[v] = X[v] * 2.0


sch = tvm.tir.Schedule(rows)
block = sch.get_block("rows")
i, k = sch.get_loops(block)
ko, ki = sch.split(k, factors=[None, 4])
partial = sch.rfactor(ki, factor_axis=0)
print(sch.get_loops(partial)[0], len(sch.get_loops(partial)))
print(sch.mod["rows"].script())
print(sch.trace)
print(Both["twice"].script() == Both["twice"].script(), [len(sch.get_loops(b)) for b in ("rows",)])
print(tvm.lower(Both))
