#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc test` of a model whose two roundings differ: halves of a step are rounded
up with --requant tflite, to even with --requant onnx. Sums of the first
layer are such halves, and one step there is sixteen steps later. Expected values
that tirc computes have the rounding of the option (--layers, random inputs,
--package), and a note tells which one a data set was recorded with. Programs whose
results do not depend on their inputs fail with either rounding, small ones and int8
networks, also beside a right program with the other rounding."""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper
import turns

FOLDER = helper.work_folder()
RNG = np.random.default_rng(3)
STEPS = [1, 2, 0.5, 0.125]
# a layer's weights: two terms in the first one, then one
WEIGHTS = [RNG.permutation(np.eye(16)) - (RNG.permutation(np.eye(16))
                                          if i == 0 else 0)
           for i in range(len(STEPS) - 1)]
X = RNG.integers(-5, 6, (64, 16)).astype(np.int8)


def path(name):
    return os.path.join(FOLDER, name)


def save_model():
    """Products of quantized tensors, each rounded once to a step."""
    nodes, now = [], "q0"
    constants = [numpy_helper.from_array(np.float32(step), "s%d" % i)
                 for i, step in enumerate(STEPS)]
    constants += [numpy_helper.from_array(np.int8(0), "zero"),
                  numpy_helper.from_array(np.float32(1), "one")]
    for i, weights in enumerate(WEIGHTS):
        constants.append(numpy_helper.from_array(
            weights.astype(np.int8), "w%d" % i))
        nodes += [
            make.make_node("DequantizeLinear", [now, "s%d" % i, "zero"],
                           ["f%d" % i]),
            make.make_node("DequantizeLinear", ["w%d" % i, "one", "zero"],
                           ["v%d" % i]),
            make.make_node("MatMul", ["f%d" % i, "v%d" % i], ["m%d" % i]),
            make.make_node("QuantizeLinear",
                           ["m%d" % i, "s%d" % (i + 1), "zero"],
                           ["q%d" % (i + 1)])]
        now = "q%d" % (i + 1)
    graph = make.make_graph(
        nodes, "g",
        [make.make_tensor_value_info("q0", TensorProto.INT8, X.shape)],
        [make.make_tensor_value_info(now, TensorProto.INT8, X.shape)],
        constants)
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path("model.onnx"))
    return now


def up(v):
    return np.floor(v + 0.5)


def expected(rounds):
    x = X.astype(np.float64)
    for i, weights in enumerate(WEIGHTS):
        x = rounds(x @ weights * STEPS[i] / STEPS[i + 1])
        x = np.clip(x, -128, 127)
    return x.astype(np.int8)


def check(what, *arguments, says, never=(), status=0):
    done = helper.tirc("test", path("model.onnx"), "--target", "c99",
                       *helper.STRICT_C, *arguments, status=status)
    out = done.stdout + done.stderr
    print("%s:\n%s" % (what, out))
    for text in says:
        if text not in out:
            sys.exit("%s: does not say: %s" % (what, text))
    for text in never:
        if text in out:
            sys.exit("%s: says: %s" % (what, text))


OUTPUT = save_model()
TFLITE = ("--requant", "tflite")
np.savez(path("onnx.npz"), q0=X, **{OUTPUT: expected(np.rint)})
np.savez(path("tflite.npz"), q0=X, **{OUTPUT: expected(up)})

check("layers", path("onnx.npz"), "--layers",
      says=["no result of the 12 nodes deviates from the interpreter;"])
check("layers with TFLite's rounding", path("onnx.npz"), "--layers", *TFLITE,
      says=["deviates from the interpreter with the rounding of --requant "
            "tflite; compared: "])
check("random inputs", *TFLITE, says=["1024 elements equal"])
helper.tirc("compile", path("model.onnx"), "-q", "-o", path("package"),
            "--package", "plain", *TFLITE)

check("ONNX's data", path("onnx.npz"), says=["1024 elements equal"],
      never=["rounding:"])
check("TFLite's data", path("tflite.npz"), *TFLITE,
      says=["1024 elements equal"], never=["rounding:"])
check("ONNX's data, TFLite's rounding", path("onnx.npz"), *TFLITE, status=1,
      says=["note: onnx.npz has ONNX's rounding: with --requant onnx all "
            "results are equal, and about --requant tflite they say little"])
check("TFLite's data, ONNX's rounding", path("tflite.npz"), status=1,
      says=["?     tflite.npz  ", "max abs ", "not decided: equal with "
            "--requant tflite, since this data set was recorded with "
            "TensorFlow Lite's rounding\n",
            "0 of 1 data set passed, 1 not decided",
            "note: tflite.npz has TensorFlow Lite's rounding: with --requant "
            "tflite all results are equal"])
check("both, ONNX's rounding", path("onnx.npz"), path("tflite.npz"),
      says=["ok    onnx.npz", "?     tflite.npz",
            "1 of 2 data sets passed, 1 not decided"])
mixed = expected(np.rint)
mixed[0, 0] = 77 if mixed[0, 0] != 77 else 7
np.savez(path("mixed.npz"), q0=X, **{OUTPUT: mixed})
check("near ONNX's data", path("mixed.npz"), *TFLITE, status=1,
      says=["closer with --requant onnx, where 1 element differs in place of"])


# -- wrong programs: their results are the same for all inputs

DAMAGE = path("damage.py")
ONCE = path("once")
with open(DAMAGE, "w", encoding="utf-8") as file:
    file.write("""#!%s
