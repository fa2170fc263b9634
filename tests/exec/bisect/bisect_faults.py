#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc bisect` names what made a model wrong: faults that are planted in a pass, in
a step of a schedule, in a dialect, in the flags of a compiler.

    bisect_faults.py [WORD...]

runs only the faults in whose rows one of the words is, and prints what bisect
says."""
import array
import concurrent.futures
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import zipfile

from helper import DIGITS, ROOT, STRICT_C, TIRC, fail, tirc, work_folder
from proto import blob, floats, graph, node, number, opset, tensor, value_info
from turns import some


def onnx_nodes(path):
    """The names of the nodes of the model, by tirc."""
    done = subprocess.run([TIRC, "inspect", "--json", path], text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout)["nodes"]


def save(name, version, *parts):
    path = os.path.join(work_folder(), name + ".onnx")
    with open(path, "wb") as file:
        file.write(number(1, 8) + blob(7, graph(*parts, name)) +
                   blob(8, opset(version)))
    return path


def constant(rng, name, dims, least=-1.0, most=1.0):
    n = 1
    for d in dims:
        n *= d
    return tensor(name, dims,
                  floats(*(rng.uniform(least, most) for _ in range(n))))


# The results of the network's nodes.
INNER = {"c": [1, 8, 6, 6], "n": [1, 8, 6, 6], "r": [1, 8, 6, 6],
         "t1": [1, 6, 6, 8], "t2": [1, 8, 6, 6], "k": [8, 1, 1],
         "p": [1, 8, 6, 6], "e1": [1, 8, 6, 6], "e2": [1, 8, 6, 6],
         "d": [1, 8, 6, 6], "a": [1, 8, 6, 6], "q": [1, 8, 3, 3],
         "f": [1, 72], "l": [1, 10]}


def model(version=14, inner=False):
    """A small network with something to do for each of several passes. inner: with
    the results of all its nodes as outputs."""
    rng = random.Random(5)

    def of(*given):
        return constant(rng, *given)

    nodes = [
        node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c", "s", "o", "m", "v"], ["n"], "bn"),
        node("Relu", ["n"], ["r"], "relu"),
        node("Transpose", ["r"], ["t1"], "to", perm=[0, 2, 3, 1]),
        node("Transpose", ["t1"], ["t2"], "back", perm=[0, 3, 1, 2]),
        node("Mul", ["k1", "k2"], ["k"], "step"),
        node("Sub", ["t2", "k"], ["p"], "shift"),
        node("Exp", ["p"], ["e1"], "exp1"),
        node("Exp", ["p"], ["e2"], "exp2"),
        node("Div", ["e1", "k1"], ["d"], "ratio"),
        node("Mul", ["e2", "d"], ["a"], "both"),
        node("MaxPool", ["a"], ["q"], "pool", kernel_shape=[2, 2],
             strides=[2, 2]),
        node("Flatten", ["q"], ["f"], "flat"),
        node("Gemm", ["f", "g", "h"], ["l"], "fc"),
        node("Softmax", ["l"], ["y"], "soft"),
    ]
    constants = [of("w", [8, 3, 3, 3], -0.3, 0.3), of("b", [8]), of("s", [8], 0.5),
                 of("o", [8]), of("m", [8]), of("v", [8], 0.5),
                 of("k1", [8, 1, 1], 0.5), of("k2", [8, 1, 1], 0.5),
                 of("g", [72, 10], -0.01, 0.01), of("h", [10])]
    outputs = [value_info("y", [1, 10])]
    if inner:
        outputs += [value_info(name, dims) for name, dims in INNER.items()]
    return save("net", version, nodes, [value_info("x", [1, 3, 6, 6])], outputs,
                constants)


def branches():
    """A network of three kernels, whose last one reads the first one's result."""
    rng = random.Random(6)
    return save("branches", 14, [
        node("Conv", ["x", "u"], ["a"], "one"),
        node("Conv", ["a", "v"], ["b"], "two"),
        node("Conv", ["b", "w"], ["c"], "three"),
        node("Sub", ["c", "a"], ["y"], "last")],
        [value_info("x", [1, 4, 5, 5])], [value_info("y", [1, 4, 5, 5])],
        [constant(rng, name, [4, 4, 1, 1]) for name in "uvw"])


