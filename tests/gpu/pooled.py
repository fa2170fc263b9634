# SPDX-License-Identifier: Apache-2.0
"""A product of which the tiles, four of each operand, are more than a kernel may
declare in shared memory: its launch is told how much, and init asks for it."""
import tensors

TARGETS = ["cuda-sm80", "cuda-sm90"]
FACTS = " -units=1"
# What the schedule of each output says of it.
SCHEDULES = {"even": "tensor tiles of 128 x 64, 32 at a time"}
TEXTS = ["half (&rows)[4][128][40] = ", "\tlaunch_pooled(m, ",
         "\t\tm->error = cudaFuncSetAttribute("]


def write(folder):
    """Paths of the model and of its data."""
    m = tensors.Model()
    x, w = m.given("x", 128, 136), m.given("w", 136, 64)
    m.node("MatMul", "x w", "even")
    m.gives("even", x @ w)
    return m.write(folder)
