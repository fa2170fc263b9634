# SPDX-License-Identifier: Apache-2.0
"""Products with more tiles of rows than a device has blocks along the second axis
of a grid: the tiles lie along the first axis. Floats in shared memory, and 16-bit
floats on tensor cores."""
import kinds
import numpy

TARGETS = ["cuda-sm80", "cuda-sm80"]
ARCHES = ["sm_80"]
FACTS = " -max_blocks=2"
SCHEDULES = {"floats": "tiles of", "halves": "tensor tiles of"}


class Model(kinds.Model):
    numbers = numpy.float16


def write(folder):
    """Paths of the model and of its data."""
    m = Model()
    x, w = m.given("xh", 600, 64), m.given("wh", 64, 48)
    m.node("MatMul", "xh wh", "halves")
    m.gives("halves", x @ w)
    for name, source in (("xf", "xh"), ("wf", "wh")):
        m.node("Cast", source, name, to=1)
    m.node("MatMul", "xf wf", "floats")
    m.outputs.append(("floats", x.astype(numpy.float32) @
                      w.astype(numpy.float32)))
    return m.write(folder)
