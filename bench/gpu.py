#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tirc's CUDA on a device: products of matrices beside cuBLAS, kernels that
move memory beside a copy of as many bytes, and whole models.

Both of a pair are measured in turn in one process, a batch of runs each, for
several rounds, by events of the device; a time is the median over the rounds.
Outputs are compared: with cuBLAS's, with NumPy's or with onnxruntime's. Without
a CUDA device or nvcc nothing is measured, and the status is 77; --compile builds
all the programs nevertheless."""
import argparse
import ctypes
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests"))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper as make  # noqa: E402
import alike  # noqa: E402
import cpu  # noqa: E402
import gpu_driver  # noqa: E402

# ONNX's types of the operands and of the result; cuBLAS's types of both and its
# compute type; the largest difference, relative to the sum of an element's
# terms; facts of the target. tf32 is float32 with a larger tolerance.
FLOAT, HALF, BFLOAT16 = (TensorProto.FLOAT, TensorProto.FLOAT16,
                         TensorProto.BFLOAT16)
PRODUCTS = {
    "fp32": (FLOAT, FLOAT, "CUDA_R_32F", "CUDA_R_32F", "CUBLAS_COMPUTE_32F",
             1e-4, ""),
    "tf32": (FLOAT, FLOAT, "CUDA_R_32F", "CUDA_R_32F",
             "CUBLAS_COMPUTE_32F_FAST_TF32", 5e-3, " -tf32=true"),
    "fp16": (HALF, HALF, "CUDA_R_16F", "CUDA_R_16F", "CUBLAS_COMPUTE_32F",
             5e-3, ""),
    "bf16": (BFLOAT16, BFLOAT16, "CUDA_R_16BF", "CUDA_R_16BF",
             "CUBLAS_COMPUTE_32F", 4e-2, ""),
    "int8": (TensorProto.INT8, TensorProto.INT32, "CUDA_R_8I", "CUDA_R_32I",
             "CUBLAS_COMPUTE_32I", 0, ""),
}
# Generations that tirc has a target for; what is made for the last one has
# instructions that no later device knows, and nvcc calls it so.
ARCHES = (75, 80, 86, 89, 90)
LAST = "sm_90a"
SIZES = (1024, 4096, 8192)
# name, operator, its attributes, shapes of the inputs, what it gives.
MOVES = [
    ("add", "Add", {}, [(8192, 8192)] * 2, np.add),
    ("add_7x7", "Add", {}, [(32, 2048, 7, 7)] * 2, np.add),
    ("bias", "Add", {}, [(8192, 8192), (8192,)], np.add),
    ("tanh", "Tanh", {}, [(8192, 8192)], np.tanh),
    ("transpose", "Transpose", {"perm": [1, 0]}, [(8192, 8192)],
     np.transpose),
    ("sum", "ReduceMean", {"axes": [1], "keepdims": 0}, [(8192, 8192)],
     lambda x: x.astype(np.float64).mean(1)),
    ("softmax", "Softmax", {"axis": 1}, [(8192, 4096)],
     lambda x: (lambda e: e / e.sum(1, keepdims=True))(
         np.exp(x.astype(np.float64) - x.max(1, keepdims=True)))),
]
MODELS = [("resnet50", "light_resnet50", True),
          ("cct2_128", "cct2_128", False)]
TOLERANCE = 1  # of what `tirc test` allows, element by element


def find_nvcc():
    return shutil.which("nvcc") or shutil.which(
        "/usr/local/cuda/bin/nvcc")


def has_blas(nvcc):
    top = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    return any(os.path.exists(os.path.join(folder, "cublas_v2.h"))
               for folder in (os.path.join(top, "include"), "/usr/include"))


def device_arch():
    """What nvcc compiles for the first device as, "sm_90"; None: there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    count, digits = ctypes.c_int(0), [ctypes.c_int(0), ctypes.c_int(0)]
    if (driver.cuInit(0) != 0
            or driver.cuDeviceGetCount(ctypes.byref(count)) != 0
            or count.value == 0):
        return None
    for attribute, digit in zip((75, 76), digits):  # major, minor
        if driver.cuDeviceGetAttribute(ctypes.byref(digit), attribute, 0) != 0:
            return None
    return "sm_%d%d" % (digits[0].value, digits[1].value)


def target_for(arch):
    """The target of the latest generation that such a device can run."""
    number = int(re.sub(r"\D", "", arch))
    known = [a for a in ARCHES if a == number or a < min(number, ARCHES[-1])]
    return "cuda -arch=sm_%d" % max(known, default=ARCHES[0])


