#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data of `tirc test` in .npz and .npy files, by the names of tensors; the cause
of a failure before the verdict; integers and strings printed as they are."""
import os
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx import helper as make

import helper

FOLDER = helper.work_folder()
X = np.float32([[1, 2, 3], [4, 5, 6]])
W = np.arange(12, dtype=np.float32).reshape(3, 4)
BIG = np.int64([2 ** 62 + 1, -5])
HUGE = np.uint64([2 ** 63 + 3, 1])
Y, K = X @ W, np.int64([3, 3])
ALL = {"x": X, "in/big": BIG, "huge": HUGE, "y": Y, "k": K, "same": BIG,
       "huger": HUGE}


def path(*names):
    return os.path.join(FOLDER, *names)


def value(name, v):
    return make.make_tensor_value_info(
        name, make.np_dtype_to_tensor_dtype(v.dtype), v.shape)


def save_model():
    graph = make.make_graph([
        make.make_node("MatMul", ["x", "w"], ["y"]),
        make.make_node("ArgMax", ["y"], ["k"], axis=1, keepdims=0),
        make.make_node("Identity", ["in/big"], ["same"]),
        make.make_node("Identity", ["huge"], ["huger"])], "g",
        [value("x", X), value("in/big", BIG), value("huge", HUGE)],
        [value("y", Y), value("k", K), value("same", BIG),
         value("huger", HUGE)],
        [numpy_helper.from_array(W, "w")])
    model = make.make_model(graph,
                            opset_imports=[make.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path("model.onnx"))


def test(what, *arguments, status, says, model="model.onnx"):
    """Both streams, in the order in which a reader sees them."""
    done = subprocess.run(
        [helper.TIRC, "test", path(model), "--target", "c99",
         *helper.STRICT_C, *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
    print("%s:\n%s" % (what, done.stdout))
    if done.returncode != status:
        sys.exit("%s: status %d" % (what, done.returncode))
    at = 0
    for text in says:
        found = done.stdout.find(text, at)
        if found < 0:
            sys.exit("%s: does not say, in this order: %s" % (what, says))
        at = found + len(text)


def archive(name, **changes):
    """The archive with all arrays but for the changes; None: without one."""
    arrays = {k: v for k, v in {**ALL, **changes}.items() if v is not None}
    np.savez(path(name), **arrays)
    return path(name)


save_model()
test("one file", archive("data.npz"), status=0,
     says=["ok    data.npz  y", "k", "same", "1 of 1 data set passed"])
test("two of them", path("data.npz"), archive("more.npz", y=Y + 1), status=1,
     says=["ok    data.npz  y", "FAIL  more.npz  y", "[0,0]: 32, expected 33",
           "1 of 2 data sets passed"])
np.savez_compressed(path("packed.npz"), **ALL)
test("compressed", path("packed.npz"), status=0, says=["ok    packed.npz  y"])
np.savez(path("in.npz"), **{k: ALL[k] for k in ("x", "in/big", "huge")})
np.savez(path("out.npz"), y=Y, k=K)
np.save(path("y.npy"), Y)
np.save(path("x.npy"), X)
np.save(path("huge.npy"), HUGE)
onnx.save_tensor(numpy_helper.from_array(BIG), path("big.pb"))
test("two archives", "--input", path("in.npz"), "--expect", path("out.npz"),
     status=0, says=["note", "'same', which is not compared", "ok", "  y  ",
                     "  k  "])
test("no such file", "--input", path("none.npz"), "--expect", path("out.npz"),
     status=1, says=["none.npz", "FAIL  --expect  not compared"])
test("files by name", "--expect", "y=" + path("y.npy"), "--input",
     "x=" + path("x.npy"), "--input", path("big.pb"), "--input",
     "huge=" + path("huge.npy"), status=1, says=["no data for input 'in/big'"])
test("files by name", "--expect", "y=" + path("y.npy"), "--input",
     "x=" + path("x.npy"), "--input", "in/big=" + path("big.pb"), "--input",
     "huge=" + path("huge.npy"), status=0, says=["ok", "  y  "])
test("only inputs", "--input", path("in.npz"), status=2, says=["--expect"])
test("two data sets", path("data.npz"), "--input", path("in.npz"), "--expect",
     path("out.npz"), status=2, says=["remove", "data.npz"])

# The cause first.
LAST = "0 of 1 data set passed"
test("no such file", path("none.npz"), status=1,
     says=["error: ", "none.npz", "FAIL  none.npz  not compared", LAST])
with warnings.catch_warnings(), zipfile.ZipFile(archive("twice.npz"), "a") as twice:
    warnings.simplefilter("ignore")
    twice.writestr("y.npy", twice.read("y.npy"))
test("a name twice", path("twice.npz"), status=1,
     says=["twice.npz: y.npy: two members have this name", LAST])
test("no input", archive("less.npz", **{"in/big": None}), status=1,
     says=["error: ", "'in/big', which is an input", "not compared", LAST])
test("no output", archive("blind.npz", y=None, k=None, same=None, huger=None),
     status=1, says=["error: ", "no array is an output", "not compared", LAST])
test("a stranger", archive("other.npz", yy=Y), status=1,
     says=["'yy' is not an input or output", "did you mean 'y'", LAST])
test("another type", archive("wide.npz", y=Y.astype(np.float64)), status=1,
     says=["float32 [2,4], expected float64 [2,4]", LAST])
test("another shape", archive("turned.npz", y=Y.T.copy()), status=1,
     says=["float32 [2,4], expected float32 [4,2]", LAST])
test("an input of another shape", archive("fat.npz", x=X[:1]), status=1,
     says=["error: input 'x' is float32 [2,3]; the file has float32 [1,3]",
           "not compared", LAST])
test("a long output", archive("long.npz", y=np.zeros((2, 400), np.float32)),
     status=1, says=["'y' has at most 8 elements", "not compared", LAST])
os.mkdir(path("test_data_set_0"))
for i, x in enumerate((X, BIG, HUGE)):
    onnx.save_tensor(numpy_helper.from_array(x),
                     path("test_data_set_0", "input_%d.pb" % i))
onnx.save_tensor(numpy_helper.from_array(Y),
                 path("test_data_set_0", "output_0.pb"))
test("no output file", status=1, says=[
    "error: ", "output_1.pb: cannot be read", "FAIL  test_data_set_0",
    "not compared", LAST])
for folder in ("test_data_set_2", "test_data_set_10"):
    os.makedirs(path("several", folder))
    for i, array in enumerate((X, BIG, HUGE)):
        onnx.save_tensor(numpy_helper.from_array(array), path(
            "several", folder, "input_%d.pb" % i))
    for i, array in enumerate((Y, K, BIG, HUGE)):
        onnx.save_tensor(numpy_helper.from_array(array), path(
            "several", folder, "output_%d.pb" % i))
test("a folder of data sets", path("several"), path("data.npz"), status=0,
     says=["ok    test_data_set_2  y", "ok    test_data_set_10  y",
           "ok    data.npz  y", "3 of 3 data sets passed"])

# As they are.
test("large integers", archive("big.npz", same=BIG - 1), status=1,
     says=["2 of 2 beyond, worst at [0]: 4611686018427387905, "
           "expected 4611686018427387904"])
test("large unsigned integers", archive("huge.npz", huger=HUGE - np.uint64(1)),
     status=1, says=["9223372036854775811, expected 9223372036854775810"])

STRINGS = np.array(["one", "two\n"], object)
graph = make.make_graph(
    [make.make_node("Identity", ["s"], ["t"])], "g",
    [make.make_tensor_value_info("s", TensorProto.STRING, [2])],
    [make.make_tensor_value_info("t", TensorProto.STRING, [2])])
strings = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)])
strings.ir_version = 8
os.mkdir(path("strings"))
onnx.save(strings, path("strings", "model.onnx"))
for expected, status, says in [
        (STRINGS, 0, ["all strings equal"]),
        (np.array(["one", "three"], object), 1,
         ["1 of 2 strings differ, worst at [1]: \"two\\n\", "
          "expected \"three\""]),
        (np.array(["one", "t" * 80], object), 1,
         ["string [2] of up to 64 bytes", "string [2] of up to 81 bytes"])]:
    data = path("strings", "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    onnx.save_tensor(numpy_helper.from_array(STRINGS),
                     os.path.join(data, "input_0.pb"))
    onnx.save_tensor(numpy_helper.from_array(expected),
                     os.path.join(data, "output_0.pb"))
    test("strings", status=status, says=says, model="strings/model.onnx")
