#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The operators of topi in tirc, compared with TVM's own or, for a case that has a
formula of NumPy, with that.

    topi_values.py [tvm|numpy] [NAME...]

`tvm` runs with an interpreter that has TVM: this one, or the one that
TIRC_TVM_PYTHON names; without one it is skipped. NAME: only these cases."""
import ast
import contextlib
import io
import os
import subprocess
import sys
import tempfile

WITH_TVM = len(sys.argv) > 1 and sys.argv[1] == "tvm"
try:
    import numpy as np
    import topi_cases
    if WITH_TVM:
        import tvm
        from tvm import te, topi
        try:
            from tvm import tir
        except ImportError:
            from tvm import tirx as tir
except ImportError:
    if WITH_TVM:
        import tvm_python
        tvm_python.start()
    print("no numpy here")
    sys.exit(77)

HEAD = """import numpy as np
import tvm
from tvm import te, tir, topi


def report(name, inputs, make):
    tensors = [te.placeholder(x.shape, str(x.dtype), name="x") for x in inputs]
    try:
        made = make(*tensors)
        many = isinstance(made, (list, tuple))
        outs = list(made) if many else [made]
        known = [t for t in outs if t not in tensors]
        s = te.create_schedule([t.op for t in known])
        f = tvm.build(s, tensors + known, "llvm", name=name)
        results = [tvm.nd.array(np.zeros(t.shape, dtype=t.dtype))
                   for t in known]
        f(*([tvm.nd.array(x) for x in inputs] + results))
    except Exception as error:
        print("RESULT", name, "refused", error)
        return
    for t, r in zip(known, results):
        print("RESULT", name, [int(d) for d in t.shape], t.dtype,
              r.numpy().reshape(-1).tolist())


"""


def program(cases):
    """The text of a program that prints the results of the cases."""
    lines = [HEAD]
    for case in cases:
        lines.append("rng = np.random.RandomState(%d)" % case.seed)
        lines.append("inputs = [%s]" % ", ".join(case.data))
        lines.append("report(%r, inputs, lambda %s: %s)" % (
            case.name, ", ".join(case.names), case.expression))
    return "\n".join(lines) + "\n"


def data_of(case):
    rng = np.random.RandomState(case.seed)
    return [eval(d, {"rng": rng, "np": np}) for d in case.data]


def parsed(text):
    """{name: [(shape, type, values) or a message]}"""
    found = {}
    for line in text.split("\n"):
        if not line.startswith("RESULT "):
            continue
        _, name, rest = line.split(" ", 2)
        if rest.startswith("refused"):
            found.setdefault(name, []).append(rest)
            continue
        end = rest.index("]") + 1
        kind, values = rest[end + 1:].split(" ", 1)
        values = values.replace("-inf", "-1e999").replace("inf", "1e999")
        found.setdefault(name, []).append(
            (ast.literal_eval(rest[:end]), kind,
             eval(values, {"nan": float("nan")})))
    return found


def by_tvm(case, inputs):
    """TVM's results, or None if it does not have the operator in this form."""
    if case.tvm == "none":
        return "TVM: none"
    tensors = [te.placeholder(x.shape, str(x.dtype), name="x") for x in inputs]
    space = {"te": te, "tir": tir, "topi": topi, "tvm": tvm, "np": np}
    space.update(zip(case.names, tensors))
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        try:
            with tvm.target.Target("llvm"):
                made = eval(case.tvm or case.expression, space)
                outs = list(made) if isinstance(
                    made, (list, tuple, tvm.ir.Array)) else [made]
                outs = [t for t in outs if t not in tensors]
                func = te.create_prim_func(tensors + outs)
                run = tvm.compile(func, target="llvm")
        except Exception as error:
            return "TVM: " + str(error).strip().split("\n")[-1][:200]
        results = [tvm.runtime.tensor(np.zeros(
            [int(d) for d in t.shape], str(t.dtype))) for t in outs]
        run(*([tvm.runtime.tensor(x) for x in inputs] + results))
    return [x.numpy() for x in results]


def wanted(case, inputs):
    if WITH_TVM:
        return by_tvm(case, inputs)
    if case.formula is None:
        return "no formula"
    space = {"np": np, "cases": topi_cases}
    space.update(zip(case.names, inputs))
    made = eval(case.formula, space)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def difference(case, got, want):
    """What is wrong, or None."""
    if isinstance(got[0], str):
        return got[0]
    if len(got) != len(want):
        return "%d results, not %d" % (len(got), len(want))
    for (shape, kind, values), x in zip(got, want):
        x = np.asarray(x)
        if list(x.shape) != shape:
            return "shape %s, not %s" % (shape, list(x.shape))
        if WITH_TVM and str(x.dtype) != kind:
            return "type %s, not %s" % (kind, x.dtype)
        have = np.array(values, dtype=x.dtype).reshape(x.shape)
        exact = x.dtype.kind in "iub"
        if not np.allclose(have, x, rtol=0 if exact else 2e-4,
                           atol=0 if exact else 1e-4, equal_nan=True):
            at = np.argmax(np.abs(have.astype("float64").reshape(-1) -
                                  x.astype("float64").reshape(-1)))
            return "element %d is %s, not %s" % (
                at, have.reshape(-1)[at], x.reshape(-1)[at])
    return None


def main():
    names = sys.argv[2:]
    cases = [c for c in topi_cases.CASES if not names or c.name in names]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "values.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program(cases))
        done = subprocess.run([os.environ.get("TIRC", "build/tirc"), "lower",
                               path], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout[-2000:] + done.stderr)
    found, compared, left, bad = parsed(done.stdout), 0, [], 0
    for case in cases:
        inputs = data_of(case)
        want = wanted(case, inputs)
        if case.name not in found:
            print("%s: no result: %s" % (case.name, done.stderr[-300:]))
            bad += 1
            continue
        if isinstance(want, str):
            left.append(case)
            if isinstance(found[case.name][0], str):
                print("%s: %s" % (case.name, found[case.name][0]))
                bad += 1
            elif names:
                print(want)
            continue
        compared += 1
        wrong = difference(case, found[case.name], want)
        if wrong:
            print("%s: %s" % (case.name, wrong))
            bad += 1
    print("%d cases compared, %d differ or fail; %d have no counterpart here%s"
          % (compared, bad, len(left), ": " + ", ".join(
              c.name for c in left) if WITH_TVM else ""))
    if WITH_TVM:
        # each of these has a formula of NumPy instead
        for case in left:
            if case.formula is None:
                print("%s: neither TVM nor NumPy says what it is" % case.name)
                bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
