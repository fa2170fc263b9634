#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schedules_tvm.py CASES_PROGRAM CASES DOCS

Traces between tirc and TVM, both ways: TVM applies those of the cases of
schedules/ to the functions as tirc prints them, and tirc applies what TVM
records. Runs with an interpreter that has TVM: this one, or the one that
TIRC_TVM_PYTHON names; without one the test is skipped."""
import glob
import json
import os
import subprocess
import sys
import tempfile

try:
    import tvm
    from tvm import te
    from tvm.s_tir import Schedule
    from tvm.s_tir.schedule import Trace
    from tvm.s_tir.schedule.schedule import ScheduleError
    from tvm.script import from_source
    from tvm.script import tirx as T
except ImportError:
    import tvm_python
    tvm_python.start()


def expected_to_differ(text):
    """What this release of TVM cannot take: saved index maps (its own
    cannot be saved either), names and instructions of ours alone, one block
    to be blockized, arithmetic on samples."""
    return any(word in text for word in (
        "type_key", '"Rename', '"CopyBox"', '"PadAxis"', '"PadParameter"',
        '"RFactorInside"', '"Tensorize"', '"Blockize", ["b')) or any(
        " * " in str(x) for i in json.loads(text)[0] for x in i[1])


def to_tvm(folder):
    taken, failed = 0, 0
    for path in sorted(glob.glob(folder + "/*.json")):
        text = open(path).read()
        name = os.path.basename(path)
        source = open(path[:-5] + ".py").read()
        source = source.replace("@T.prim_func", "@T.prim_func(s_tir=True)")
        try:
            schedule = Schedule(from_source(source, {"T": T}))
            Trace.apply_json_to_schedule(json.loads(text), schedule)
            taken += 1
        # A KeyError is how its read_at ends on symbolic sizes.
        except (ScheduleError, KeyError) as error:
            print("TVM is stricter: %s: %s" % (
                name, str(error).strip().splitlines()[-1][:100]))
        except Exception as error:
            if not expected_to_differ(text):
                failed += 1
                print("%s: %s" % (
                    name, str(error).strip().splitlines()[-1]))
    print("%d traces taken by TVM, %d wrong" % (taken, failed))
    return taken > 20 and failed == 0


def matmul():
    a = te.placeholder((32, 32), name="A")
    b = te.placeholder((32, 32), name="B")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute((32, 32), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k),
                   name="C")
    d = te.compute((32, 32), lambda i, j: c[i, j] + 1.0, name="D")
    return te.create_prim_func([a, b, d])


def tiled(s):
    c = s.get_sblock("C")
    i, j, k = s.get_loops(c)
    i0, i1 = s.split(i, s.sample_perfect_tile(i, n=2))
    j0, j1 = s.split(j, [None, 8])
    s.reorder(i0, j0, k, i1, j1)
    s.reverse_compute_at(s.get_sblock("D"), j0)
    s.parallel(i0)
    s.unroll(i1)
    s.decompose_reduction(c, k)
    s.annotate(i0, "pragma", s.sample_categorical([1, 2], [0.5, 0.5]))
    s.annotate(i0, "why", "outer")


def cached(s):
    c = s.get_sblock("C")
    i, j, k = s.get_loops(c)
    a = s.cache_read(c, 0, "shared")
    s.cache_write(c, 0, "local")
    k0, k1 = s.split(k, [None, 4])
    s.compute_at(a, k0)
    s.storage_align(a, 0, 0, 32, 4)
    s.set_scope(a, 0, "local")
    s.fuse(*s.get_loops(s.get_sblock("D")))
    s.enter_postproc()


def partial_sums(s):
    k = s.get_loops(s.get_sblock("C"))[2]
    k0, k1 = s.split(k, [None, 4])
    s.rfactor(k1, factor_axis=0)
    s.get_consumers(s.get_sblock("C"))


def threads(s):
    d = s.get_sblock("D")
    i, j = s.get_loops(d)
    s.bind(i, "blockIdx.x")
    s.bind(j, "threadIdx.x")
    s.compute_at(s.get_sblock("C"), i)
    s.add_unit_loop(d)


def from_tvm(folder):
    failed = 0
    for steps in (tiled, cached, partial_sums, threads):
        schedule = Schedule(matmul(), seed=1)
        program = os.path.join(folder, "program.py")
        trace = os.path.join(folder, "trace.json")
        with open(program, "w") as file:
            file.write(schedule.mod["main"].script())
        steps(schedule)
        recorded = schedule.trace.as_json()
        with open(trace, "w") as file:
            json.dump(plain(recorded), file)
        done = subprocess.run(
            [os.environ["TIRC"], "lower", program, "--schedule", trace,
             "--phase", "0"], capture_output=True, text=True)
        if done.returncode != 0:
            failed += 1
            print("%s: %s%s" % (steps.__name__, done.stdout, done.stderr))
    print("%d traces of TVM refused" % failed)
    return failed == 0


def plain(x):
    """TVM's containers as Python's."""
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    if hasattr(x, "value"):
        return x.value
    return [plain(item) for item in x]


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(sys.argv[1:], check=True, env=dict(
            os.environ, DUMP=folder), stderr=subprocess.DEVNULL)
        there = to_tvm(folder)
        back = from_tvm(folder)
        return 0 if there and back else 1


if __name__ == "__main__":
    sys.exit(main())
