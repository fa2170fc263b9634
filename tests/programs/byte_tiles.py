# SPDX-License-Identifier: Apache-2.0
# A product of bytes, 48 rows of 512 by 192 columns, by an instruction for 16 rows
# of 256 and 64 columns; B is stored as it wants that.
import tvm
from tvm.script import tir as T


@T.prim_func
def bytes_product(A: T.Buffer((48, 512), "uint8"), B: T.Buffer((3, 128, 64, 4), "int8"), C: T.Buffer((48, 192), "int32")):
    for i, j, k in T.grid(48, 192, 512):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj // 64, vk // 4, vj % 64, vk % 4])


sch = tvm.tir.Schedule(bytes_product)
block = sch.get_sblock("C")
i, j, k = sch.get_loops(block)
i_o, i_i = sch.split(i, [None, 16])
j_o, j_i = sch.split(j, [None, 64])
k_o, k_i = sch.split(k, [None, 256])
sch.reorder(i_o, j_o, k_o, i_i, j_i, k_i)
sch.decompose_reduction(block, k_o)
sch.tensorize(i_i, "amx_16x64x256_u8s8")
tvm.build(sch.mod, target="gnu-c")
print(sch.mod)
