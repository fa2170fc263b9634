# SPDX-License-Identifier: Apache-2.0
# PrimFuncs: their parameters, buffers and attributes, specialize; clz; settings of
# PassContext; timeit.
import timeit

import numpy as np
import tvm
from tvm import te, tir
from tvm.script import tir as T


@T.prim_func
def scale(a: T.handle, b: T.handle, n: T.int32, f: T.float32) -> None:
    T.func_attr({"global_symbol": "scale", "tir.noalias": True})
    A = T.match_buffer(a, (n, 16), "float32")
    B = T.match_buffer(b, (n, 16), "float32")
    C = T.alloc_buffer((n, 16), "float32")
    for i, j in T.grid(n, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * f
    for i, j in T.grid(n, 16):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = C[vi, vj] + T.float32(1)


@T.prim_func
def flattened(A: T.Buffer[(128,), "float32"], B: T.Buffer[(128,), "float32"]):
    T.preflattened_buffer(A, [8, 16], dtype="float32", data=A.data)
    T.preflattened_buffer(B, [8, 16], dtype="float32", data=B.data)
    for i, j in T.grid(8, 16):
        B[i * 16 + j] = A[i * 16 + j] + T.float32(2)


a, b, n, f = scale.params
print(a, b, n, f, scale.attrs["global_symbol"])
for p, buffer in scale.buffer_map.items():
    print(p, buffer.name, buffer.shape, buffer.dtype)
small = scale.specialize({n: 8})
print(small)
print(scale.specialize({a: tir.decl_buffer((32, 16), "float32"), f: 2.0}))
for wrong in [{b: tir.decl_buffer((32, 17), "float32")}, {n: 8, a: 8},
              {a: tir.decl_buffer((4, 16), "float32"), n: 8}, {te.var("n"): 1}]:
    try:
        scale.specialize(wrong)
    except ValueError as error:
        print(error)
x = np.random.RandomState(0).uniform(size=(8, 16)).astype("float32")
y = tvm.nd.array(np.zeros((8, 16), "float32"))
small = small.specialize({small.params[2]: 3.0})
tvm.build(small.with_attr("global_symbol", "small"), target="llvm")(
    tvm.nd.array(x), y)
np.testing.assert_allclose(y.numpy(), x * 3 + 1, rtol=1e-6)

z = tvm.nd.array(np.zeros(128, "float32"))
tvm.build(flattened, target="llvm")(
    tvm.nd.array(x.reshape(128)), z)
np.testing.assert_allclose(z.numpy(), x.reshape(128) + 2, rtol=1e-6)

# the bits before the first one
for kind, bits in [("int8", 8), ("uint16", 16), ("int32", 32), ("uint32", 32),
                   ("int64", 64)]:
    values = [0, 1, 2, 3, 5, 100, 127]
    values += [-1, -128] if kind[0] == "i" else [2 ** bits - 1]
    if bits == 64:
        values[-1] = 1 << 40
    Z = te.placeholder((len(values),), kind, name="Z")
    Y = te.compute(Z.shape, lambda i: tir.clz(Z[i]), name="Y")
    got = tvm.nd.array(np.zeros(len(values), "int32"))
    tvm.build(te.create_schedule(Y.op), [Z, Y], "llvm", name="clz_" + kind)(
        tvm.nd.array(np.array(values, dtype=kind)), got)
    want = []
    for v in values:
        length = bits if v < 0 else 0
        while v > 0:
            length, v = length + 1, v // 2
        want.append(bits - length)
    print(kind, got.numpy())
    assert got.numpy().tolist() == want, want

A = te.placeholder((64,), name="A")
B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
s = te.create_schedule(B.op)
outer, inner = s[B].split(B.op.axis[0], 4)
s[B].vectorize(inner)
with tvm.transform.PassContext(config={"tir.disable_vectorize": True}):
    print(tvm.lower(s, [A, B], simple_mode=True))
s = te.create_schedule(B.op)
outer, inner = s[B].split(B.op.axis[0], 4)
with tvm.transform.PassContext(
        config={"tir.UnrollLoop": {"auto_max_step": 4,
                                   "explicit_unroll": False}}):
    print(tvm.lower(s, [A, B]))

print(timeit.timeit(lambda: 1 + 1, number=10) >= 0,
      len(timeit.repeat(lambda: None, repeat=3, number=1)))
timer = timeit.Timer(lambda: 1 + 1)
print(timer.timeit(number=2) >= 0, len(timer.repeat(repeat=4, number=1)))


@T.prim_func
def of_sizes(a: T.handle, b: T.handle):
    T.func_attr({"tir.noalias": True, "target": T.target("llvm")})
    n, m = T.int32(), T.int64()
    X = T.match_buffer(a, (n, m), "float32")
    Y = T.match_buffer(b, (n, m), "float32")
    for i, j in T.grid(n, m):
        Y[i, j] = X[i, j] - T.float32(1)


print(of_sizes)
z = tvm.nd.array(np.zeros((8, 16), "float32"))
tvm.build(of_sizes, target="llvm")(tvm.nd.array(x), z)
np.testing.assert_allclose(z.numpy(), x - 1, rtol=1e-6)
