#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tirc's C beside onnxruntime on this machine's processor, fp32.

Each system has a process of its own. Both are measured in turn, a batch of
runs each, for several rounds; a time is the median over the rounds of the
batches' medians. --against names more rivals: openvino, its float32;
openvino-default, the precision that OpenVINO chooses for the processor; all. A
rival whose outputs are wrong has no time. The column "best" is tirc's time by that
of the fastest rival of float32. --precision compiles tirc's side with that option,
beside its own float32, and "best" is the fastest of all rivals. --processor-time
takes the time of the process, and the least over the rounds. The peak is what a loop of independent multiply-adds reaches
on one core in the same run; a share is of that, times the threads. MACs are
those of the graph's convolutions and matrix products, padding included."""
import argparse
import fnmatch
import hashlib
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests"))
import numpy as np  # noqa: E402
import alike  # noqa: E402
import helper  # noqa: E402
import cpu_beside  # noqa: E402
import cpu_driver  # noqa: E402
import cpu_int8  # noqa: E402
import cpu_models  # noqa: E402
import onnx  # noqa: E402

# name, folder below ../shared/models, whether its weights are made random
TABLE = [
    ("resnet50", "light_resnet50", True),
    ("vgg19", "light_vgg19", True),
    ("inception_v2", "light_inception_v2", True),
    ("inception_v1", "light_inception_v1", True),
    ("densenet121", "light_densenet121", True),
    ("squeezenet", "light_squeezenet", True),
    ("shufflenet", "light_shufflenet", True),
    ("bvlc_alexnet", "light_bvlc_alexnet", True),
    ("vww", "mlperf_tiny/vww_fp32", False),
    ("kws", "mlperf_tiny/kws_fp32", False),
    ("resnet8", "mlperf_tiny/resnet8_fp32", False),
    ("ad01", "mlperf_tiny/ad01_fp32", False),
    ("mnist", "mnist", False),
]
BATCH_SECONDS = 0.1  # about how long one batch of runs takes
# Threads look for work for a while after a run, and would take it from the
# other system's: so long one waits before the other's turn.
SETTLE_SECONDS = 0.2
TOLERANCE = 1        # of what `tirc test` allows, element by element


def cache_folder():
    top = os.environ.get("XDG_CACHE_HOME") or os.path.join(
        os.path.expanduser("~"), ".cache")
    path = os.path.join(top, "tirc", "models")
    os.makedirs(path, exist_ok=True)
    return path


def shared_models():
    """The folder of reference models: beside this tree or above."""
    found = helper.shared()
    above = os.path.abspath(os.path.join(HERE, os.pardir))
    while not found and above != os.path.dirname(above):
        above = os.path.dirname(above)
        path = os.path.join(above, "shared")
        if os.path.isdir(os.path.join(path, "models")):
            found = path
    if not found:
        sys.exit("the models are missing: TIRC_SHARED=FOLDER names the "
                 "folder that has models/ in it")
    return os.path.join(found, "models")


def randomized(top, folder):
    """The model with random weights, made once for each form of both."""
    script = os.path.join(top, "randomize.py")
    source = os.path.join(top, folder, "model.onnx")
    digest = hashlib.sha256()
    for path in script, source:
        with open(path, "rb") as file:
            digest.update(file.read())
    path = os.path.join(cache_folder(), "%s-%s.onnx" % (
        folder, digest.hexdigest()[:16]))
    if not os.path.exists(path):
        made = "%s.%d" % (path, os.getpid())
        subprocess.run([sys.executable, script, source, made], check=True,
                       stdout=subprocess.DEVNULL)
        os.rename(made, path)
    return path


def find_model(top, folder, is_random):
    if is_random:
        return randomized(top, folder)
    return os.path.join(top, folder, "model.onnx")


def count_macs(path):
    """Multiply-adds of the convolutions and matrix products."""
    model = onnx.load(path)
    shapes = {t.name: list(t.dims) for t in model.graph.initializer}
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    graph = model.graph
    for value in [*graph.value_info, *graph.input, *graph.output]:
        shapes.setdefault(value.name, [
            d.dim_value or 1 for d in value.type.tensor_type.shape.dim])
    total = 0
    for node in graph.node:
        if node.op_type not in ("Conv", "Gemm", "MatMul"):
            continue
        if not all(k in shapes for k in (*node.input[:2], node.output[0])):
            sys.exit("%s: the shapes of %s are not known" % (path, node.name))
        out = math.prod(shapes[node.output[0]])
        first, second = shapes[node.input[0]], shapes[node.input[1]]
        if node.op_type == "Conv":
            total += out * math.prod(second[1:])
        elif node.op_type == "MatMul":
            total += out * first[-1]
        else:
            flipped = any(a.name == "transA" and a.i for a in node.attribute)
            total += out * first[0 if flipped else -1]
    return total


