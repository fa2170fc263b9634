# SPDX-License-Identifier: Apache-2.0
# An instruction of shared memory with an address elsewhere.
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((32,), "uint32")):
    lane = T.launch_thread("threadIdx.x", 32)
    T.ptx.ld.shared.b32(A[lane], A.ptr_to([0]))


tvm.build(f)