def one_node(path, op, attributes, kind, shapes, result, result_kind=None):
    names = ["a", "b"][:len(shapes)]
    graph = make.make_graph(
        [make.make_node(op, names, ["y"], **attributes)], "bench",
        [make.make_tensor_value_info(n, kind, s)
         for n, s in zip(names, shapes)],
        [make.make_tensor_value_info("y", result_kind or kind, result)])
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)],
                              ir_version=8), path)
    return path


def write_random(folder, dtype, shapes):
    random = np.random.default_rng(0)
    made = []
    for index, shape in enumerate(shapes):
        array = (random.integers(-128, 128, shape, dtype)
                 if dtype == np.int8 else
                 random.standard_normal(shape, np.float32).astype(dtype))
        path = os.path.join(folder, "input_%d" % index)
        array.tofile(path)
        made.append((path, array))
    return made


def run(program, folder, rounds, files):
    done = subprocess.run([program, folder, str(rounds), *files], text=True,
                          stdout=subprocess.PIPE, check=True)
    return [float(word) for word in done.stdout.split()]


def difference(have, want, terms):
    """The largest one, relative to the element and the terms it sums up."""
    have = have.astype(np.float64).ravel()
    want = want.astype(np.float64).ravel()
    size = np.abs(want) + terms.ravel()
    return (np.abs(have - want) / np.maximum(size, 1e-30)).max()


def product_terms(a, b):
    """What sums of products of rows of a and columns of b, whose signs are
    random, rarely exceed: four times the root of their sum of squares."""
    rows = np.linalg.norm(a.astype(np.float32), axis=1)
    columns = np.linalg.norm(b.astype(np.float32), axis=0)
    return 4 * np.outer(rows, columns) / np.sqrt(a.shape[1])


def told(name, error, allowed):
    if not error <= allowed:
        sys.exit("%s: the outputs differ by %.3g" % (name, error))
    return error


def as_float(path, kind):
    if kind == TensorProto.BFLOAT16:
        bits = np.fromfile(path, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32)
    return np.fromfile(path, make.tensor_dtype_to_np_dtype(kind))


def product(name, size, args, folder):
    kind, result, blas, blas_result, compute, allowed, facts = PRODUCTS[
        name.split("_")[0]]
    if not has_blas(args.nvcc[0]):
        raise gpu_driver.Refused("cuBLAS is not installed beside nvcc")
    path = one_node(os.path.join(folder, "model.onnx"),
                    "MatMulInteger" if kind != result else "MatMul", {}, kind,
                    [(size, size)] * 2, (size, size), result)
    built = os.path.join(folder, "built")
    program, facts = gpu_driver.build(
        path, built, args.target + facts, args.nvcc, args.option,
        {"BLAS_TYPE": blas, "BLAS_RESULT": blas_result,
         "BLAS_COMPUTE": compute, "BLAS_SIZE": size,
         "BLAS_FACTOR": "int" if kind != result else "float"})
    row = {"name": name, "schedule": facts["kernels"][0]["schedule"]}
    if args.compile:
        return row
    dtype = {HALF: np.float16, TensorProto.INT8: np.int8}.get(kind, np.float32)
    inputs = write_random(folder, dtype, [(size, size)] * 2)
    if kind == TensorProto.BFLOAT16:
        for file, array in inputs:
            (array.view(np.uint32) >> 16).astype(np.uint16).tofile(file)
    ours, theirs = run(program, built, args.rounds, [f for f, _ in inputs])
    row["error"] = told(name, difference(
        as_float(os.path.join(built, "output_0"), result),
        as_float(os.path.join(built, "theirs_0"), result),
        product_terms(*(array for _, array in inputs))), allowed)
    row.update(ms=ours * 1e3, other_ms=theirs * 1e3, of=theirs / ours,
               tflops=2e-12 * size ** 3 / ours)
    return row


