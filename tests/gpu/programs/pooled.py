# SPDX-License-Identifier: Apache-2.0
# Two shared arrays that are together more than a kernel may declare: places in
# the memory that the launch is given.
import tvm
from tvm import te

A = te.placeholder((96, 128), name="A", dtype="float32")
C = te.placeholder((96,), name="C", dtype="float32")
B = te.compute((128, 96), lambda i, j: A[j, i] * C[j], name="B")
s = te.create_schedule(B.op)
AA = s.cache_read(A, "shared", [B])
CC = s.cache_read(C, "shared", [B])
o, i = s[B].split(B.op.axis[0], nparts=1)
s[B].bind(o, te.thread_axis("blockIdx.x"))
s[B].bind(i, te.thread_axis("threadIdx.x"))
for copy in (AA, CC):
    s[copy].compute_at(s[B], o)
    fused = s[copy].fuse(*copy.op.axis) if len(copy.op.axis) > 1 else copy.op.axis[0]
    part, tx = s[copy].split(fused, factor=128)
    s[copy].bind(tx, te.thread_axis("threadIdx.x"))
f = tvm.build(s, [A, C, B], target="cuda", name="pooled")
