# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

A = te.placeholder((8,), name="A")
other = tvm.tir.decl_buffer((8,), "float32", name="other")


def body(ins, outs):
    ib = tvm.tir.ir_builder.create()
    x, y = ib.buffer_ptr(other), ib.buffer_ptr(outs[0])
    with ib.for_range(0, 8) as i:
        y[i] = x[i]
    return ib.get()


te.extern((8,), [A], body, name="C", dtype="float32")
