#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models that exporters write, through tirc and beside onnxruntime.

Networks of torchvision, timm and transformers, small ones of other families,
and pipelines of scikit-learn (bench/zoo/), each in the forms that its exporters
have: PyTorch's two, skl2onnx, onnxruntime's quantizer and optimizer. Weights are
random. For each model: whether it compiles, whether `tirc test` agrees with
onnxruntime without optimizations, times of both (one thread, in turn), seconds of
generation, workspace, and the size of the C without weights.

The packages that make the models (6 GB) go into a virtual environment of their
own in the user's cache folder, and so do the models; a model that is there is
not made again without --fresh."""
import argparse
import collections
import fnmatch
import glob
import hashlib
import itertools
import json
import math
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests"))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import numpy_helper  # noqa: E402
import cpu  # noqa: E402
import cpu_driver  # noqa: E402
import exact  # noqa: E402
import helper  # noqa: E402

COMPILE_SECONDS = 120
TEST_SECONDS = 900
NEAR = 1e-5
ZOO = os.path.join(HERE, "zoo")
with open(exact.__file__, "rb") as source:
    REFERENCE = hashlib.sha256(source.read()).hexdigest()[:16]


def cache_folder():
    top = os.environ.get("XDG_CACHE_HOME") or os.path.join(
        os.path.expanduser("~"), ".cache")
    return os.path.join(top, "tirc", "zoo")


def zoo_python():
    """The Python with the packages of zoo/requirements.txt, installed once.
    TIRC_ZOO_PYTHON names another one."""
    if os.environ.get("TIRC_ZOO_PYTHON"):
        return os.environ["TIRC_ZOO_PYTHON"]
    needs = os.path.join(ZOO, "requirements.txt")
    with open(needs, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:16]
    venv = os.path.join(cache_folder(), "venv-" + digest)
    python = os.path.join(venv, "bin", "python")
    if not os.path.exists(os.path.join(venv, "installed")):
        print("installing PyTorch and others (several GB) into " + venv,
              file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", venv],
                       check=True)
        subprocess.run([python, "-m", "pip", "install", "-q",
                        "--disable-pip-version-check", "-r", needs],
                       check=True)
        with open(os.path.join(venv, "installed"), "w"):
            pass
    return python


class Exporter:
    """A process that makes models (zoo/export.py); started when it is needed,
    and anew after it died or took too long."""

    def __init__(self, seconds):
        self.child = None
        self.seconds = seconds

    def answer(self):
        ready, _, _ = select.select([self.child.stdout], [], [], self.seconds)
        line = self.child.stdout.readline() if ready else ""
        if line:
            return line.strip()
        self.stop()
        return "the exporter died" if ready else \
            "the exporter took more than %d s" % self.seconds

    def stop(self):
        if self.child:
            self.child.kill()
            self.child.wait()
        self.child = None

    def make(self, name, form, folder):
        if not self.child:
            self.child = subprocess.Popen(
                [zoo_python(), os.path.join(ZOO, "export.py")], text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL)
            said = self.answer()
            if said != "ready":
                sys.exit("zoo/export.py: " + said)
        self.child.stdin.write("%s %s %s\n" % (name, form, folder))
        self.child.stdin.flush()
        return self.answer()


def exported(exporter, name, form, fresh):
    """(folder of the model, or None; the exporter's reason)"""
    folder = os.path.join(cache_folder(), "models", name, form)
    note = os.path.join(folder, "failed")
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    if not os.path.isdir(folder):
        part = folder + ".part"
        shutil.rmtree(part, ignore_errors=True)
        os.makedirs(part)
        said = exporter.make(name, form, part)
        if said == "ok":
            said = compute(part)
        if said != "ok":
            with open(os.path.join(part, "failed"), "w") as file:
                file.write(said)
        os.rename(part, folder)
    elif not os.path.exists(note) and computed_by(folder) != REFERENCE:
        shutil.rmtree(os.path.join(folder, "test_data_set_0"),
                      ignore_errors=True)
        said = compute(folder)
        if said != "ok":
            with open(note, "w") as file:
                file.write(said)
    if os.path.exists(note):
        with open(note) as file:
            return None, file.read()
    return folder, "ok"


def computed_by(folder):
    """The digest of the tests/exact.py that computed a model's data."""
    try:
        with open(os.path.join(folder, "computed_by")) as file:
            return file.read()
    except FileNotFoundError:
        return None


def compute(folder):
    """Writes the data set: the inputs, and the outputs of onnxruntime without
    optimizations, sums of products of bytes exact. Gives "ok" or a reason."""
    path = os.path.join(folder, "model.onnx")
    data = os.path.join(folder, "test_data_set_0")
    with np.load(os.path.join(folder, "inputs.npz")) as given:
        arrays = dict(given)
    try:
        results = exact.run(path, arrays)
    except Exception as error:  # onnxruntime's own classes
        return "onnxruntime: " + " ".join(str(error).split())[:160]
    with open(os.path.join(folder, "computed_by"), "w") as file:
        file.write(REFERENCE)
    os.mkdir(data)
    for stem, tensors in (("input", arrays.values()), ("output", results)):
        for i, array in enumerate(tensors):
            if not isinstance(array, np.ndarray):
                return "an output is no tensor"
            onnx.save_tensor(numpy_helper.from_array(array), os.path.join(
                data, "%s_%d.pb" % (stem, i)))
    floats = [r for r in results if r.dtype.kind == "f" and r.size > 1]
    if any(not np.isfinite(r).all() for r in floats):
        return "the model's outputs are not finite"
    return "ok"


def shape_options(folder):
    """--input-shape for inputs with sizes that the model leaves open."""
    graph = onnx.load(os.path.join(folder, "model.onnx"),
                      load_external_data=False).graph
    words = []
    with np.load(os.path.join(folder, "inputs.npz")) as given:
        for value in graph.input:
            dims = value.type.tensor_type.shape.dim
            if value.name in given and not all(
                    d.HasField("dim_value") for d in dims):
                words += ["--input-shape", "%s:%s" % (value.name, ",".join(
                    map(str, given[value.name].shape)))]
    return words


def call(command, limit):
    """(exit status, None after `limit` seconds; all that was said)"""
    try:
        done = subprocess.run(command, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout


def first_error(said):
    lines = [line for line in said.splitlines()
             if "error:" in line or line.startswith("FAIL")]
    return (lines or said.splitlines() or ["no message"])[0].strip()


def input_files(folder, work):
    made = {}
    with np.load(os.path.join(folder, "inputs.npz")) as given:
        for name in given:
            path = os.path.join(work, "input_%d" % len(made))
            array = np.ascontiguousarray(given[name])
            array.tofile(path)
            made[name] = (path, str(array.dtype), list(array.shape))
    return made


def times(folder, work, options, args):
    """Seconds of tirc and of onnxruntime."""
    path = os.path.join(folder, "model.onnx")
    inputs = input_files(folder, work)
    program, _, _ = cpu_driver.build(path, os.path.join(work, "built"),
                                     args.target, args.cc, options)
    ours = cpu.Process([program, os.path.join(work, "built")] + [
        file for file, _, _ in inputs.values()], 1)
    theirs = cpu.Process([
        sys.executable, os.path.join(HERE, "cpu_ort.py"), path, "1",
        os.path.join(work, "reference.npz"), json.dumps(inputs)], 1)
    try:
        return cpu.alternate((ours, theirs), args.rounds, 1)
    finally:
        ours.stop()
        theirs.stop()


def largest(folder):
    """Of each result that is float the largest element; the least of these."""
    found = [float(np.abs(array).max()) for array in (
        numpy_helper.to_array(onnx.load_tensor(path)) for path in glob.glob(
            os.path.join(folder, "test_data_set_0", "output_*.pb")))
        if array.dtype.kind == "f" and array.size]
    return min(found, default=0.0)


def compared(path, folder, options, row, args):
    """Does `tirc test` agree? It allows a part of each element. Where elements
    near zero, as sums of large terms are, differ by more, all must be within
    NEAR of the largest one ("near")."""
    command = [helper.TIRC, "test", path, "--target", args.target, "--cc",
               args.cc, *options]
    status, said = call(command, TEST_SECONDS)
    if status == 0:
        return "agrees"
    row["why"] = first_error(said)
    status, _ = call([*command, "--atol", "%g" % (NEAR * largest(folder))],
                     TEST_SECONDS)
    return "near" if status == 0 else "differs"


def c_bytes(built):
    """Of the sources without the weights'."""
    return sum(os.path.getsize(path)
               for path in glob.glob(os.path.join(built, "*.[ch]"))
               if not path.endswith("_weights.c"))


def measure(name, form, family, folder, args):
    """A row of the results."""
    row = {"name": name, "form": form, "family": family}
    path = os.path.join(folder, "model.onnx")
    options = shape_options(folder) + args.option
    with tempfile.TemporaryDirectory(prefix="tirc-zoo-") as work:
        built = os.path.join(work, "compiled")
        began = time.monotonic()
        status, said = call([
            helper.TIRC, "compile", path, "-o", built, "-q", "--name",
            "model", "--target", args.target, *options], COMPILE_SECONDS)
        row["generation_s"] = time.monotonic() - began
        if status != 0:
            row["status"] = "refused" if status == 1 else "crashed"
            row["why"] = first_error(said) if status is not None else \
                "generation took more than %d s" % COMPILE_SECONDS
            return row
        with open(os.path.join(built, "model.json")) as file:
            row["workspace_bytes"] = json.load(file)["memory"][
                "workspace_bytes"]
        row["c_bytes"] = c_bytes(built)
        row["status"] = compared(path, folder, options, row, args)
        if row["status"] != "differs" and not args.no_times:
            try:
                mine, ort = times(folder, work, options, args)
                row.update(tirc_ms=1e3 * mine, ort_ms=1e3 * ort,
                           ratio=mine / ort)
            except (subprocess.CalledProcessError, SystemExit) as error:
                row["why"] = "not timed: %s" % error
    return row


HEADER = "%-44s %-11s %-8s %9s %9s %6s %6s %9s %7s" % (
    "model", "form", "status", "tirc ms", "ort ms", "ratio", "gen s", "work KiB",
    "C KiB")


def number(row, key, form, factor=1.0):
    return form % (row[key] * factor) if key in row else "-"


def print_row(row):
    print("%-44s %-11s %-8s %9s %9s %6s %6s %9s %7s%s" % (
        row["name"], row["form"], row["status"],
        number(row, "tirc_ms", "%.3f"), number(row, "ort_ms", "%.3f"),
        number(row, "ratio", "%.2f"), number(row, "generation_s", "%.1f"),
        number(row, "workspace_bytes", "%.0f", 1 / 1024),
        number(row, "c_bytes", "%.0f", 1 / 1024),
        "  " + row["why"] if "why" in row else ""), flush=True)


def listed():
    """The first model of every family, then the second, and so on: a run that
    is stopped has seen all families."""
    said = subprocess.run(
        [zoo_python(), os.path.join(ZOO, "export.py"), "--list"], text=True,
        stdout=subprocess.PIPE, check=True).stdout
    families = {}
    for line in said.splitlines():
        name, forms, family = line.split(None, 2)
        families.setdefault(family, []).append((name, forms))
    for turn in itertools.zip_longest(*families.values()):
        for family, one in zip(families, turn):
            if one:
                for form in one[1].split(","):
                    yield one[0], form, family


def summary(rows):
    count = collections.Counter(row["status"] for row in rows)
    print(", ".join("%d %s" % (n, status)
                    for status, n in sorted(count.items())))
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        print("time over onnxruntime's: geometric mean %.2f over %d models, "
              "median %.2f, largest %.2f" % (
                  cpu.geomean(ratios), len(ratios),
                  statistics.median(ratios), max(ratios)))
    for why, n in collections.Counter(
            row["why"].split(": ", 1)[-1] for row in rows
            if row["status"] in ("refused", "crashed")).most_common():
        print("%3d refused: %s" % (n, why))


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="models with such names or families alone "
                             "(timm_*)")
    parser.add_argument("--form", action="append", metavar="FORM",
                        help="this form alone (torchscript, dynamo, ...)")
    parser.add_argument("--list", action="store_true",
                        help="print names, forms and families, and stop")
    parser.add_argument("--fresh", action="store_true",
                        help="make the models anew")
    parser.add_argument("--make", action="store_true",
                        help="make the models, and stop")
    parser.add_argument("--export-seconds", type=int, default=600,
                        metavar="N", help="give up a model that is not made "
                        "after so long")
    parser.add_argument("--no-times", action="store_true",
                        help="compile and compare only")
    parser.add_argument("--target", default="native")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--option", action="append", default=[],
                        help="one more word for `tirc compile` and `tirc "
                             "test`")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def main():
    args = parse()
    rows, exporter = [], Exporter(args.export_seconds)
    wanted = [(name, form, family) for name, form, family in listed()
              if (not args.form or form in args.form) and
              (not args.only or any(
                  fnmatch.fnmatch(name, p) or fnmatch.fnmatch(family, p)
                  for p in args.only))]
    if args.list:
        for one in wanted:
            print("%-44s %-11s %s" % one)
        return
    args.target = cpu_driver.resolved(args.target, args.cc)
    print("target: " + args.target)
    print(HEADER)
    for name, form, family in wanted:
        folder, why = exported(exporter, name, form, args.fresh)
        if folder and args.make:
            row = {"name": name, "form": form, "family": family,
                   "status": "made"}
        elif folder:
            row = measure(name, form, family, folder, args)
        else:
            row = {"name": name, "form": form, "family": family,
                   "status": "no model", "why": why}
        rows.append(row)
        print_row(row)
        if args.json:  # after each model: a long run may be stopped
            with open(args.json, "w") as file:
                json.dump({"target": args.target, "models": rows}, file,
                          indent=1)
                file.write("\n")
    exporter.stop()
    summary(rows)


main()
