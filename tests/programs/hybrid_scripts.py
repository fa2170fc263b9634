# SPDX-License-Identifier: Apache-2.0
# Functions of Python that are read as the statements of outside functions.
import numpy as np
import tvm
from tvm import te
from tvm.te import hybrid

n = te.var("n")
A = te.placeholder((n, 12), name="A")
a = np.random.RandomState(7).randint(-9, 9, (5, 12)).astype("float32")


def check(title, outputs, wants, target="llvm"):
    print(title)
    s = te.create_schedule([t.op for t in outputs])
    args = [A] + list(outputs)
    print(tvm.lower(s, args, simple_mode=True))
    f = tvm.build(s, args, target)
    got = [tvm.nd.array(np.zeros(w.shape, dtype=w.dtype)) for w in wants]
    f(tvm.nd.array(a), *got)
    for array, want in zip(got, wants):
        np.testing.assert_allclose(array.numpy(), want, rtol=1e-6)


scale = 3


# Variables, conditions, several outputs, a constant and an argument from outside.
@te.hybrid.script
def rows(x, limit):
    """The sums of rows, and their elements above a limit."""
    total = output_tensor((x.shape[0],), "float32")
    above = output_tensor((x.shape[0], len_of), "int32")
    for i in parallel(x.shape[0]):
        s = 0.0
        for j in range(len_of):
            v = x[i, j] * scale
            if v > limit and not (i == 0 and j == 0):
                above[i, j] = 1
            elif 0 <= j < 2 or v < -limit:
                above[i, j] = -1
            else:
                above[i, j] = 0
            s += v if v > 0 else -v
        total[i] = s
    return total, above


len_of = 12
total, above = rows(A, 9)
tripled = a * 3
want = np.where(tripled > 9, 1, np.where((np.arange(12) < 2) | (tripled < -9), -1, 0))
if tripled[0, 0] > 9:
    want[0, 0] = -1
check("rows", [total, above], [np.abs(tripled).sum(1), want.astype("int32")])
print(total.op.name, above.name, above.shape)


# Buffers of a script's own, loops of several kinds, and what is known now.
@hybrid.script
def smooth(x, steps, reverse):
    y = output_tensor(x.shape, "float32")
    row = allocate((12,), "float32", "local")
    for i in range(x.shape[0]):
        for j in vectorize(12):
            row[j] = x[i, j]
        for k in const_range(steps):
            for j in unroll(11):
                row[j] = (row[j] + row[j + 1] * (k + 1)) / 2.0
        for j in serial(12):
            if reverse:
                y[i, j] = row[11 - j]
            else:
                y[i, j] = max(row[j], float32(0))
    return y


want = a.copy()
for k in range(2):
    for j in range(11):
        want[:, j] = (want[:, j] + want[:, j + 1] * (k + 1)) / 2
check("smooth", [smooth(A, 2, False)], [np.maximum(want, 0)])
check("smooth, reversed", [smooth(A, 2, True)], [want[:, ::-1]])


# Threads, and the result of another stage.
@te.hybrid.script
def cubes(x):
    y = output_tensor(x.shape, x.dtype)
    for i in bind("blockIdx.x", x.shape[0]):
        for j in bind("threadIdx.x", 12):
            y[i, j] = power(x[i, j], 3.0) + sqrt(x[i, j] * x[i, j])
    return y


# A while loop.
@te.hybrid.script
def halves(x):
    y = output_tensor((x.shape[0],), "int32")
    for i in range(x.shape[0]):
        v = x[i, 3]
        count = 0
        while v > 1.0 and count < 20:
            v = v / 2.0
            count += 1
        y[i] = count
    return y


check("cubes", [cubes(A)], [a ** 3 + np.abs(a)], "cuda")
B = te.compute(A.shape, lambda i, j: A[i, j] + 4.0, name="B")
want = np.ceil(np.log2(np.maximum(a[:, 3] + 4, 1))).astype("int32")
check("halves", [halves(B)], [want])
