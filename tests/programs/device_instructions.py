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


# A text is a literal of the language: it ends neither the call nor the assembly.
@T.prim_func
def quoted(A: T.Buffer((32,), "float32")):
    lane = T.launch_thread("threadIdx.x", 32)
    T.evaluate(T.call_intrin("void", "cuda.nano_sleep", "8); \" : : : */ %0"))
    A[lane] = T.float32(0)


for f in (reduced, ordered, quoted):
    print(tvm.build(f, target="cuda").get_source().split("#include")[-1])