def move(name, op, attributes, shapes, reference, args, folder):
    result = reference(*(np.zeros(s, np.float32) for s in shapes)).shape
    path = one_node(os.path.join(folder, "model.onnx"), op, attributes,
                    TensorProto.FLOAT, shapes, result)
    built = os.path.join(folder, "built")
    moved = 4 * sum(int(np.prod(s)) for s in [*shapes, result])
    program, facts = gpu_driver.build(
        path, built, args.target, args.nvcc, args.option,
        {"COPY_BYTES": "%dull" % (moved // 2)})
    row = {"name": name, "schedule": facts["kernels"][0]["schedule"]}
    if args.compile:
        return row
    inputs = write_random(folder, np.float32, shapes)
    ours, theirs = run(program, built, args.rounds, [f for f, _ in inputs])
    have = np.fromfile(os.path.join(built, "output_0"), np.float32)
    arrays = [a for _, a in inputs]
    want = np.asarray(reference(*arrays), np.float32).ravel()
    error = alike.off(have, want)
    if error > TOLERANCE:
        error = alike.off(have, want, alike.rounding_of(
            lambda given: [reference(*given)], arrays)[0].ravel())
    row["error"] = told(name, error, TOLERANCE)
    row.update(ms=ours * 1e3, other_ms=theirs * 1e3, of=theirs / ours,
               gbytes=1e-9 * moved / ours)
    return row


def model(name, path, args, folder):
    built = os.path.join(folder, "built")
    program, facts = gpu_driver.build(path, built, args.target, args.nvcc,
                                      args.option, {})
    row = {"name": name, "schedule": "%d kernels" % len(facts["kernels"])}
    if args.compile:
        return row
    inputs = cpu.make_inputs(path, folder)
    reference = os.path.join(folder, "reference.npz")
    cpu.Process([sys.executable, os.path.join(HERE, "cpu_ort.py"), path,
                 str(os.cpu_count()), reference, json.dumps(inputs)],
                os.cpu_count()).stop()
    ours, _ = run(program, built, args.rounds,
                  [file for file, _, _ in inputs.values()])
    row["error"] = told(name, cpu.agree(facts, built, reference), TOLERANCE)
    row["ms"] = ours * 1e3
    return row


def show(row):
    if "refused" in row:
        print("%-12s refused: %s" % (row["name"], row["refused"]))
    elif "ms" not in row:
        print("%-12s builds; %s" % (row["name"], row["schedule"]))
    else:
        rate = ("%8.1f TFLOP/s" % row["tflops"] if "tflops" in row else
                "%8.0f GB/s" % row["gbytes"] if "gbytes" in row else "")
        other = ("  other %9.4f ms, ratio %.2f" % (row["other_ms"], row["of"])
                 if "of" in row else "")
        print("%-12s %9.4f ms %s%s  error %.1e  %s" % (
            row["name"], row["ms"], rate, other, row["error"],
            row["schedule"]))
    sys.stdout.flush()


def jobs():
    for kind in PRODUCTS:
        for size in SIZES:
            name = "%s_%d" % (kind, size)
            yield name, lambda a, f, n=name, s=size: product(n, s, a, f)
    for entry in MOVES:
        yield entry[0], lambda a, f, e=entry: move(*e, a, f)
    for name, where, is_random in MODELS:
        yield name, lambda a, f, n=name, w=where, r=is_random: model(
            n, cpu.find_model(cpu.shared_models(), w, r), a, f)


def main():
    parser = argparse.ArgumentParser(
        prog="./run bench gpu", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="fp16_4096, softmax, resnet50, 'bf16*', ...")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--target", help="without it, by the generation")
    parser.add_argument("--option", action="append", default=[],
                        help="another option of tirc compile")
    parser.add_argument("--arch", help="what nvcc compiles for, sm_90; without "
                        "it, the device at hand")
    parser.add_argument("--compile", action="store_true",
                        help="build the programs, run none")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    nvcc = find_nvcc()
    if nvcc is None:
        print("nothing was measured: nvcc is not installed")
        sys.exit(77)
    arch = args.arch or ("sm_80" if args.compile else device_arch())
    if arch is None:
        print("nothing was measured: there is no CUDA device; --compile "
              "builds the programs")
        sys.exit(77)
    if arch + "a" == LAST:
        arch = LAST
    args.nvcc = [nvcc, "-arch=" + arch]
    args.target = args.target or target_for(arch)
    rows = []
    for name, job in jobs():
        if args.only and not any(fnmatch.fnmatch(name, p) for p in args.only):
            continue
        with tempfile.TemporaryDirectory(prefix="tirc-bench-") as folder:
            try:
                rows.append(job(args, folder))
            except gpu_driver.Refused as why:
                rows.append({"name": name, "refused": str(why)})
        show(rows[-1])
    if args.json:
        with open(args.json, "w") as file:
            json.dump(rows, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
