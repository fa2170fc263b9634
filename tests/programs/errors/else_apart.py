# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te


def body(ins, outs):
    ib = tvm.tir.ir_builder.create()
    y = ib.buffer_ptr(outs[0])
    y[0] = 1.0
    with ib.else_scope():
        y[1] = 2.0
    return ib.get()


te.extern((8,), [te.placeholder((8,))], body, name="C", dtype="float32")
