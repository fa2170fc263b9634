# SPDX-License-Identifier: Apache-2.0
# Constants and operands of different types: an int is an int32 and a float a
# float32, then both operands get their common type.
import tvm
from tvm import te, tir, topi
from tvm.script import tir as T

TYPES = ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "bool", "float16", "float32", "float64"]
A = {t: te.placeholder((8,), t, name="A_" + t) for t in TYPES}


def types(a):
    return [
        a + 1, 1 - a, a * 1.5, a // 3, a % 3, a == 3, te.max(a, 1000), tir.if_then_else(a > 1, a, 1000),
        tir.Select(a > 1, a, 7),
    ]


for t in TYPES:
    if t not in ["bool", "float16", "float32", "float64"]:
        print(t, [e.dtype for e in types(A[t][0])], (A[t][0] << 3).dtype, (A[t][0] & 7).dtype)
print([[(A[x][0] + A[y][0]).dtype for y in TYPES] for x in TYPES])
print((A["float16"][0] + 2).dtype, (A["float16"][0] + 0.5).dtype, (A["int8"][0] + 3000000000).dtype)
print((A["uint8"][0] ^ 255).dtype)
print(tir.power(A["float16"][0], 2).dtype, (A["int8"][0] < True).dtype, (-A["int8"][0]).dtype)
print(tir.if_then_else(A["bool"][0], 1, 0).dtype, tir.if_then_else(A["bool"][0], 1, 0.5).dtype)
print(tir.const(1.5, "float64") + 0.1, A["float64"][0] * 0.1)

# Whole tensors.
I8, U8, F16 = A["int8"], A["uint8"], A["float16"]
for x in (
    topi.add(I8, 1), topi.multiply(U8, I8), topi.maximum(I8, 1000), topi.left_shift(U8, 1), topi.bitwise_and(U8, 255),
    topi.mod(I8, 3), topi.floor_mod(I8, 3), topi.divide(I8, 3), topi.floor_divide(I8, 3), topi.power(F16, 2),
    topi.less(U8, -1), I8 + 1, 2.5 * I8, topi.clip(I8, -10, 10), topi.where(A["bool"], I8, I8), topi.add(3, U8),
):
    print(x.op.name, x.dtype)


def show(args, result):
    print(tvm.lower(te.create_schedule(result.op), args + [result], simple_mode=True))


show([U8], te.compute((8,), lambda i: (U8[i] - 128).astype("int32"), name="zero_point"))
show([U8], te.compute((8,), lambda i: (U8[i] - 1 < 0).astype("int32"), name="compared"))
show([U8], te.compute((8,), lambda i: (U8[i] + U8[i]) // 2, name="output"))
show([I8], te.compute((8,), lambda i: te.if_then_else(I8[i] > 0, I8[i], 1000), name="clamped"))
show([I8, U8], topi.subtract(topi.add(I8, 1), U8))
show([I8], topi.mod(I8, 3))
k = te.reduce_axis((0, 8), name="k")
show([I8], te.compute((1,), lambda i: te.sum(I8[k] * 2, axis=k), name="total"))
show([I8], te.compute((1,), lambda i: te.max(I8[k], axis=k), name="greatest"))


@T.prim_func
def script(A: T.Buffer((8,), "uint8"), B: T.Buffer((8,), "int8"), C: T.Buffer((8,), "int32"), D: T.Buffer((8,), "int8"), E: T.Buffer((8,), "float16")):
    for i in range(8):
        C[i] = A[i] - 128
        D[i] = B[i] * 2
        D[i] += 1
        E[i] = T.if_then_else(B[i] < 5, E[i] * 0.5, T.max(E[i], 2))
        C[i] = C[i] + (B[i] << 2) + T.min(A[i], 1000)
        E[i] = E[i] + (B[i] < A[i]) + T.truncdiv(7, 2)
        C[i] = T.if_then_else(A[i] < 3, (A[i] - B[i]).astype("int16"), (-2) << 3)


print(tvm.lower(script, simple_mode=True))

# Results of functions on numbers alone have a type; a choice of one constant is
# no constant.
print(tir.floordiv(3000000000, 2).dtype, tir.max(3000000000, 2).dtype, tir.ceildiv(3000000000, 2).dtype, tir.floordiv(6, 2).dtype)


@T.prim_func
def chosen(A: T.Buffer((8,), "uint32"), B: T.Buffer((8,), "uint8")):
    for i in range(8):
        B[i] = A[i] + T.Select(A[i] < 3, -2, -2)


print(tvm.lower(chosen, simple_mode=True))
U64 = te.placeholder((8,), "uint64", name="U64")
show([U64], topi.clip(U64, 1, 300))