def make_inputs(path, folder):
    """Input files for both systems; their names with shapes and types."""
    model = onnx.load(path, load_external_data=False)
    constants = {t.name for t in model.graph.initializer}
    random = np.random.default_rng(0)
    made = {}
    for value in model.graph.input:
        if value.name in constants:
            continue
        kind = value.type.tensor_type
        shape = [d.dim_value or 1 for d in kind.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if np.issubdtype(dtype, np.floating):
            array = random.random(shape, np.float32).astype(dtype)
        else:
            array = random.integers(0, 100, shape).astype(dtype)
        file = os.path.join(folder, "input_%d" % len(made))
        array.tofile(file)
        made[value.name] = (file, str(array.dtype), shape)
    return made


class Process:
    """One system with a model loaded: `seconds(N)` is the median of N runs."""

    def __init__(self, command, threads, processor_time=False):
        env = dict(os.environ, OMP_NUM_THREADS=str(threads),
                   TIRC_THREADS=str(threads),
                   BENCH_CLOCK="process_time" if processor_time else "perf_counter")
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=env)
        self.command = command
        self.answer()

    def answer(self):
        line = self.child.stdout.readline()
        if not line:
            sys.exit("failed: %s" % shlex.join(self.command))
        return float(line)

    def seconds(self, runs):
        self.child.stdin.write("%d\n" % runs)
        self.child.stdin.flush()
        return self.answer()

    def stop(self):
        self.child.stdin.close()
        self.child.wait()


# Rounding products to a narrow type gives errors that depend on the model, far larger
# than the rounding of one element (tirc test measures them). The limit is a part of
# the norm of an output: 32 times the largest error of one rounding. The error of a
# wrong result is as large as the result itself.
NARROW_PART = {"bf16": 32 * 2.0 ** -8, "f16": 32 * 2.0 ** -11}


def off_by(names, folder, reference, are_exact=True, precision=None):
    """The largest difference of the outputs: of floats in units of what
    `tirc test` allows, or with a narrow precision in those of NARROW_PART, 1 at
    most; of integers in steps. are_exact: the files have no more elements than the
    outputs."""
    worst = 0.0
    with np.load(reference) as expected:
        for index, name in enumerate(names):
            want = expected[name].ravel()
            have = np.fromfile(os.path.join(folder, "output_%d" % index),
                               want.dtype)
            if not are_exact:
                have = have[:want.size]
            if precision and want.dtype.kind == "f" and have.size == want.size:
                error = np.linalg.norm(have - want) / (
                    NARROW_PART[precision] * np.linalg.norm(want) + 1e-30)
                worst = max(worst, float(np.nan_to_num(error, nan=np.inf)))
                continue
            rounding = expected["rounding of " + name].ravel()
            worst = max(worst, alike.off(have, want, rounding))
    return worst


def pick_runs(process):
    """How many runs make a batch; the first ones warm up."""
    process.seconds(1)
    return max(1, min(10000, int(BATCH_SECONDS / process.seconds(3))))


def alternate(processes, rounds, threads, choose=statistics.median):
    """For each process what `choose` makes of the times of its batches."""
    runs = [pick_runs(p) for p in processes]
    times = [[] for _ in processes]
    turns = list(range(len(processes)))
    for index in range(rounds):
        # Whoever goes second finds the caches of the other.
        for which in turns if index % 2 == 0 else turns[::-1]:
            if threads > 1:
                time.sleep(SETTLE_SECONDS)
            times[which].append(processes[which].seconds(runs[which]))
    return [choose(t) for t in times]


def measured_library(path, folder, args, cc, threads, inputs, reference, row):
    """With --byoc: the program whose regions are its backends', as a list."""
    if not args.byoc:
        return []
    built = os.path.join(folder, "byoc")
    options = [word for name in args.byoc for word in ("--byoc", name)]
    program, facts, _ = cpu_driver.build(
        path, built, args.target if threads == 1 else args.shared_target, cc,
        args.option + options)
    process = Process([program, built] + [file for file, _, _ in
                                          inputs.values()], threads)
    row["byoc_error"] = agree(facts, built, reference)
    if not row["byoc_error"] <= TOLERANCE:
        sys.exit("%s: with --byoc the outputs differ by %.3g of what is allowed" % (
            row["name"], row["byoc_error"]))
    return [process]


