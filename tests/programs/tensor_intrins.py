# SPDX-License-Identifier: Apache-2.0
# Instructions that a program registers: one is a call with strides, one a loop.
import numpy as np
import tvm
from tvm import tir
from tvm.script import tir as T


@T.prim_func
def dot_desc(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, (4, 8), "float32", offset_factor=1)
    B = T.match_buffer(b, (8,), "float32", offset_factor=1)
    C = T.match_buffer(c, (4,), "float32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0:4], A[0:4, 0:8], B[0:8])
        T.writes(C[0:4])
        for i, k in T.grid(4, 8):
            with T.block("update"):
                vi, vk = T.axis.remap("SR", [i, k])
                C[vi] = C[vi] + A[vi, vk] * B[vk]


@T.prim_func
def dot_call(a: T.handle, b: T.handle, c: T.handle) -> None:
    stride = T.int32()
    A = T.match_buffer(a, (4, 8), "float32", offset_factor=1, strides=[stride, 1])
    B = T.match_buffer(b, (8,), "float32", offset_factor=1)
    C = T.match_buffer(c, (4,), "float32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0:4], A[0:4, 0:8], B[0:8])
        T.writes(C[0:4])
        T.evaluate(T.call_extern("int32", "dot_4x8", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr(1), stride))


@T.prim_func
def dot_loop(a: T.handle, b: T.handle, c: T.handle) -> None:
    stride = T.int32()
    A = T.match_buffer(a, (4, 8), "float32", offset_factor=1, strides=[stride, 1])
    B = T.match_buffer(b, (8,), "float32", offset_factor=1)
    C = T.match_buffer(c, (4,), "float32", offset_factor=1)
    with T.block("root"):
        T.reads(C[0:4], A[0:4, 0:8], B[0:8])
        T.writes(C[0:4])
        row = T.alloc_buffer((8,), "float32")
        for k in range(8):
            with T.block("row"):
                vk = T.axis.spatial(8, k)
                row[vk] = B[vk]
        for k in range(8):
            for i in T.vectorized(4):
                C[i] = C[i] + A[i, k] * row[k]


tir.TensorIntrin.register("dot_call", dot_desc, dot_call)
tir.TensorIntrin.register("dot_loop", dot_desc, dot_call)
tir.TensorIntrin.register("dot_loop", dot_desc, dot_loop, override=True)
print(tir.TensorIntrin.get("dot_loop") is not None)


@T.prim_func
def product(A: T.Buffer((16, 24), "float32"), B: T.Buffer((24,), "float32"), C: T.Buffer((16,), "float32")):
    for i, k in T.grid(16, 24):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk] * B[vk]


for name in ("dot_call", "dot_loop"):
    sch = tir.Schedule(product)
    block = sch.get_block("C")
    i, k = sch.get_loops(block)
    i0, i1 = sch.split(i, [None, 4])
    k0, k1 = sch.split(k, [None, 8])
    sch.reorder(i0, k0, i1, k1)
    sch.decompose_reduction(block, k0)
    sch.tensorize(i1, name)
    print(sch.mod["main"].script())
    f = tvm.build(sch.mod["main"], target="c")
    a = np.arange(16 * 24).reshape(16, 24).astype("float32") % 7
    b = np.arange(24).astype("float32")
    c = tvm.nd.array(np.zeros(16, dtype="float32"))
    if name == "dot_loop":
        f(tvm.nd.array(a), tvm.nd.array(b), c)
        np.testing.assert_array_equal(c.numpy(), a.dot(b))
