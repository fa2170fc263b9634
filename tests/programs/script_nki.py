# SPDX-License-Identifier: Apache-2.0
# The instructions of NKI on tiles, as what they compute.
import numpy as np
import tvm
from tvm.script import tir as T

@T.prim_func
def products(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 6), "float16"), C: T.Buffer((8, 6), "float32"),
             D: T.Buffer((8, 6), "float32")):
    a = T.alloc_buffer((4, 8), scope="trn.sbuf")
    identity = T.alloc_buffer((4, 4), scope="trn.sbuf")
    with T.attr(0, "tensorized_nki_instruction", 1):
        for p in T.serial(4, annotations={"nki_dim": "P"}):
            for f in T.serial(8, annotations={"nki_dim": "F"}):
                T.nki.load(a[p, f], A[p, f])
    with T.attr(0, "tensorized_nki_instruction", 1):
        for p in T.serial(4, annotations={"nki_dim": "P"}):
            for f in T.serial(4, annotations={"nki_dim": "F"}):
                T.nki.identity(identity[p, f], 4)
    with T.attr(0, "tensorized_nki_instruction", 1):
        for p in T.serial(8, annotations={"nki_dim": "P"}):
            for f in T.serial(6, annotations={"nki_dim": "F"}):
                T.nki.memset(C[p, f], T.float32(1))
    with T.attr(0, "tensorized_nki_instruction", 1):
        for p in T.serial(4, annotations={"nki_dim": "P"}):
            for l in T.serial(8, annotations={"nki_dim": "lhs_F"}):
                for r in T.serial(6, annotations={"nki_dim": "rhs_F"}):
                    T.nki.matmul(C[l, r], a[p, l], B[p, r], True)
    with T.attr(0, "tensorized_nki_instruction", 1):
        for p in T.serial(4, annotations={"nki_dim": "P"}):
            for l in T.serial(8, annotations={"nki_dim": "lhs_F"}):
                for r in T.serial(4, annotations={"nki_dim": "rhs_F"}):
                    T.nki.matmul(D[l, r], a[p, l], identity[p, r], False)

@T.prim_func
def sums(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((4, 4), "float32"), n: T.int32):
    T.attr(0, "tensorized_nki_instruction", 1)
    for p in T.serial(4, annotations={"nki_dim": "P"}):
        for f in T.serial(8, annotations={"nki_dim": "F"}):
            T.nki.tensorreduce(C[p, 0], A[p, f], "add", True, -1)
            T.nki.activation_reduce(C[p, 1], B[p, f], A[p, f], "sqrt", "max", bias=T.float32(4), scale=T.float32(2))
            if p < n:
                T.nki.tensorscalar_reduce(C[p, 2], B[p, f], A[p, f], T.float32(3), "sub", "min", True)

@T.prim_func
def elements(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32"), C: T.Buffer((6, 4, 8), "float32"),
             H: T.Buffer((4, 8), "float16")):
    for p, f in T.grid(4, 8):
        T.attr(0, "tensorized_nki_instruction", 1)
        T.nki.tensortensor(C[0, p, f], A[p, f], B[p, f], "mul")
        T.nki.tensorscalar(C[1, p, f], A[p, f], T.float32(2), "sub", True)
        T.nki.scalar_tensor_scalar(C[2, p, f], A[p, f], B[p, 0], T.float32(1), "add", "sub", False, True)
        T.nki.scalar_tensor_tensor(C[3, p, f], A[p, f], B[p, f], B[p, 0], "min", "mul", False, False)
        T.nki.reciprocal(C[4, p, f], B[p, f])
        T.nki.affine_select(C[5, p, f], p < f, A[p, f], T.float32(-1))
        T.nki.activation(H[p, f], H[p, f], "exp")

def run(f, *arrays):
    arrays = [tvm.nd.array(x) if isinstance(x, np.ndarray) else x for x in arrays]
    tvm.build(f, target="c")(*arrays)
    return [x.numpy() if isinstance(x, tvm.nd.NDArray) else x for x in arrays]

def same(a, b):
    print(bool(np.allclose(a, b, rtol=1e-3)))

a = np.arange(32, dtype="float32").reshape(4, 8)
b = (np.arange(24) % 5).astype("float16").reshape(4, 6)
wide = (np.arange(32) % 7 + 1).astype("float32").reshape(4, 8)

_, _, c, d = run(products, a, b, np.zeros((8, 6), "float32"), np.ones((8, 6), "float32"))
same(c, 1 + a.T @ b.astype("float32"))
same(d[:, :4], a.T)
same(d[:, 4:], 1)

_, y, c, _ = run(sums, a, wide, np.zeros((4, 4), "float32"), 2)
same(c[:, 0], -a.sum(axis=1))
same(c[:, 1], np.sqrt(2 * a + 4).max(axis=1))
same(c[:2, 2], (3 - a).min(axis=1)[:2])
same(c[2:, 2], 0)
same(y[:2], (3 - a)[:2])
same(y[2:], np.sqrt(2 * a + 4)[2:])

half = (wide / 8).astype("float16")
_, _, c, h = run(elements, a, wide, np.zeros((6, 4, 8), "float32"), half)
first = wide[:, :1]
same(c[0], a * wide)
same(c[1], 2 - a)
same(c[2], 1 - (a + first))
same(c[3], np.minimum(a, wide) * first)
same(c[4], 1 / wide)
same(c[5], np.where(np.arange(4)[:, None] < np.arange(8), a, -1))
same(h, np.exp(half.astype("float32")))
