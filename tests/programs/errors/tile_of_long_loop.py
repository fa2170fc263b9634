# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((1 << 40,), "int8")):
    for i in range(1 << 40):
        with T.block("A"):
            vi = T.axis.spatial(1 << 40, i)
            A[vi] = T.int8(1)


s = tvm.tir.Schedule(f)
s.sample_perfect_tile(s.get_loops("A")[0], n=2, max_innermost_factor=1 << 62)
