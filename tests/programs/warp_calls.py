# SPDX-License-Identifier: Apache-2.0
# Instructions of a warp, with the texts of the dialect; results that the threads of a
# block reduce together and other threads read.
import tvm
from tvm.script import tir as T

@T.prim_func
def broadcast(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    lane = T.launch_thread("threadIdx.x", 32)
    mask = T.tvm_warp_activemask()
    B[lane] = T.tvm_warp_shuffle_down(mask, A[lane], 1, 32, 32) + T.tvm_warp_shuffle(mask, A[lane], 0, 32, 32)

# A text is a literal of the language: it cannot end the call.
@T.prim_func
def quoted(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    lane = T.launch_thread("threadIdx.x", 32)
    B[lane] = T.tvm_warp_shuffle(T.tvm_warp_activemask(), A[lane], "1); */ \" f(", 32, 32)

@T.prim_func
def centred(A: T.Buffer((4, 64), "float32"), B: T.Buffer((4, 64), "float32")):
    total = T.alloc_buffer((4,), "float32", scope="local")
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for k in T.thread_binding(64, thread="threadIdx.x"):
            with T.block("total"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    total[vi] = T.float32(0)
                total[vi] = total[vi] + A[vi, vk]
        for j in T.thread_binding(32, thread="threadIdx.x"):
            for half in range(2):
                with T.block("b"):
                    vi = T.axis.spatial(4, i)
                    vj = T.axis.spatial(64, half * 32 + j)
                    B[vi, vj] = A[vi, vj] - total[vi]

for f in (broadcast, quoted, centred):
    print(tvm.build(f, target="cuda").get_source().split("#include")[-1])