def symbolic():
    """A product of a size that the caller gives."""
    rng = random.Random(9)
    return save("symbolic", 14, [node("MatMul", ["x", "w"], ["y"], "product")],
                [value_info("x", ["n", 5])], [value_info("y", ["n", 7])],
                [constant(rng, "w", [5, 7])])


def integers():
    """A product of bytes."""
    rng = random.Random(7)
    return save("bytes", 14, [node("MatMulInteger", ["x", "w"], ["y"], "dot")],
                [value_info("x", [6, 16], 2)], [value_info("y", [6, 8], 6)],
                [tensor("w", [16, 8], rng.randbytes(128), kind=3)])


def npy(dims, data):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % \
        ", ".join(map(str, dims))
    head += " " * (63 - (len(head) + 10) % 64) + "\n"
    return b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + \
        head.encode() + data


def layers(version):
    """The network, a data set, and the right results of all its nodes, by a tirc
    without a fault."""
    folder = work_folder()
    rng = random.Random(8)
    values = array.array("f", (rng.uniform(-1, 1) for _ in range(108)))
    given = npy([1, 3, 6, 6], values.tobytes())
    image = os.path.join(folder, "x.npy")
    with open(image, "wb") as file:
        file.write(given)
    results = os.path.join(folder, "layers.npz")
    tirc("run", model(version, True), "--target", "c99", "-q", *STRICT_C,
         "--input", "x=" + image, "--output", results)
    data = os.path.join(folder, "data.npz")
    with zipfile.ZipFile(results) as source, zipfile.ZipFile(data, "w") as file:
        file.writestr("x.npy", given)
        file.writestr("y.npy", source.read("y.npy"))
    return [model(version), "--data", data, "--layers=" + results,
            "--target", "c99", *STRICT_C]


def dialects():
    """A folder with dialects that spell one operation of floats wrong, and a target
    for each."""
    folder = work_folder()
    product = {"infix": "*", "at": "multiplicative"}
    quotient = {"infix": "/", "at": "multiplicative"}
    power = {"call": "exp2{{math}}", "needs": ["math.h"]}
    wrong = {"wrong-exp": {"expressions": {"exp": {"float": power}}},
             "wrong-div": {"expressions": {"div": {"float": product,
                                                   "any": quotient}}},
             "wrong-max": {"expressions": {"fmax": {
                 "text": "{{a}} < {{b}} ? {{a}} : {{b}}",
                 "at": "conditional", "operands": "shift"}}},
             "wrong-store": {"statements": {
                 "store_add": {"line": "{{target}} -={{br}}{{value}};"}}}}
    for name, texts in wrong.items():
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "dialect.json"), "w",
                  encoding="utf-8") as file:
            json.dump({"extends": "c99", "description": "a fault", **texts},
                      file)
        with open(os.path.join(folder, "for-" + name + ".json"), "w",
                  encoding="utf-8") as file:
            json.dump({"extends": "c99", "description": "a fault",
                       "dialect": name}, file)
    return folder


def intrinsics():
    """A folder with an intrinsic whose text is wrong."""
    folder = work_folder()
    name = "dot_4x4_sse2"
    shutil.copytree(os.path.join(ROOT, "templates", "intrinsics", name),
                    os.path.join(folder, name))
    path = os.path.join(folder, name, "gnu-c.tmpl")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    right = "_mm_add_epi32(even, odd)"
    if right not in text:
        fail("%s has no %s" % (path, right))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(right, "_mm_sub_epi32(even, odd)"))
    return folder


def fast_compiler():
    """A compiler for which nothing is NaN, unless it optimises nothing."""
    path = os.path.join(work_folder(), "cc.sh")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ncase \" $* \" in\n"
                   "*' -O0 '*) exec cc \"$@\" ;;\n"
                   "*) exec cc -ffast-math \"$@\" ;;\nesac\n")
    os.chmod(path, 0o755)
    return path


def wrong_data():
    """A model whose data set has the outputs of another one."""
    folder = work_folder()
    shutil.copy(DIGITS, folder)
    data = os.path.join(folder, "data")
    os.mkdir(data)
    for name, number in (("input_0.pb", 0), ("output_0.pb", 1)):
        shutil.copy(os.path.join(os.path.dirname(DIGITS), "test_data_set_%d" % number,
                                 name), data)
    return [os.path.join(folder, os.path.basename(DIGITS)), "--data", data]


