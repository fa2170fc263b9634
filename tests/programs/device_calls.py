# SPDX-License-Identifier: Apache-2.0
# Instructions of devices and packed functions are carried through; indices of
# blocks, warps and lanes; attributes of anything.
from tvm.script import tir as T

@T.prim_func
def instructions(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), p: T.handle):
    for t in T.thread_binding(32, thread="threadIdx.x"):
        mask = T.tvm_warp_activemask()
        B[t] = T.tvm_warp_shuffle(mask, A[t], 0, 32, 32)
        T.ptx["st.global.b32"](B.data, t, cache="cs")
        T.ptx_ldmatrix("float16", T.bool(False), 4, ".b16", A.data, 0, B.data, 0)
        B[t] = T.call_intrin("float32", "tir.exp", A[t])
        T.evaluate(T.Call("int32", "tir.call_extern", ["helper", t]))
        T.evaluate(T.call_llvm_pure_intrin("int32x4", T.uint32(7), T.uint32(0)))
        T.evaluate(T.tvm_struct_get(p, 0, 5, "int32"))

@T.prim_func
def packed(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
    T.attr("default", "device_id", 0)
    T.attr(A.data, "storage_alignment", 128)
    T.evaluate(T.call_packed("vm.builtin.copy", A, B, 4))
    T.evaluate(T.tvm_call_cpacked("run", A.data, T.reinterpret(T.uint64(0), dtype="handle"), dtype="int32"))

@T.prim_func
def ids(A: T.Buffer((2, 128), "int32"), B: T.Buffer((8, 64), "int32")):
    T.device_entry()
    T.hint("one warp for each row")
    bx = T.cta_id([2])
    warp = T.warp_id([4])
    lane = T.lane_id([32], dtype="uint32")
    A[bx, warp * 32 + T.cast(lane, "int32")] = warp

@T.prim_func
def clusters(B: T.Buffer((8, 64), "int32")):
    cluster = T.cluster_id([4])
    within = T.cta_id_in_cluster([2])
    x, y = T.thread_id([16, 4])
    group = T.warpgroup_id()
    B[cluster * 2 + within, y * 16 + x] = group

for f in (instructions, packed, ids, clusters):
    print(f)