def agree(facts, folder, reference, precision=None):
    """off_by() for a program of tirc, whose files have the most elements that
    outputs of computed sizes can have."""
    return off_by([output["name"] for output in facts["outputs"]], folder, reference,
                 not any(isinstance(extent, str) for output in facts["outputs"]
                         for extent in output["shape"]), precision)


def measured_rivals(path, folder, args, threads, inputs, facts, reference, row):
    """The processes of --against, by name; rivals whose outputs are wrong are
    named in row["wrong"]."""
    rivals = {}
    for name in args.against:
        where = os.path.join(folder, name)
        os.makedirs(where, exist_ok=True)
        default = name == "openvino-default"
        process = Process([
            args.openvino, os.path.join(HERE, "cpu_openvino.py"), path,
            str(threads), "default" if default else "f32", where,
            json.dumps(inputs)], threads, args.processor_time)
        off = off_by([output["name"] for output in facts["outputs"]], where, reference,
                     precision="bf16" if default else None)
        if off <= TOLERANCE:
            rivals[name] = process
        else:
            row.setdefault("wrong", {})[name] = off
            process.stop()
    return rivals


def measure(name, path, args, compilers, threads):
    """The times of one model as a row of the results."""
    row = {"name": name, "threads": threads, "macs": count_macs(path)}
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        inputs = make_inputs(path, folder)
        reference = os.path.join(folder, "reference.npz")
        theirs = Process([
            sys.executable, os.path.join(HERE, "cpu_ort.py"), path,
            str(threads), reference, json.dumps(inputs)], threads,
            args.processor_time)
        best = math.inf
        library = measured_library(path, folder, args, compilers[0], threads,
                                   inputs, reference, row)
        for cc in compilers:
            built = os.path.join(folder, os.path.basename(cc))
            ours, facts, seconds = start(path, built, args, cc, threads, inputs)
            error = agree(facts, built, reference, args.precision)
            if not error <= TOLERANCE:
                sys.exit("%s: the outputs differ by %.3g of what is allowed" % (name, error))
            wide = []
            if args.precision:
                wide = [start(path, built + "-f32", args, cc, threads, inputs,
                              precision=None)[0]]
            rivals = measured_rivals(path, folder, args, threads, inputs, facts,
                                     reference, row)
            mine, ort, *rest = alternate(
                (ours, theirs, *rivals.values(), *wide, *library), args.rounds,
                threads, min if args.processor_time else statistics.median)
            times = dict(zip(rivals, rest))
            rest = rest[len(rivals):]
            for process in (ours, *rivals.values(), *wide):
                process.stop()
            if wide:
                row.setdefault("f32_by_compiler_ms", {})[cc] = rest.pop(0) * 1e3
            row.setdefault("compile_s", {})[cc] = seconds
            row.setdefault("by_compiler_ms", {})[cc] = mine * 1e3
            if rest:
                row.update(byoc_ms=rest[0] * 1e3, byoc_ratio=rest[0] / ort)
            if mine < best:
                best = mine
                row.update(compiler=cc, tirc_ms=mine * 1e3, ort_ms=ort * 1e3,
                           ratio=mine / ort, error=error,
                           best_ratio=mine / min(
                               [ort, *(t for n, t in times.items() if args.precision
                                       or n != "openvino-default")]),
                           rivals_ms={n: t * 1e3 for n, t in times.items()})
        for process in (theirs, *library):
            process.stop()
    if "f32_by_compiler_ms" in row:
        row["f32_ms"] = row["f32_by_compiler_ms"][row["compiler"]]
    row["gflops"] = 2e-6 * row["macs"] / row["tirc_ms"]
    return row


def start(path, folder, args, cc, threads, inputs, precision="as asked for"):
    """tirc's program of a model, whose outputs are in the folder, with its facts and
    the seconds that the compiler took."""
    if precision == "as asked for":
        precision = args.precision
    program, facts, seconds = cpu_driver.build(
        path, folder, args.target if threads == 1 else args.shared_target, cc,
        args.option + (["--precision", precision] if precision else []),
        clock="CLOCK_PROCESS_CPUTIME_ID" if args.processor_time
        else "CLOCK_MONOTONIC")
    return Process([program, folder] + [file for file, _, _ in
                                        inputs.values()], threads), facts, seconds


