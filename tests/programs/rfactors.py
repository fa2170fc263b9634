# SPDX-License-Identifier: Apache-2.0
# Partial results of reductions: of several values, by threads that then reduce
# together, and of blocks, with loops of their own.
import numpy as np
import tvm
from tvm import te, tir

n, m = te.var("n"), te.var("m")
A = te.placeholder((n, m), name="A")
a = np.random.RandomState(3).randint(-50, 50, (37, 45)).astype("float32")


def check(title, s, args, target, wants):
    print(title)
    print(tvm.lower(s, args, simple_mode=True))
    f = tvm.build(s, args, target)
    got = [tvm.nd.array(np.zeros(w.shape, dtype=w.dtype)) for w in wants]
    f(tvm.nd.array(a), *got)
    for array, want in zip(got, wants):
        np.testing.assert_array_equal(array.numpy(), want)


# The first of the largest elements.
def combine(x, y):
    first = tir.any(x[1] > y[1], tir.all(x[1] == y[1], x[0] < y[0]))
    return tir.Select(first, x[0], y[0]), tir.Select(first, x[1], y[1])


def identity(t0, t1):
    return tvm.tir.const(2 ** 31 - 1, t0), te.min_value(t1)


best = te.comm_reducer(combine, identity, name="best")
k = te.reduce_axis((0, m), name="k")
index, value = te.compute((n,), lambda i: best((k.var, A[i, k]), axis=k), name="largest")
wants = [a.argmax(1).astype("int32"), a.max(1)]

s = te.create_schedule(index.op)
ko, ki = s[index].split(k, nparts=4)
ri, rv = s.rfactor([index, value], ko)
s[ri].parallel(s[ri].op.axis[0])
check("four parts of a row", s, [A, index, value], "llvm", wants)

s = te.create_schedule(index.op)
ko, ki = s[value].split(k, factor=8)
ri, rv = s.rfactor(value, ki, factor_axis=1)
print(ri.shape, rv.dtype, ri.op.name, s[rv].op.reduce_axis[0].var)
check("every eighth element", s, [A, index, value], "llvm", wants)

# Sums: each thread adds its elements, then all threads of a row together.
k = te.reduce_axis((0, m), name="k")
B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
s = te.create_schedule(B.op)
ko, ki = s[B].split(k, factor=8)
BF = s.rfactor(B, ki)
xo, xi = s[B].split(s[B].op.axis[0], factor=4)
s[B].bind(xo, te.thread_axis("blockIdx.x"))
s[B].bind(xi, te.thread_axis("threadIdx.y"))
tx = te.thread_axis("threadIdx.x")
s[B].bind(s[B].op.reduce_axis[0], tx)
s[BF].compute_at(s[B], s[B].op.reduce_axis[0])
s[B].set_store_predicate(tx.var.equal(0))
check("threads of a row", s, [A, B], "cuda", [a.sum(1)])

# Parts that two reductions divide: of threads, and of lanes before them.
s = te.create_schedule(B.op)
ko, ki = s[B].split(k, factor=16)
BF = s.rfactor(B, ki)
ti, tj = s[B].split(s[B].op.reduce_axis[0], factor=4)
s[B].bind(s[B].op.axis[0], te.thread_axis("blockIdx.x"))
s[B].reorder(tj, ti)
s[B].bind(tj, te.thread_axis("threadIdx.x"))
s[BF].compute_at(s[B], ti)
check("threads, and a loop inside", s, [A, B], "cuda", [a.sum(1)])


# Blocks.
def rfactored():
    sch = tir.Schedule(te.create_prim_func([A, B]))
    block = sch.get_block("B")
    i, j = sch.get_loops(block)
    ko, ki = sch.split(j, [None, 8])
    sch.reorder(i, ki, ko)
    return sch, block, sch.rfactor(ki, 0)


def check_blocks(title, sch, target):
    print(title)
    print(sch.mod)
    f = tvm.build(sch.mod, target)
    got = tvm.nd.array(np.zeros(37, dtype="float32"))
    f(tvm.nd.array(a), got)
    np.testing.assert_array_equal(got.numpy(), a.sum(1))


sch, block, part = rfactored()
print(len(sch.get_loops(block)), len(sch.get_loops(part)))
i, j = sch.get_loops(block)
sch.bind(i, "blockIdx.x")
sch.bind(j, "threadIdx.x")
sch.compute_at(part, i)
sch.set_scope(part, 0, "local")
sch.bind(sch.get_loops(part)[1], "threadIdx.x")
check_blocks("computed at the rows of the sum", sch, "cuda")

sch, block, part = rfactored()
sch.reverse_compute_at(block, sch.get_loops(part)[0])
sch.parallel(sch.get_loops(part)[0])
check_blocks("reduced at the rows of the parts", sch, "llvm")
