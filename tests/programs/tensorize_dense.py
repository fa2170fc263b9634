# SPDX-License-Identifier: Apache-2.0
# Instructions that are declared for dense buffers, and one that is told a
# stride.
import tvm
from tvm import te

# Without names, as two instructions of one name are.
def product(size, symbol):
    w, x = te.placeholder((size, size)), te.placeholder((size, size))
    k = te.reduce_axis((0, size))
    y = te.compute((size, size), lambda i, j: te.sum(w[i, k] * x[j, k], axis=k))

    def lower(ins, outs):
        a, b, c = ins[0].access_ptr("r"), ins[1].access_ptr("r"), outs[0].access_ptr("w")
        print(ins[0].strides)
        return (
            tvm.tir.call_extern("int32", symbol, a, b, c),
            tvm.tir.call_extern("int32", symbol + "_zero", c),
            tvm.tir.call_extern("int32", symbol + "_add", a, b, c),
        )

    return te.decl_tensor_intrin(y.op, lower)


first, second = product(8, "eight"), product(4, "four")
A, B = te.placeholder((16, 16), name="A"), te.placeholder((16, 16), name="B")
k = te.reduce_axis((0, 16), name="k")
C = te.compute((16, 16), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
for size, instruction in ((8, first), (4, second)):
    s = te.create_schedule(C.op)
    io, jo, ii, ji = s[C].tile(C.op.axis[0], C.op.axis[1], size, size)
    ko, ki = s[C].split(k, factor=size)
    s[C].reorder(io, jo, ko, ii, ji, ki)
    s[C].tensorize(ii, instruction)
    print(tvm.lower(s, [A, B, C], simple_mode=True))


# Elements of a column, of which cache_read makes a copy.
def vadd(n):
    x, y = te.placeholder((n,)), te.placeholder((n,))
    z = te.compute((n,), lambda i: x[i] + y[i])

    def lower(ins, outs):
        return tvm.tir.call_extern(
            "int32", "vadd", ins[0].access_ptr("r"), ins[1].access_ptr("r"), outs[0].access_ptr("w"), n
        )

    return te.decl_tensor_intrin(z.op, lower)


Z = te.compute((16, 16), lambda i, j: A[i, j] + B[i, j], name="Z")
s = te.create_schedule(Z.op)
copies = [s.cache_read(A, "local", [Z]), s.cache_read(B, "local", [Z])]
ZL = s.cache_write(Z, "local")
i, j = Z.op.axis
s[Z].reorder(j, i)
for copy in [ZL] + copies:
    s[copy].compute_at(s[Z], j)
s[ZL].tensorize(s[ZL].op.axis[0], vadd(16))
print(tvm.lower(s, [A, B, Z], simple_mode=True))


# A stride that is passed on.
def rows(m, l):
    a = te.placeholder((l,), name="a")
    b = te.placeholder((m, l), name="b")
    r = te.reduce_axis((0, l), name="r")
    c = te.compute((m,), lambda i: te.sum(a[r] * b[i, r], axis=r), name="c")
    b_strided = tvm.tir.decl_buffer(b.shape, b.dtype, name="b", strides=[te.var("stride"), 1])

    def lower(ins, outs):
        call = tvm.tir.call_extern(
            "int32", "rows", outs[0].access_ptr("w"), ins[0].access_ptr("r"), ins[1].access_ptr("r"), m, l,
            ins[1].strides[0],
        )
        return call, tvm.tir.call_extern("int32", "rows_zero", outs[0].access_ptr("w"), m), call

    return te.decl_tensor_intrin(c.op, lower, binds={b: b_strided})


s = te.create_schedule(C.op)
x, y = C.op.axis
yo, yi = s[C].split(y, factor=8)
ko, ki = s[C].split(k, factor=8)
s[C].reorder(x, yo, ko, yi, ki)
s[C].tensorize(yi, rows(8, 8))
print(tvm.lower(s, [A, B, C], simple_mode=True))
