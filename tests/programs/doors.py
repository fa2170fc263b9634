#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user of TVM is told: by tirc codegen, about the files, the target,
scratch memory and the steps of a schedule that the target does not use; by tirc
run PROGRAM.py, the times of the functions."""
import re
import shutil

from helper import *

folder = work_folder()


def written(name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def run(*arguments, status=0):
    return tirc(*arguments, status=status, cwd=folder)


def shows(text, *parts):
    for part in parts:
        if part not in text:
            fail("%r is not in\n%s" % (part, text))


def lacks(text, *parts):
    for part in parts:
        if part in text:
            fail("%r is in\n%s" % (part, text))


GEMM = """
import tvm
from tvm import te

M, N, K, bn = %d, %d, %d, 32
k = te.reduce_axis((0, K), "k")
A = te.placeholder((M, K), name="A")
B = te.placeholder((K, N), name="B")
packedB = te.compute((N // bn, K, bn),
                     lambda o, k, i: B[k, o * bn + i], name="packedB")
C = te.compute((M, N), lambda m, n: te.sum(
    A[m, k] * packedB[n // bn, k, tvm.tir.indexmod(n, bn)], axis=k), name="C")
s = te.create_schedule(C.op)
mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], bn, bn)
s[C].parallel(mo)
s[packedB].vectorize(s[packedB].op.axis[2])
func = tvm.build(s, [A, B, C], target="llvm -mcpu=core-avx2", name="gemm")
print(type(func))
"""
large = written("gemm.py", GEMM % (512, 512, 512))
small = written("small.py", GEMM % (64, 64, 64))

# The summary, the head of both files, the comment of each.
done = run("codegen", large, "-o", "out", "--target", "c99")
shows(done.stdout,
      "scratch  gemm: packedB, 1048576 bytes, contents irrelevant, one per "
      "thread\n",
      "target   c99\n", "files    out/gemm.c out/gemm.h\n",
      "next     tirc test gemm.py --target c99\n")
lacks(done.stderr, "mcpu")
files = contents(os.path.join(folder, "out"))
for name in ("gemm.c", "gemm.h"):
    shows(files[name].decode(), "/* gemm: from gemm.py, tirc ", ", target c99\n",
          "\n * meant for   -std=c99 ",
          " scratch, 1048576 bytes, contents irrelevant,\n *             one per "
          "thread\n", "f32 [512][512], read and written\n")
shows(files["gemm.h"].decode(), " * The arrays must not overlap.\n")
shows(files["gemm.c"].decode(),
      "vectorize(i) (left to the compiler)")
compile_line, = re.findall("^compile  (.*)$", done.stdout, re.M)
subprocess.run(compile_line, shell=True, check=True, cwd=folder)
done = run("codegen", large, "-o", "out", "-q", "--target", "c99")
if done.stdout or done.stderr:
    fail("-q prints\n" + done.stdout + done.stderr)
shows(run("codegen", large, "-o", "out").stdout,
      'target   x86-64-v3 (the program\'s "llvm -mcpu=core-avx2")\n')

# A target without threads leaves parallel loops as they are: said once, and in
# the comment.
done = run("codegen", small, "--target", "c99")
shows(done.stderr, "gemm: loop m_outer is not shared between threads: target c99 "
      "has none; docs/how-to/threads.md names")
if done.stderr.count("not shared") != 1:
    fail(done.stderr)
shows(" ".join(done.stdout.split("\n *             ")),
      "parallel(m_outer) (unused: the target has no threads)")
if has_dialect("c-openmp"):
    done = run("codegen", small, "--target", "c-openmp", "-o", "omp")
    lacks(done.stderr, "not shared")
    lacks(contents(os.path.join(folder, "omp"))["small.c"].decode(), "unused")
    shows(done.stdout, "link     with -fopenmp\n")
# There is one scratch array for all iterations, so threads do not share them.
    done = run("codegen", written("inside.py", """
import tvm
from tvm import te

A = te.placeholder((8, 1 << 20), name="A")
B = te.compute((8, 1 << 20), lambda i, j: A[i, j] + 1.0, name="B")
C = te.compute((8, 1 << 20), lambda i, j: B[i, (1 << 20) - 1 - j], name="C")
s = te.create_schedule(C.op)
s[B].compute_at(s[C], C.op.axis[0])
s[C].parallel(C.op.axis[0])
tvm.build(s, [A, C], target="llvm", name="f")
"""), "--target", "c-openmp")
    shows(done.stderr, "f: loop i is not shared between threads: an array inside "
          "is too large for the stack", "compute_at")
if has_dialect("cuda"):
    # Kernels that run at the same time in two streams must not share scratch.
    done = run("codegen", written("kernels.py", """
import tvm
from tvm import te

A = te.placeholder((8, 64), name="A")
B = te.compute((8, 64), lambda i, j: A[i, j] + 1.0, name="B")
C = te.compute((8, 64), lambda i, j: B[i, 63 - j], name="C")
s = te.create_schedule(C.op)
for stage in s[B], s[C]:
    stage.bind(stage.op.axis[0], te.thread_axis("blockIdx.x"))
    stage.bind(stage.op.axis[1], te.thread_axis("threadIdx.x"))
tvm.build(s, [A, C], target="cuda", name="f")
"""), "-o", "kernels")
    scratch = "2048 bytes, contents irrelevant, one per stream\n"
    header = contents(os.path.join(folder, "kernels"))["kernels.h"].decode()
    shows(done.stdout, "scratch  f: B, " + scratch)
    shows(" ".join(header.split("\n *             ")), "scratch, " + scratch)
if has_dialect("avr"):
    done = run("codegen", small, "--target", "avr")
    shows(done.stderr, "is not vectorized: target avr has no vectors")
    shows(" ".join(done.stdout.split("\n *             ")),
          "vectorize(i) (unused: the target has no vectors)")

# Times: for the machine at hand, unless the program names another target.
TIME = (r"minimum [0-9.e+-]+ ms, median [0-9.e+-]+ ms of %d runs?, "
        r"[0-9.e+-]+ GFLOP/s\n")
done = run("run", small, "--repeat", "3")
if not re.match("gemm  " + TIME % 3, done.stdout):
    fail(done.stdout)
shows(done.stdout, "target   native = ")
done = run("run", small, "--target", "c99", "--repeat", "1")
if not re.fullmatch("gemm  " + TIME % 1 + "target   c99\n", done.stdout):
    fail(done.stdout)
if run("run", small, "--target", "c99", "-q").stdout:
    fail("-q prints")
OPEN = """
import tvm
from tvm import te

n = te.var("n")
A = te.placeholder((n,), name="A")
I = te.placeholder((n,), name="I", dtype="int32")
B = te.compute((n,), lambda i: A[I[i]] + 1.0, name="B")
s = te.create_schedule(B.op)
tvm.build(s, [A, I, B], target="c", name="gather")
"""
gather = written("gather.py", OPEN)
for arguments, n in (((), 256), (("--dim", "n=40"), 40)):
    done = run("run", gather, *arguments)
    if not re.fullmatch(r"gather\(n=%d\)  " % n + TIME % 10 +
                        r"target   c99 \(the program's \"c\"\)\n", done.stdout):
        fail(done.stdout)
# What one call writes is not what the next one reads: 200 calls of x * 4 are
# finite.
kept = os.path.join(folder, "kept")
run("run", written("own.py", """
from tvm.script import tir as T


@T.prim_func
def grow(a: T.handle):
    A = T.match_buffer(a, (4,), "float32")
    for i in T.serial(4):
        A[i] = A[i] * T.float32(4) + T.float32(1)
"""), "--repeat", "200", "--target", "c99", "--keep", kept)
results = memoryview(contents(kept)["result_0.bin"]).cast("f")
if max(map(abs, results)) > 100:
    fail(list(results))
done = run("run", small, "--output", "y.npz", status=2)
shows(done.stderr, "--output is for models, and small.py is a program")
if all(shutil.which(x) for x in ("arm-none-eabi-gcc", "qemu-system-arm")):
    done = run("run", gather, "--target", "cortex-m4", "--repeat", "2")
    if not re.match(r"gather\(n=256\)  minimum [0-9]+ instructions, median [0-9]+ "
                    r"of 2 runs\n", done.stdout):
        fail(done.stdout)