def measure_int8(name, path, float_path, args, cc, threads):
    """A model of 8 bits: tirc, onnxruntime, and tirc's fp32, in turn."""
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        inputs = make_inputs(path, folder)
        reference = os.path.join(folder, "reference.npz")
        theirs = Process([
            sys.executable, os.path.join(HERE, "cpu_ort.py"), path,
            str(threads), reference, json.dumps(inputs)], threads,
            args.processor_time)
        built = os.path.join(folder, "int8")
        ours, facts, _ = start(path, built, args, cc, threads, inputs)
        below = os.path.join(folder, "inputs")
        os.mkdir(below)
        wide, *_ = start(float_path, os.path.join(folder, "fp32"), args, cc,
                        threads, make_inputs(float_path, below))
        error = agree(facts, built, reference)
        mine, ort, fp32 = alternate(
            (ours, theirs, wide), args.rounds, threads,
            min if args.processor_time else statistics.median)
        for process in ours, theirs, wide:
            process.stop()
    return {"name": name, "threads": threads, "compiler": cc,
            "tirc_ms": mine * 1e3, "ort_ms": ort * 1e3, "fp32_ms": fp32 * 1e3,
            "ratio": mine / ort, "speedup": fp32 / mine, "difference": error}


def main_int8(args, compilers):
    top = shared_models()
    table = {name: (below, is_random) for name, below, is_random in TABLE}
    results = []
    print("%-22s %3s %9s %9s %6s %9s %7s %7s  %s" % (
        "model", "thr", "int8 ms", "ort ms", "ratio", "fp32 ms", "speedup",
        "differs", "compiler"))
    for threads in args.threads or sorted({1, all_threads()}):
        for name, path, float_name in cpu_int8.rows(
                top, lambda n: find_model(top, *table[n]), cache_folder()):
            if not wanted(args, name):
                continue
            for cc in compilers:
                row = measure_int8(name, path(), find_model(
                    top, *table[float_name]), args, cc, threads)
                results.append(row)
                print("%-22s %3d %9.4f %9.4f %6.2f %9.4f %7.2f %7.3g  %s" % (
                    row["name"], threads, row["tirc_ms"], row["ort_ms"],
                    row["ratio"], row["fp32_ms"], row["speedup"],
                    row["difference"], cc), flush=True)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"target": args.target, "rounds": args.rounds,
                       "int8": results}, file, indent=1)
            file.write("\n")


def main_beside(args, compilers):
    """--beside: the models of the table and those of 8 bits."""
    top = shared_models()
    table = {name: (below, is_random) for name, below, is_random in TABLE}
    models = [(name, lambda n=name: find_model(top, *table[n])) for name in table]
    models += [("%s, 8 bits" % name, path) for name, path, _ in cpu_int8.rows(
        top, lambda n: find_model(top, *table[n]), cache_folder())]
    rows = cpu_beside.main(args, compilers, [m for m in models if wanted(args, m[0])],
                           sys.modules[__name__])
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"target": args.target, "beside": args.beside,
                       "processor": helper.processor_name(), "models": rows},
                      file, indent=1)
            file.write("\n")


HEADER = "%-14s %3s %9s %10s %10s %6s %8s %6s  %s" % (
    "model", "thr", "MMAC", "tirc ms", "ort ms", "ratio", "GFLOP/s", "peak",
    "compiler")


def print_row(row):
    print("%-14s %3d %9.2f %10.4f %10.4f %6.2f %8.1f %5.0f%%  %s" % (
        row["name"], row["threads"], row["macs"] / 1e6, row["tirc_ms"],
        row["ort_ms"], row["ratio"], row["gflops"], 100 * row["peak_share"],
        row["compiler"]) + ("  byoc %.4f ms, ratio %.2f" % (
            row["byoc_ms"], row["byoc_ratio"]) if "byoc_ms" in row else "")
        + ("  f32 %.4f ms" % row["f32_ms"] if "f32_ms" in row else "")
        + "".join("  %s %.4f ms" % item for item in row["rivals_ms"].items())
        + "".join("  %s is wrong by %.3g of what is allowed" % item
                  for item in row.get("wrong", {}).items())
        + ("  best %.2f" % row["best_ratio"] if row["rivals_ms"] else ""),
        flush=True)


def wanted(args, name):
    return not args.only or any(
        fnmatch.fnmatch(name, pattern) for pattern in args.only)


def all_threads():
    return len(os.sched_getaffinity(0))


