# SPDX-License-Identifier: Apache-2.0
# TVMScript: macros, calls of other functions of a module, parts of buffers under
# names of their own.
import numpy as np
import tvm
from tvm.script import ir as I
from tvm.script import tir as T

two = 2


@T.macro
def scaled(X, Y, i, j, factor=3.0):
    y = X[i, j] * factor  # not the caller's y
    Y[i, j] = y + T.float32(two)


@T.macro(hygienic=False)
def rows(X, Y):
    for r in range(n):
        for q in range(8):
            scaled(X, Y, r, q, factor=0.5)


n = 4


@T.prim_func
def by_macros(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"),
              C: T.Buffer((4, 8), "float32")):
    for i, j in T.grid(4, 8):
        y = A[i, j] + T.float32(1)
        scaled(A, B, i, j)
        B[i, j] = B[i, j] + y
    rows(A, C)


print(by_macros)


@I.ir_module
class Module:
    @T.prim_func
    def twice(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "twice"})
        for i in range(8):
            B[i] = A[i] * T.float32(2)

    @T.prim_func
    def main(A: T.Buffer((8,), "float32"), C: T.Buffer((8,), "float32")):
        T.func_attr({"global_symbol": "main"})
        B = T.alloc_buffer((8,), "float32")
        Module.twice(A.data, B.data)
        Module.twice(B.data, C.data)


print(Module)


@T.prim_func
def parts(A: T.Buffer((32, 64), "float32"), B: T.Buffer((2, 32, 64), "float32")):
    for b, i, j in T.grid(2, 2, 4):
        with T.block("tile"):
            vb, vi, vj = T.axis.remap("SSS", [b, i, j])
            T.reads(A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])
            T.writes(B[vb, vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])
            A0 = T.match_buffer(
                A[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16], (16, 16),
                "float32", strides=[64, 1], offset_factor=16)
            B0 = T.match_buffer(
                B[vb, vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16], (16, 16),
                "float32", strides=[64, 1], offset_factor=16)
            for ii, jj in T.grid(A0.shape[0], 16):
                with T.block("inner"):
                    vii, vjj = T.axis.remap("SS", [ii, jj])
                    T.reads(A0[vii, vjj])
                    T.writes(B0[vii, vjj])
                    B0[vii, vjj] = A0[vii, vjj] + T.float32(1)


print(tvm.tir.Schedule(parts).mod["main"])

a = np.arange(32, dtype="float32").reshape(4, 8)
b, c = tvm.nd.array(a * 0), tvm.nd.array(a * 0)
tvm.build(by_macros, target="llvm")(tvm.nd.array(a), b, c)
np.testing.assert_allclose(b.numpy(), a * 3 + 2 + a + 1)
np.testing.assert_allclose(c.numpy(), a * 0.5 + 2)
x = tvm.nd.array(a[0])
y = tvm.nd.array(np.zeros(8, "float32"))
tvm.build(Module, target="llvm")["main"](x, y)
np.testing.assert_allclose(y.numpy(), a[0] * 4)
p = np.random.RandomState(0).uniform(size=(32, 64)).astype("float32")
q = tvm.nd.array(np.zeros((2, 32, 64), "float32"))
tvm.build(parts, target="llvm")(tvm.nd.array(p), q)
np.testing.assert_allclose(q.numpy(), np.stack([p + 1, p + 1]), rtol=1e-6)
