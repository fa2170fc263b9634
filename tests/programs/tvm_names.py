# SPDX-License-Identifier: Apache-2.0
# Names of TVM: functions of topi and tir, caches of several tensors, tags, index
# maps, parameters.
import numpy as np
import tvm
from tvm import te, topi, tir
rng = np.random.RandomState(3)
def run(title, made, feeds, want):
    print(title, made.shape, made.dtype)
    s = te.create_schedule(made.op)
    ins = [t for t, _ in feeds]
    f = tvm.build(s, ins + [made], "llvm")
    got = tvm.nd.array(np.zeros(want.shape, dtype=want.dtype))
    f(*([tvm.nd.array(v) for _, v in feeds] + [got]))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)
a = rng.uniform(-9, 9, (3, 4)).astype("float32")
A = te.placeholder(a.shape, name="A")
run("trunc", topi.trunc(A), [(A, a)], np.trunc(a))
run("log2", topi.log2(A), [(A, abs(a))], np.log2(abs(a)))
i = rng.randint(0, 3, (2, 4)).astype("int32")
u = rng.uniform(0, 1, (2, 4)).astype("float32")
i[1] = (i[0] + 1) % 3
I = te.placeholder(i.shape, "int32", name="I")
U = te.placeholder(u.shape, name="U")
w = a.copy()
for r in range(2):
    for q in range(4):
        w[int(i[r, q]), q] = u[r, q]
run("scatter_elements", topi.scatter_elements(A, I, U, axis=0), [(A, a), (I, i), (U, u)], w)
l = np.array([2, 4, 1], "int64")
L = te.placeholder((3,), "int64", name="L")
w = a.copy()
for r in range(3):
    w[r, :l[r]] = a[r, :l[r]][::-1]
run("reverse_sequence", topi.reverse_sequence(A, L), [(A, a), (L, l)], w)
d = rng.uniform(0, 1, (1, 8, 2, 3)).astype("float32")
D = te.placeholder(d.shape, name="D")
run("depth_to_space", topi.nn.depth_to_space(D, 2, mode="DCR"), [(D, d)], d.reshape(1,2,2,2,2,3).transpose(0,3,4,1,5,2).reshape(1,2,4,6))
run("depth_to_space", topi.nn.depth_to_space(D, 2, mode="CRD"), [(D, d)], d.reshape(1,2,2,2,2,3).transpose(0,1,4,2,5,3).reshape(1,2,4,6))
run("space_to_depth", topi.nn.space_to_depth(D, 1), [(D, d)], d)
x, y = te.var("x"), te.var("y")
for e in [tir.And(x > 0, y > 0), tir.Or(x > 0, y > 0), tir.Not(x > 0), tir.Max(x, y), tir.Min(x, y), tir.FloorDiv(x, y), tir.FloorMod(x, y), tir.Div(x, y), tir.Mod(x, y), tir.shift_right(x, 2), tir.shift_left(x, 2), tir.bitwise_and(x, y), tir.bitwise_or(x, y), tir.bitwise_xor(x, y), tir.bitwise_not(x), tir.truncdiv(x, y)]:
    print(e)

B, C = te.compute((8,), lambda i: (A[0, 0] + i, A[1, 1] * i), name="B")
s = te.create_schedule(B.op)
BL, CL = s.cache_write([B, C], "local")
print(BL.name, CL.name)
s[BL].vectorize(s[CL].op.axis[0])
print(tvm.lower(s, [A, B, C], simple_mode=True))

with te.tag_scope(tag="injective"):
    E = te.compute((16,), lambda i: A[0, i % 4] + 1.0, name="E")
print(E.op.tag, B.op.tag == "")

f = te.create_prim_func([A, E])
print(f.params)
sch = tir.Schedule(f)
sch.transform_layout("E", ("write", 0), tir.IndexMap.from_func(lambda i: (i // 4, i % 4)))
print(sch.mod["main"])