# The fault in the network, and what the last line of the output must have.
PLANTED = [
    ("graph_dead Relu op Sigmoid", "pass dead", "'relu'"),
    ("graph_linear Exp op Abs", "pass linear", "'exp2'"),
    ("graph_fold Sub constant", "pass fold", "'shift'"),
    ("graph_identity Sub swap", "pass identity", "'shift'"),
    ("graph_transpose Exp op Abs", "pass transpose", "'exp2'"),
    ("graph_views Div swap", "pass views", "'ratio'"),
    ("graph_fold_pad Conv constant", "pass fold_pad", "'conv'"),
    ("graph_fold_batchnorm Mul constant", "pass fold_batchnorm", "'bn'"),
    ("graph_fold_scale Conv constant", "pass fold_scale", "'conv'"),
    ("graph_resize MaxPool op AveragePool", "pass resize", "'pool'"),
    ("graph_cse Mul op Add", "pass cse", "'both'"),
    ("graph_shapes Softmax op LogSoftmax", "pass shapes", "'soft'"),
    ("graph_tables Gemm constant", "pass tables", "'fc'"),
    ("graph_winograd Conv constant", "pass winograd", "'conv'"),
    ("graph_divide Sub swap", "pass divide", "'shift'"),
    ("graph_fuse Gemm constant", "pass fuse", "'fc'"),
    ("lower_place_init fc times", "pass place-init", "kernel fc "),
    ("lower_blocks soft times", "pass blocks", "kernel soft "),
    ("lower_rows fc index", "pass rows", "kernel fc "),
    ("lower_storage pool extent", "pass storage", "kernel pool "),
    ("lower_unroll conv max", "pass unroll", "kernel conv "),
    ("lower_early_reads pool times", "pass early-reads", "kernel pool "),
    ("lower_partition soft extent", "pass partition-loops", "kernel soft "),
    ("lower_dims conv max", "pass dims", "kernel conv "),
    ("lower_guards fc times", "pass guards", "kernel fc "),
    ("lower_indices conv times", "pass indices", "kernel conv "),
    ("lower_values pool index", "pass values", "kernel pool "),
    ("lower_dead conv times", "pass dead-code", "kernel conv "),
    ("lower_widths soft times", "pass widths", "kernel soft "),
    ("prim_compute_inline conv times", "step compute_inline(", "kernel conv "),
    ("prim_transform_layout pool times", "step transform_layout(", "kernel pool "),
    ("prim_cache_write pool times", "step cache_write(", "kernel pool "),
    ("prim_decompose_padding conv times", "step decompose_padding(",
     "kernel conv "),
    ("prim_reorder conv times", "step reorder(", "kernel conv "),
    ("prim_vectorize fc times", "step vectorize(", "kernel fc "),
    ("prim_compute_at soft times", "step compute_at(", "kernel soft "),
    ("rule_register_tile fc times", "The schedule (tiled", "kernel fc "),
    ("rule_register_tile pool index", "The schedule (tiled", "kernel pool "),
    ("sched_adopt_layouts conv map", "layout of a constant (conv_w",
     "kernel conv "),
    ("weight_stream conv_w sign", "place or form of a constant (conv_w",
     "kernel conv "),
]


# A run takes one of so many parts of the faults, and of so many faults one has its
# smallest model written, too.
PARTS = 4
MINIMAL = 6


def run(fault, options):
    env = dict(os.environ)
    if fault:
        env["TIRC_FAULT"] = fault
    return subprocess.run([TIRC, "bisect", *options], env=env,
                          stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False)


def has_part(fault, options):
    """Whether a part of the model is wrong, and not its inputs or its whole."""
    return "--data" not in options and "--dim" not in options and \
        not (fault or "").startswith(("plan_", "entry_"))


