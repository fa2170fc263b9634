# SPDX-License-Identifier: Apache-2.0
# One definition under several schedules of stages. The order of statements
# about different stages does not matter.
import tvm
from tvm import te


def define():
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] * 2.0, name="B")
    C = te.compute((n, m), lambda i, j: B[i, j] + 1.0, name="C")
    return [A, C], B, C


def show(title, s, args):
    print("#", title)
    print(tvm.lower(s, args, simple_mode=True))


args, B, C = define()
s = te.create_schedule(C.op)
show("as defined", s, args)

s = te.create_schedule(C.op)
s[B].compute_inline()
xo, yo, xi, yi = s[C].tile(C.op.axis[0], C.op.axis[1], x_factor=8, y_factor=4)
s[C].vectorize(yi)
show("inlined and tiled", s, args)

s = te.create_schedule(C.op)
s[B].unroll(s[B].split(s[B].op.axis[1], factor=8)[1])
s[B].compute_at(s[C], C.op.axis[0])
s[C].parallel(C.op.axis[0])
show("one row at a time", s, args)

s = te.create_schedule(C.op)
s[B].compute_at(s[C], C.op.axis[0])
f = s[C].fuse(*s[C].op.axis)
s[B].compute_root()
o, i = s[C].split(f, nparts=4)
s[C].pragma(o, "unroll_explicit", 0)
show("fused, in four parts", s, args)
