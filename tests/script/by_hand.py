# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm.script import tir as T, ir as I

@tvm.script.ir_module
class Module:
    @T.prim_func(private=True)
    def main(a: T.handle, B: T.Buffer[(8, 8), "float32"], n: T.int32) -> None:
        """By hand."""
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        m = T.var("int32")
        A = T.match_buffer(a, [m, 8], dtype="float32", strides=[8, 1], align=128)
        C = T.alloc_buffer([8, 8], scope="local")
        for i, j in T.grid(8, 8):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.where(i < n)
                T.block_attr({"script": "a\"b", "list": [1, "x", [2.5]]})
                C[vi, vj] = A[vi, vj] * 2.0 + 1
        for i in T.serial(0, 8):
            for k in T.thread_binding(0, 8, thread="threadIdx.x"):
                with T.block("B"):
                    vi = T.axis.S(8, i)
                    vk = T.axis.R((0, 8), k)
                    with T.init():
                        B[vi, 0] = 0
                    B[vi, 0] += T.max(C[vi, vk], -B[vi, 0]) if n > 3 else T.float32("nan")
    @T.prim_func
    def lowered(A: T.Buffer((16,), "int32"), x: T.int64) -> T.int32:
        p = T.allocate([16], "int32", "local")
        P = T.Buffer((16,), "int32", data=p, scope="local")
        for i in T.parallel(4, annotations={"hint": 3}):
            y: T.int32 = A[i] // 3 % 4 << 1
            P[i * 4:i * 4 + 4] = A[i * 4:i * 4 + 4] + T.Ramp(0, 2, 4)
            with T.LetStmt(y + 1) as z:
                A[i] = T.Select(z > 1, z & 7, ~z) + T.truncmod(y, 5)
            if 0 <= y < 3 and not (y == 2):
                T.evaluate(T.call_extern("f", A.data, T.address_of(A[i]), dtype="int32"))
            elif y > 5:
                pass
            else:
                A[i] = T.Cast("int32", T.exp(T.float32(1.5) * y))
        while A[0] < x:
            A[0] = A[0] + 1
        assert A[0] >= 0, "negative"
        tx = T.launch_thread("threadIdx.x", 4)
        T.attr(0, "pragma", 1)
        A[tx] = P[tx]
        return 0
