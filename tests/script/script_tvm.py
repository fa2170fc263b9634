#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that TVM makes, printed by TVM, read and printed by tirc, parsed by
TVM again: structurally equal to what they were. Runs with an interpreter that
has TVM: this one, or the one that TIRC_TVM_PYTHON names; without one the test
is skipped."""
import os
import subprocess
import sys
import tempfile

try:
    import tvm
    from tvm import te
    from tvm.s_tir import Schedule
    from tvm.script import from_source
    from tvm.script import tirx as T
except ImportError:
    import tvm_python
    tvm_python.start()

NOALIAS = "tirx.noalias"  # TVM tells True from T.bool(True) there


def matmul():
    a = te.placeholder((128, 64), name="A")
    b = te.placeholder((64, 32), name="B")
    k = te.reduce_axis((0, 64), "k")
    c = te.compute((128, 32), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k),
                   name="C")
    d = te.compute((128, 32), lambda i, j: te.if_then_else(
        i < 3, c[i, j].astype("int8").astype("float32"), te.exp(c[i, j])),
        name="D")
    return te.create_prim_func([a, b, d])


def window():
    n = te.var("n")
    a = te.placeholder((n, 16), "int32", name="A")
    k = te.reduce_axis((0, 3), "k")
    b = te.compute((n, 14), lambda i, j: te.max(a[i, j + k] // 3, axis=k),
                   name="B")
    return te.create_prim_func([a, b])


def scheduled():
    s = Schedule(matmul())
    block = s.get_sblock("C")
    i, j, k = s.get_loops(block)
    io, ii = s.split(i, [None, 7])
    s.reorder(io, k, ii, j)
    s.vectorize(j)
    s.bind(io, "blockIdx.x")
    s.annotate(ii, "hint", 3)
    s.cache_write(block, 0, "local")
    return s.mod["main"]


def main():
    failed = 0
    for make in (matmul, window, scheduled):
        func = make().without_attr(NOALIAS)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.py")
            with open(path, "w") as file:
                file.write(func.script())
            done = subprocess.run(
                [os.environ["TIRC"], "lower", "--phase", "0", path],
                capture_output=True, text=True)
        if done.returncode:
            print(make.__name__, done.stderr, func.script(), sep="\n")
            failed += 1
            continue
        text = done.stdout.replace("@T.prim_func", "@T.prim_func(s_tir=True)")
        again = from_source(text, extra_vars={"T": T})
        try:
            tvm.ir.assert_structural_equal(func, again)
        except ValueError as error:
            print(error)
            print(make.__name__, func.script(), done.stdout, sep="\n")
            failed += 1
    print("%d failed" % failed)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
