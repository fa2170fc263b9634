# SPDX-License-Identifier: Apache-2.0
# A product of halves, summed in floats, by warp groups of 128 threads: blocks of
# 128 by 128, each group 64 rows of them, 64 along the sum at a time. Operands lie
# in shared memory in parts of 8 by 16 bytes, those of rows next to each other, and
# each run of these a little further than the one before ends.
import tvm
from tvm import te, tir

M, N, K = 128, 128, 128

A = te.placeholder((M, K), name="A", dtype="float16")
B = te.placeholder((K, N), name="B", dtype="float16")
k = te.reduce_axis((0, K), name="k")
C = te.compute(
    (M, N),
    lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k),
    name="C",
)
sch = tir.Schedule(tvm.IRModule({"main": te.create_prim_func([A, B, C])}))
block = sch.get_block("C")

# Sums stay with their group, and go through shared memory to the result.
store = sch.cache_write(block, 0, "shared")
sums = sch.cache_write(block, 0, "wmma.accumulator.64x128")
rows, columns = [sch.cache_read(block, index, "shared") for index in range(2)]

i, j, r = sch.get_loops(block)
bi, wi, ii = sch.split(i, factors=[None, 2, 64])
bj, jj = sch.split(j, factors=[None, 128])
ro, rr = sch.split(r, factors=[None, 64])
sch.reorder(bi, bj, wi, ro, ii, jj, rr)
sch.bind(bi, "blockIdx.y")
sch.bind(bj, "blockIdx.x")
sch.bind(wi, "threadIdx.y")
sch.reverse_compute_at(sums, wi)
sch.reverse_compute_at(store, wi)

# Every thread copies a part of what the block needs, eight numbers at once.
for copy in (rows, columns):
    sch.compute_at(copy, ro)
    loops = sch.get_loops(copy)
    parts = sch.split(sch.fuse(loops[-2], loops[-1]), factors=[None, 2, 128, 8])
    sch.bind(parts[1], "threadIdx.y")
    sch.bind(parts[2], "threadIdx.x")
    sch.vectorize(parts[3])
loops = sch.get_loops(store)
parts = sch.split(sch.fuse(loops[-2], loops[-1]), factors=[None, 128])
sch.bind(parts[1], "threadIdx.x")

tiles = lambda i, j: (i // 64, j // 128, i % 64, j % 128)
for producer in (block, sums):
    sch.transform_layout(producer, ("write", 0), tiles)
sch.transform_layout(rows, ("write", 0), lambda i, j: (i // 128, j // 64, j % 64 // 8, i % 128, j % 8))
sch.transform_layout(columns, ("write", 0), lambda i, j: (i // 64, j // 128, j % 128 // 8, i % 64, j % 8))
for copy, axis, numbers in ((rows, 2, 1024), (columns, 2, 512)):
    sch.storage_align(copy, 0, axis, numbers, 8)
start = sch.decompose_reduction(block, ro)

sch.tensorize(sch.get_loops(start)[-2], "wgmma_fill_64x128_f32")
sch.tensorize(sch.get_loops(block)[-3], "wgmma_sync_64x128x64_f16f16f32")
sch.tensorize(sch.get_loops(sums)[-2], "wgmma_store_64x128_f32_shared")
print(sch.mod.script())
f = tvm.build(sch.mod, target="cuda")
