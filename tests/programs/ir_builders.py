# SPDX-License-Identifier: Apache-2.0
# Outside functions and instructions whose bodies are made statement by
# statement.
import numpy as np
import tvm
from tvm import te, tir

n, m = te.var("n"), 24
A = te.placeholder((n, m), name="A")
a = np.random.RandomState(5).randint(-9, 9, (5, m)).astype("float32")


def check(title, outputs, wants, target="llvm", prepare=None):
    print(title)
    s = te.create_schedule(outputs[0].op)
    if prepare:
        prepare(s)
    args = [A] + list(outputs)
    print(tvm.lower(s, args, simple_mode=True))
    f = tvm.build(s, args, target)
    got = [tvm.nd.array(np.zeros(w.shape, dtype=w.dtype)) for w in wants]
    f(tvm.nd.array(a), *got)
    for array, want in zip(got, wants):
        np.testing.assert_array_equal(array.numpy(), want)


# Sums from the start of each row, and how many elements are positive.
def sums(ins, outs):
    ib = tvm.tir.ir_builder.create()
    x, y, count = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
    with ib.for_range(0, n, "row", kind="parallel") as row:
        total = ib.allocate("float32", (1,), name="total", scope="local")
        total[0] = 0.0
        count[row] = 0
        with ib.for_range(0, m, name="j") as j:
            value = ib.let("value", x[row * m + j])
            total[0] = total[0] + value
            with ib.if_scope(ib.likely(value > 0)):
                count[row] += 1
                y[row, j] = total[0]
            with ib.else_scope():
                y[row, j] = total[0]
    return ib.get()


Y, K = te.extern([A.shape, (n,)], [A], sums, name="sums", dtype=["float32", "int32"])
check("several outputs", [Y, K], [a.cumsum(1), (a > 0).sum(1).astype("int32")])


# A while loop, and statements of a buffer's own.
def halves(ins, outs):
    ib = tir.ir_builder.create()
    step = ib.allocate("int32", 1, name="step")
    with ib.for_range(0, n * m, "i") as i:
        ib.emit(outs[0].vstore(i, ins[0].vload([i // m, i % m], "float32")))
        step[0] = 0
        with ib.while_loop(tir.all(step[0] < 8, ib.buffer_ptr(outs[0])[i] > 1)):
            step[0] += 1
            ib.emit(outs[0].vstore(i, outs[0].vload(i) / 2))
    return ib.get()


H = te.extern(A.shape, [A], halves, name="halves", dtype="float32")
want = a.copy()
while (want > 1).any():
    want = np.where(want > 1, want / 2, want).astype("float32")
check("while", [H], [want])


# Threads.
def twice(ins, outs):
    ib = tvm.tir.ir_builder.create()
    x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    block, thread = te.thread_axis("blockIdx.x"), te.thread_axis("threadIdx.x")
    ib.scope_attr(block, "thread_extent", n)
    ib.scope_attr(thread, "thread_extent", 8)
    with ib.for_range(0, m // 8, "k", kind="unroll") as k:
        column = k * 8 + thread
        y[block, column] = x[block, column] * 2
    return ib.get()


T2 = te.extern(A.shape, [A], twice, name="twice", dtype="float32")
check("threads", [T2], [a * 2], "cuda")


# An instruction whose body is a loop.
def add_row(size):
    x = te.placeholder((size,), name="x")
    z = te.compute((size,), lambda i: x[i] + 1.0, name="z")

    def lower(ins, outs):
        ib = tvm.tir.ir_builder.create()
        src, dst = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, size // 4, "v") as v:
            with ib.for_range(0, 4, "lane", for_type="vectorize") as lane:
                dst[v * 4 + lane] = src[v * 4 + lane] + 1.0
        return ib.get()

    return te.decl_tensor_intrin(z.op, lower, name="add_row")


Z = te.compute(A.shape, lambda i, j: A[i, j] + 1.0, name="Z")
check("an instruction", [Z], [a + 1], "llvm",
      lambda s: s[Z].tensorize(s[Z].split(Z.op.axis[1], factor=8)[1], add_row(8)))
