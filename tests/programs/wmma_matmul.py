# SPDX-License-Identifier: Apache-2.0
# A product of halves, summed in floats, on tensor cores: blocks of 64 by 32,
# four warps of 32 threads; both inputs are staged in shared memory, from there
# loaded into fragments of 16 by 16.
import tvm
from tvm import te, tir

M, N, K = 64, 64, 64

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

# The product's operands and sums stand in fragments, tile by tile.
sums = sch.cache_write(block, 0, "wmma.accumulator")
shared = [sch.cache_read(block, index, "shared") for index in range(2)]
frags = [
    sch.cache_read(block, 0, "wmma.matrix_a"),
    sch.cache_read(block, 1, "wmma.matrix_b"),
]

i, j, r = sch.get_loops(block)
i, ii = sch.split(i, factors=[None, 16])
j, jj = sch.split(j, factors=[None, 16])
r, rr = sch.split(r, factors=[None, 16])
bi, wi, fi = sch.split(i, factors=[None, 2, 2])
bj, wj, fj = sch.split(j, factors=[None, 2, 1])
ro, ri = sch.split(r, factors=[None, 2])
sch.reorder(bi, bj, wi, wj, ro, ri, fi, fj, ii, jj, rr)
sch.bind(bi, "blockIdx.y")
sch.bind(bj, "blockIdx.x")
sch.bind(wi, "threadIdx.z")
sch.bind(wj, "threadIdx.y")
sch.reverse_compute_at(sums, wj)

for copy in frags:
    sch.compute_at(copy, ri)

# Every thread copies a part of what the block needs.
for copy in shared:
    sch.compute_at(copy, ro)
    loops = sch.get_loops(copy)
    parts = sch.split(sch.fuse(loops[-2], loops[-1]), factors=[None, 2, 2, 32])
    sch.bind(parts[1], "threadIdx.z")
    sch.bind(parts[2], "threadIdx.y")
    sch.bind(parts[3], "threadIdx.x")

# In a fragment each tile stands together; in shared memory, what a block needs
# at a time.
tiles = lambda i, j: (i // 16, j // 16, i % 16, j % 16)
for producer in [block, *frags]:
    sch.transform_layout(producer, ("write", 0), tiles)
for copy, height, width in ((shared[0], 64, 32), (shared[1], 32, 32)):
    sch.transform_layout(copy, ("write", 0), lambda i, j: (i // height, j // width, i % height, j % width))
for copy in [*frags, sums]:
    i, j = sch.get_loops(copy)[-2:]
    i, ii = sch.split(i, factors=[None, 16])
    j, jj = sch.split(j, factors=[None, 16])
    sch.reorder(i, j, ii, jj)
start = sch.decompose_reduction(block, ro)

sch.tensorize(sch.get_loops(start)[-2], "wmma_fill_16x16x16_f32")
sch.tensorize(sch.get_loops(frags[0])[-2], "wmma_load_16x16x16_f16_a_shared")
sch.tensorize(sch.get_loops(frags[1])[-2], "wmma_load_16x16x16_f16_b_shared")
sch.tensorize(sch.get_loops(block)[-3], "wmma_sync_16x16x16_f16f16f32")
sch.tensorize(sch.get_loops(sums)[-2], "wmma_store_16x16x16_f32_global")
print(sch.mod.script())
f = tvm.build(sch.mod, target="cuda")