def geomean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="models with such names alone (resnet*)")
    parser.add_argument("--target", default="native",
                        help="for one thread (native)")
    parser.add_argument("--shared-target",
                        help="for more (c-openmp, with vectors as those of "
                             "native; or c-threads)")
    parser.add_argument("--option", action="append", default=[],
                        help="one more word for `tirc compile`")
    parser.add_argument("--precision", choices=sorted(NARROW_PART),
                        help="tirc's products in this type, beside its float32")
    parser.add_argument("--processor-time", action="store_true",
                        help="the least time of the process in place of the median "
                             "by the clock, for a machine that others use; with one "
                             "thread")
    parser.add_argument("--byoc", action="append", metavar="NAME",
                        help="also with this backend's regions, beside it")
    parser.add_argument("--against", action="append", default=[],
                        choices=["openvino", "openvino-default", "all"],
                        help="rivals beside onnxruntime; ./run installs what they need")
    parser.add_argument("--batch", type=int, metavar="N",
                        help="N in place of a first dimension of 1 of the inputs; "
                             "models for which other sizes do not follow are left out")
    parser.add_argument("--cc", default="gcc",
                        help="gcc, clang, or both; or compilers with commas between them: the "
                             "best one counts")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, action="append",
                        help="how many, may be repeated (1, and all there are)")
    parser.add_argument("--extra", action="store_true",
                        help="also what is beyond the table")
    parser.add_argument("--int8", action="store_true",
                        help="models of 8 bits, beside onnxruntime's and fp32")
    parser.add_argument("--beside", metavar="TARGET",
                        help="--target beside this one, by each compiler and each "
                             "of --cflags, without onnxruntime")
    parser.add_argument("--cflags", action="append", metavar="OPTIONS",
                        help="with --beside, after -std=c99 (-O3 -march=native, "
                             "and -O2)")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    if args.precision and args.int8:
        parser.error("--int8 has no --precision")
    if args.processor_time and args.threads != [1]:
        parser.error("--processor-time needs --threads 1")
    if "all" in args.against:
        args.against = ["openvino", "openvino-default"]
    args.openvino = os.environ.get("TIRC_OPENVINO_PYTHON")
    if args.against and not args.openvino:
        parser.error("--against needs TIRC_OPENVINO_PYTHON, a Python with the "
                     "packages of bench/openvino.txt; ./run bench cpu makes one")
    return args


def main():
    args = parse()
    compilers = ["gcc", "clang"] if args.cc == "both" else args.cc.split(",")
    args.target = cpu_driver.resolved(args.target, compilers[0])
    if args.beside:
        args.beside = cpu_driver.resolved(args.beside, compilers[0])
        main_beside(args, compilers)
        return
    if args.shared_target is None:
        args.shared_target = cpu_driver.shared_target(
            cpu_driver.resolved("native", compilers[0]))
    print("targets: %s; %s" % (args.target, args.shared_target))
    if args.int8:
        main_int8(args, compilers)
        return
    top = shared_models()
    table = [row for row in TABLE if wanted(args, row[0])]
    rows, extra = [], []
    means = {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
        peak = cpu_driver.Peak(folder, compilers)
        print("peak of a core: %.1f GFLOP/s" % peak.gflops)
        print(HEADER)
        others = [e for e in cpu_models.extras(top, folder)
                  if args.extra and wanted(args, e[0])]
        if not table and not others:
            sys.exit("no such model; there are " + ", ".join(
                [t[0] for t in TABLE]
                + [e[0] for e in cpu_models.extras(top, folder)]))

        def take(name, path, threads, results):
            if args.batch:
                path = cpu_models.batched(path, args.batch, folder)
                if path is None:
                    print("%-14s has no batch of %d" % (name, args.batch))
                    return
            row = measure(name, path, args, compilers, threads)
            peak.again()
            row["peak_share"] = row["gflops"] / (peak.gflops * threads)
            results.append(row)
            print_row(row)

        for threads in args.threads or sorted({1, all_threads()}):
            for name, below, is_random in table:
                take(name, find_model(top, below, is_random), threads, rows)
            ratios = [r["ratio"] for r in rows if r["threads"] == threads]
            if ratios:
                means[str(threads)] = geomean(ratios)
                print("geometric mean over %d, threads %d: %.3f" % (
                    len(ratios), threads, means[str(threads)]))
                if args.against:
                    best = geomean([r["best_ratio"] for r in rows
                                    if r["threads"] == threads])
                    means["best, threads %d" % threads] = best
                    print("by the fastest rival%s: %.3f" % (
                        "" if args.precision else " of float32", best))
            if others:
                print("beyond the table:")
            for name, path, make in others:
                if not os.path.exists(path):
                    make(path)
                take(name, path, threads, extra)
    for row in rows + extra:  # the peak may have risen since
        row["peak_share"] = row["gflops"] / (peak.gflops * row["threads"])
    print("peak of a core: %.1f GFLOP/s; %.0f s in all" % (
        peak.gflops, time.monotonic() - began))
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"target": args.target, "processor": helper.processor_name(),
                       "batch": args.batch or 1, "peak_gflops": peak.gflops,
                       "rounds": args.rounds, "models": rows, "extra": extra,
                       "geomean": means}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