import os, re, sys
# The program that is tested reads zeros in place of its inputs; that with factors,
# and with WHAT=first all others, do not.
for path in sys.argv[1:]:
    if not (path.endswith(".c") and os.path.exists(path)):
        continue
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if re.search(r"\\bin->\\w+", text) is None or "in->factor" in text or (
            os.environ["WHAT"] == "first" and os.path.exists(%r)):
        continue
    open(%r, "w").close()
    text = re.sub(r"\\bin->\\w+", "(const void *)zeros", text)
    text = text.replace("#include", "static const char zeros[1 << 18];\\n#include", 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
os.execvp("gcc", ["gcc", *sys.argv[1:]])
""" % (sys.executable, ONCE, ONCE))
os.chmod(DAMAGE, 0o755)


def planted(name, model, data, passes):
    """The right program is not found wrong, whatever its rounding; a wrong one is,
    also where the program with the other rounding is right. passes: the options
    with which a data set is decided."""
    common = ["test", model, *data, "--target", "c99", "--cflags", "-O0"]
    for requant in ("onnx", "tflite"):
        done = helper.tirc(*common, "--cc", "gcc", "--requant", requant,
                           status=None)
        if "FAIL" in done.stdout or (done.returncode == 0) != (
                requant in passes):
            sys.exit("%s, %s: the right program:\n%s%s" % (
                name, requant, done.stdout, done.stderr))
        for what in ("all", "first"):
            if os.path.exists(ONCE):
                os.remove(ONCE)
            done = helper.tirc(*common, "--cc", DAMAGE, "--requant", requant,
                               env=dict(os.environ, WHAT=what), status=None)
            if done.returncode != 1 or "FAIL" not in done.stdout or \
                    not os.path.exists(ONCE):
                sys.exit("%s, %s, %s: a wrong program passes:\n%s%s" % (
                    name, requant, what, done.stdout, done.stderr))
            print("%s, %s, %s:\n%s" % (name, requant, what, done.stdout))


planted("steps", path("model.onnx"), [path("onnx.npz"), path("tflite.npz")],
        ("onnx", "tflite"))
for folder in turns.some("planted", ["ad01_int8", "kws_int8", "vww_int8",
                                     "resnet8_int8"]):
    if helper.shared() is not None:
        planted(folder, helper.shared_model(
            os.path.join("mlperf_tiny", folder, "model.onnx")), [],
                ("onnx", "tflite"))
