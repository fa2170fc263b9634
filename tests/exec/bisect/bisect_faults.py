#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc bisect` names what made a model wrong: faults that are planted in a pass, in
a step of a schedule, in a dialect, in the flags of a compiler.

    bisect_faults.py [WORD...]

runs only the faults in whose rows one of the words is, and prints what bisect
says."""
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys

from helper import DIGITS, STRICT_C, TIRC, fail, work_folder
from proto import blob, floats, graph, node, number, opset, tensor, value_info


def onnx_nodes(path):
    """The names of the nodes of the model, by tirc."""
    done = subprocess.run([TIRC, "inspect", "--json", path], text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout)["nodes"]


def model():
    """A small network with something to do for each of several passes."""
    rng = random.Random(5)

    def some(name, dims, least=-1.0, most=1.0):
        n = 1
        for d in dims:
            n *= d
        return tensor(name, dims,
                      floats(*(rng.uniform(least, most) for _ in range(n))))

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
    constants = [some("w", [8, 3, 3, 3], -0.3, 0.3), some("b", [8]), some("s", [8], 0.5),
                 some("o", [8]), some("m", [8]), some("v", [8], 0.5),
                 some("k1", [8, 1, 1], 0.5), some("k2", [8, 1, 1], 0.5),
                 some("g", [72, 10], -0.01, 0.01), some("h", [10])]
    body = graph(nodes, [value_info("x", [1, 3, 6, 6])],
                 [value_info("y", [1, 10])], constants, "net")
    path = os.path.join(work_folder(), "net.onnx")
    with open(path, "wb") as file:
        file.write(number(1, 8) + blob(7, body) + blob(8, opset(14)))
    return path


def dialects():
    """A folder with dialects that spell one operation of floats wrong, and a target
    for each."""
    folder = work_folder()
    product = {"infix": "*", "at": "multiplicative"}
    quotient = {"infix": "/", "at": "multiplicative"}
    power = {"call": "exp2{{math}}", "needs": ["math.h"]}
    wrong = {"wrong-exp": {"exp": {"float": power}},
             "wrong-div": {"div": {"float": product, "any": quotient}}}
    for name, expressions in wrong.items():
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "dialect.json"), "w",
                  encoding="utf-8") as file:
            json.dump({"extends": "c99", "description": "a fault",
                       "expressions": expressions}, file)
        with open(os.path.join(folder, "for-" + name + ".json"), "w",
                  encoding="utf-8") as file:
            json.dump({"extends": "c99", "description": "a fault",
                       "dialect": name}, file)
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


# The fault, and what the last line of the output must have.
PLANTED = [
    ("graph_dead Relu op Sigmoid", "pass dead", "'relu'"),
    ("graph_fold Sub constant", "pass fold", "'shift'"),
    ("graph_identity Sub swap", "pass identity", "'shift'"),
    ("graph_transpose Exp op Abs", "pass transpose", "'exp2'"),
    ("graph_fold_batchnorm Mul constant", "pass fold_batchnorm", "'bn'"),
    ("graph_fold_scale Conv constant", "pass fold_scale", "'conv'"),
    ("graph_cse Mul op Add", "pass cse", "'both'"),
    ("graph_shapes Softmax op LogSoftmax", "pass shapes", "'soft'"),
    ("graph_fuse Gemm constant", "pass fuse", "'fc'"),
    ("lower_place_init fc times", "pass place-init", "kernel fc "),
    ("lower_storage pool extent", "pass storage", "kernel pool "),
    ("lower_dims conv max", "pass dims", "kernel conv "),
    ("lower_indices conv times", "pass indices", "kernel conv "),
    ("lower_widths soft times", "pass widths", "kernel soft "),
    ("lower_values pool index", "pass values", "kernel pool "),
    ("prim_compute_inline conv times", "step compute_inline(", "kernel conv "),
    ("prim_reorder conv times", "step reorder(", "kernel conv "),
    ("prim_vectorize fc times", "step vectorize(", "kernel fc "),
    ("rule_register_tile fc times", "The schedule (tiled", "kernel fc "),
    ("rule_register_tile pool index", "The schedule (tiled", "kernel pool "),
]


# Of so many faults one has its smallest model written, too.
MINIMAL = 6


def run(fault, options):
    env = dict(os.environ)
    if fault:
        env["TIRC_FAULT"] = fault
    return subprocess.run([TIRC, "bisect", *options], env=env,
                          stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False)


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
    rows = [(None, quick, 0, ["Nothing is wrong."])]
    rows += [(fault, quick, 1, words) for fault, *words in PLANTED]
    rows += [
        (None, [net, "--target", "for-wrong-exp", *own, *STRICT_C], 1,
         ["text in the dialect wrong-exp", "kernel conv "]),
        (None, [net, "--target", "for-wrong-div", *own, *STRICT_C], 1,
         ["text in the dialect wrong-div", "kernel conv "]),
        (None, [net, "--target", "c99", "--cc", fast_compiler(),
                "--cflags", "-std=c99"], 1,
         ["optimisation of the compiler", "-O0", "kernel conv "]),
        (None, [net, "--target", "c99", "--cc", "cc", "--cflags",
                "-std=c99 -O1 -ffast-math"], 1,
         ["flag -ffast-math of the compiler cc", "kernel conv "]),
        (None, [*wrong_data(), "--target", "c99", *STRICT_C], 1,
         ["import of the model, or the definition", "output prob"]),
    ]
    wanted = sys.argv[1:]
    rows = [r for r in rows if not wanted or
            any(w in repr(r) for w in wanted)]
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
        if status == 1 and "--data" not in options and (
                wanted or number % MINIMAL == 1):
            why = check_minimal(fault, options)
            if why:
                fail("%s: %s" % (fault or options, why))
    if bad:
        fail("%d of %d faults are not named" % (bad, len(rows)))


if __name__ == "__main__":
    main()
