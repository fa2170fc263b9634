# SPDX-License-Identifier: Apache-2.0
# Instructions of NVIDIA's devices by TVM's names, as texts and as functions of the dialect.
import tvm
from tvm.script import tir as T


@T.prim_func
def reduced(A: T.Buffer((128,), "float32"), B: T.Buffer((2, 128), "float32")):
    T.device_entry()
    tx = T.thread_id([128])
    parts = T.alloc_buffer((4,), "float32", scope="shared")
    total: T.float32 = A[tx]
    total = T.cuda.cta_sum(total, 4, parts.ptr_to([0]))
    most: T.float32 = A[tx]
    most = T.cuda.warp_max(most, width=8)
    B[0, tx] = total
    B[1, tx] = T.cuda.warp_min(most)


@T.prim_func
def ordered(A: T.Buffer((2, 64), "int32"), C: T.Buffer((1,), "float32")):
    T.device_entry()
    tx = T.thread_id([64])
    T.ptx.fence.proxy.async_.shared__cta()
    T.ptx.griddepcontrol.wait()
    T.ptx.prefetch.global_.L2(A.ptr_to([1, 0]))
    if T.cuda.elect_sync():
        T.cuda.atomic_add(C.data, T.float32(1))
        T.cuda.atomic_cas(A.data, 0, tx)
        T.cuda.nano_sleep(8)
    T.ptx.cp.async_.commit_group()
    T.ptx.cp.async_.wait_group(0)
    T.ptx.bar.sync(1, 64)
    T.ptx.bar.sync(0)
    T.cuda.thread_fence()


@T.prim_func
def assembled(A: T.Buffer((32,), "uint32"), B: T.Buffer((64,), "float32"), C: T.Buffer((4,), "uint64")):
    T.device_entry()
    tx = T.thread_id([32])
    shared = T.alloc_buffer((64,), "float32", scope="shared")
    value = T.local_scalar("uint32")
    pair = T.alloc_local((2,), "float32")
    T.ptx.ld.global_.acquire.gpu.b32(value, A.ptr_to([tx]))
    T.ptx.lop3.b32(value, value, A[0], A[1], 0x96)
    T.ptx.ld.global_.v2.f32(pair[0], pair[1], B.ptr_to([tx * 2]))
    T.ptx.fma.rn.f32(pair[0], pair[0], pair[1], T.float32(0.5))
    T.ptx.st.shared__cta.v2.f32(shared.ptr_to([tx * 2]), pair[0], pair[1])
    T.cuda.cta_sync()
    T.ptx.ld.shared.f32(B[tx], shared.ptr_to([63 - tx]))
    T.ptx.red.relaxed.gpu.global_.add.u32(A.ptr_to([tx]), value)
    T.ptx.ld.global_.b64(C[0], T.ptx.addr(C.data, 8))
    T.ptx.st.release.gpu.global_.b32(A.ptr_to([0]), T.uint32(7))


# A text is a literal of the language: it ends neither the call nor the assembly.
@T.prim_func
def quoted(A: T.Buffer((32,), "float32")):
    lane = T.launch_thread("threadIdx.x", 32)
    T.evaluate(T.call_intrin("void", "cuda.nano_sleep", "8); \" : : : */ %0"))
    A[lane] = T.float32(0)


for f in (reduced, ordered, assembled, quoted):
    print(tvm.build(f, target="cuda").get_source().split("#include")[-1])
