# SPDX-License-Identifier: Apache-2.0
"""Passes over PrimFuncs that a program writes: loops are found, split, and replaced;
the function computes the same."""
import numpy as np
import tvm
from tvm import te, tir

n = 64
A = te.placeholder((n, 8), name="A")
B = te.compute((n, 8), lambda i, j: A[i, j] + 1.0, name="B")
C = te.compute((n, 8), lambda i, j: te.if_then_else(i < 3, B[i, j], 0.0), name="C")
s = te.create_schedule(C.op)


@tvm.tir.transform.prim_func_pass(opt_level=0)
def split(f, mod, ctx):
    found = []

    def find(node):
        if isinstance(node, tir.For) and isinstance(node.extent, tir.IntImm):
            if node.extent.value == n:
                found.append(node)

    tir.stmt_functor.post_order_visit(f.body, find)
    kinds = []
    tir.stmt_functor.post_order_visit(f.body, lambda node: kinds.append(type(node).__name__))
    print(len(found), "loops;", kinds.count("Add"), "sums", found[0].loop_var.name)

    def post(node):
        if node not in found:
            return None
        outer, inner = te.var("outer"), te.var("inner")
        body = tir.stmt_functor.substitute(node.body, {node.loop_var: outer * 16 + inner})
        body = tir.For(inner, 0, 16, tir.ForKind.UNROLLED, body)
        return tir.For(outer, 0, node.extent.value // 16, tir.ForKind.SERIAL, body)

    return f.with_body(tir.stmt_functor.ir_transform(f.body, None, post, ["tir.For"]))


def stores(f):
    names = []

    def visit(node):
        if isinstance(node, tir.BufferStore):
            names.append((node.buffer.name, len(node.indices), str(node.value)))

    tir.stmt_functor.post_order_visit(f.body, visit)
    return names


plain = tvm.lower(s, [A, C], simple_mode=True)
print(stores(plain["main"]))
with tvm.transform.PassContext(config={"tir.add_lower_pass": [(1, split)]}):
    print(tvm.lower(s, [A, C], simple_mode=True))
    f = tvm.build(s, [A, C], "llvm", name="guarded")
x = np.arange(n * 8, dtype="float32").reshape(n, 8)
a, c = tvm.nd.array(x), tvm.nd.array(np.zeros((n, 8), "float32"))
f(a, c)
want = np.zeros((n, 8), "float32")
want[:3] = x[:3] + 1
np.testing.assert_equal(c.numpy(), want)
print(split(plain))