def check_minimal(fault, options):
    """With -o, a part of the model is written that is wrong in the same way, and of
    a kernel a program."""
    out = os.path.join(work_folder(), "out")
    done = run(fault, [*options, "-o", out])
    path = os.path.join(out, "minimal.onnx")
    if done.returncode != 1 or not os.path.exists(path):
        return "no minimal model\n" + done.stdout + done.stderr
    kernel = " made kernel " in done.stdout
    if kernel != os.path.exists(os.path.join(out, "kernel", "harness.c")):
        return "program of a kernel: %s\n%s" % (not kernel, done.stdout)
    if "not empty" not in run(fault, [*options, "-o", out]).stderr:
        return "files in the folder are replaced"
    whole, part = (len(onnx_nodes(p)) for p in (options[0], path))
    again = run(fault, [path, *options[1:]])
    if again.returncode != 1 or part >= whole:
        return "%d of %d nodes: %s%s" % (part, whole, again.stdout, again.stderr)
    print("ok    %s: %d of %d nodes" % (fault or options[2], part, whole))
    return None


def main():
    net = model()
    quick = [net, "--target", "c99", *STRICT_C]
    own = ["--dialect-path", dialects()]
    apart = [branches(), "--target", "c99", *STRICT_C]
    rows = [(None, quick, 0, ["Nothing is wrong."])]
    rows += [(fault, quick, 1, words) for fault, *words in PLANTED]
    rows += [
        ("lower_dims product times", [symbolic(), "--dim", "n=1..8", *quick[1:]],
         1, ["pass dims", "kernel product "]),
        ("plan_memory b onto a", apart, 1,
         ["memory plan made kernel two", "'two'", "the tensor a", "the tensor b"]),
        ("entry_call two skip", apart, 1,
         ["order of the calls made kernel", "'three'", "the tensor b"]),
        ("import_finish Relu op Sigmoid", layers(14), 1,
         ["The import of the model", "node Sigmoid 'relu'"]),
        ("upgrade_softmax all axis", layers(11), 1,
         ["The import of the model", "node Softmax 'soft'"]),
        (None, [net, "--target", "for-wrong-exp", *own, *STRICT_C], 1,
         ["text in the dialect wrong-exp", "kernel conv "]),
        (None, [net, "--target", "for-wrong-div", *own, *STRICT_C], 1,
         ["text in the dialect wrong-div", "kernel conv "]),
        (None, [net, "--target", "for-wrong-max", *own, *STRICT_C], 1,
         ["text in the dialect wrong-max", "kernel pool "]),
        (None, [net, "--target", "for-wrong-store", *own, *STRICT_C], 1,
         ["text in the dialect wrong-store", "kernel conv "]),
        (None, [net, "--target", "c99", "--cc", "cc", "--cflags",
                "-std=c99 -O0 -Dkw=kh"], 1,
         ["flag -Dkw=kh of the compiler cc", "kernel conv "]),
        (None, [net, "--target", "c99", "--cc", fast_compiler(),
                "--cflags", "-std=c99"], 1,
         ["optimisation of the compiler", "-O0", "kernel pool "]),
        (None, [net, "--target", "c99", "--cc", "cc", "--cflags",
                "-std=c99 -O1 -ffast-math"], 1,
         ["flag -ffast-math of the compiler cc", "kernel pool "]),
        (None, [*wrong_data(), "--target", "c99", *STRICT_C], 1,
         ["import of the model, or the definition", "output prob"]),
    ]
    if platform.machine() == "x86_64":
        rows += [(None, [integers(), "--target", "x86-64-v2", "--dialect-path",
                         intrinsics(), "--cflags", "-std=gnu11 -O0 -msse4.2"],
                  1, ["text of the intrinsic dot_4x4_sse2", "kernel dot_matmul "])]
    wanted = sys.argv[1:]
    rows = [r for r in rows if any(w in repr(r) for w in wanted)] \
        if wanted else some("bisect", rows, len(rows) // PARTS)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda r: run(r[0], r[1]), rows)
        for (fault, options, status, words), done in zip(rows, results):
            last = done.stdout.rstrip().rsplit("\n", 1)[-1]
            good = done.returncode == status and all(w in last for w in words)
            bad += not good
            if wanted or not good:
                print(done.stdout + done.stderr)
            print("%s  %s: %s" % ("ok  " if good else "FAIL",
                                  fault or options, last))
    for number, (fault, options, status, _) in enumerate(rows):
        if status == 1 and has_part(fault, options) and (
                wanted or number % MINIMAL == 1):
            why = check_minimal(fault, options)
            if why:
                fail("%s: %s" % (fault or options, why))
    if bad:
        fail("%d of %d faults are not named" % (bad, len(rows)))


if __name__ == "__main__":
    main()
