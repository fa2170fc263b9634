# SPDX-License-Identifier: Apache-2.0
# The name of an instruction ends no text of the assembly.
import tvm
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((32,), "uint32")):
    lane = T.launch_thread("threadIdx.x", 32)
    T.evaluate(T.call_intrin("void", "ptx.ld.b32 %0; }\" : : ); f(\"", A[lane], A.data))


tvm.build(f)
