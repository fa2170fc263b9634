# SPDX-License-Identifier: Apache-2.0
"""The annotation written_out: `halves` and `largest` are one expression each;
`counted` starts with 5, so that it keeps its init."""
from tvm.script import tir as T


@T.prim_func
def written_out(x: T.Buffer((2, 8), "float32"), halves: T.Buffer((8,), "float32"),
                largest: T.Buffer((1,), "float32"), counted: T.Buffer((1,), "float32")):
    for i, k in T.grid(2, 8):
        with T.block("halves"):
            vi, vk = T.axis.remap("RS", [i, k])
            T.block_attr({"written_out": 1})
            with T.init():
                halves[vk] = T.float32(0)
            halves[vk] = halves[vk] + x[vi, vk]
    for i in range(3):
        with T.block("largest"):
            vi = T.axis.reduce(3, i)
            T.block_attr({"written_out": 1})
            with T.init():
                largest[0] = T.float32("-inf")
            largest[0] = T.max(largest[0], x[0, vi * 2])
    for i in range(2):
        with T.block("counted"):
            vi = T.axis.reduce(2, i)
            T.block_attr({"written_out": 1})
            with T.init():
                counted[0] = T.float32(5)
            counted[0] = counted[0] + x[vi, 0]
