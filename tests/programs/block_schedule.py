# SPDX-License-Identifier: Apache-2.0
# A function of blocks and loops, step by step: split, fuse, reorder, bind,
# a cache and an instruction's worth of unrolling.
import tvm
from tvm import te

X = te.placeholder((6, 10), dtype="float32", name="X")
Y = te.compute((6, 10), lambda *i: X(*i) * 0.5, name="Y")
mod = tvm.IRModule({"main": te.create_prim_func([X, Y])})
print(mod.script())

sch = tvm.tir.Schedule(mod)
block = sch.get_block("Y")
i, j = sch.get_loops(block)
j0, j1 = sch.split(j, factors=[None, 4])
print(sch.mod.script())
sch.reorder(j0, i, j1)
outer = sch.fuse(j0, i)
print(sch.mod["main"].script())
before = sch.mod
sch.bind(outer, "blockIdx.x")
sch.bind(j1, "threadIdx.x")
sch.show()
print("as it was:", before.script() != sch.mod.script())
