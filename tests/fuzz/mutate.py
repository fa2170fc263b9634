#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py FUZZ_COMPILE [SEED [ROUNDS]]: ONNX's own node tests with a few
things wrong (sizes, attributes, types, constants, inputs, versions) through a
sanitized fuzz_compile. Bytes at random seldom get past protobuf; these do.
Prints what crashed and keeps the models in ./crashes. Needs onnx, numpy."""
import os
import random
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto as T, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from onnx_nodes import cases

PER_ROUND = 400
SMALL = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 7]
LARGE = [-2**63, -2**31, -100, 16, 100, 1000, 65536, 2**24, 2**31 - 1, 2**31,
         2**33, 2**40, 2**62, 2**63 - 1]
SIZES = [1, 2, 3, 4, 5, 7, 8, 1000, 2**16, 2**20, 2**31, 2**33, 2**40]
REALS = [0.0, -1.0, 1.0, 0.5, -2.5, 1e-30, 1e30, 3.4e38, float("nan"),
         float("inf"), -float("inf")]
TEXTS = [b"", b"x", b"linear", b"nearest", b"cubic", b"SAME_UPPER", b"VALID",
         b"reflect", b"edge", b"wrap", b"CRD"]
TYPES = [T.FLOAT, T.INT32, T.INT64, T.BOOL, T.UINT8, T.INT8, T.FLOAT16,
         T.DOUBLE, T.BFLOAT16, T.UINT32, T.UINT64, T.FLOAT8E4M3FN, T.UINT4]


def integer(r):
    return r.choice(SMALL if r.random() < 0.6 else LARGE)


def change_list(r, values, value):
    kept = list(values)
    what = r.random()
    if kept and what < 0.6:
        kept[r.randrange(len(kept))] = value
    elif kept and what < 0.8:
        kept.pop()
    else:
        kept.append(value)
    del values[:]
    values.extend(kept)


def change_attribute(r, graph):
    node = r.choice(graph.node)
    if not node.attribute:
        return
    a = r.choice(node.attribute)
    if a.type == a.INT:
        a.i = integer(r)
    elif a.type == a.FLOAT:
        a.f = r.choice(REALS)
    elif a.type == a.STRING:
        a.s = r.choice(TEXTS)
    elif a.type == a.INTS:
        change_list(r, a.ints, integer(r))
    elif a.type == a.FLOATS:
        change_list(r, a.floats, r.choice(REALS))
    if r.random() < 0.1:
        node.attribute.remove(a)


def change_shape(r, graph):
    if not graph.input:
        return
    kind = r.choice(graph.input).type.tensor_type
    dims = kind.shape.dim
    what = r.random()
    if what < 0.2:
        kind.elem_type = r.choice(TYPES)
    elif dims and what < 0.3:
        r.choice(dims).dim_param = "batch"
    elif dims and what < 0.8:
        r.choice(dims).dim_value = r.choice(SIZES)
    elif dims and what < 0.9:
        dims.pop()
    else:
        dims.add().dim_value = r.choice([1, 2, 3])


def change_constant(r, graph):
    if not graph.initializer:
        return
    tensor = r.choice(graph.initializer)
    value = numpy_helper.to_array(tensor).copy()
    if value.dtype.kind not in "iuf" or value.size == 0:
        return
    flat = value.reshape(-1)
    new = r.choice(REALS) if value.dtype.kind == "f" else integer(r)
    flat[r.randrange(flat.size)] = new
    if r.random() < 0.2:
        value = flat[:-1]
    elif r.random() < 0.1:
        value = value.reshape((1,) + value.shape)
    name = tensor.name
    tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(value),
                                            name))


def change_links(r, graph):
    node = r.choice(graph.node)
    names = [i.name for i in graph.input] + \
        [i for other in graph.node for i in other.input]
    what = r.random()
    if node.input and what < 0.3:
        node.input[r.randrange(len(node.input))] = ""
    elif node.input and what < 0.5:
        node.input.pop()
    elif node.input and what < 0.8:
        node.input[r.randrange(len(node.input))] = r.choice(names)
    elif node.output and what < 0.9:
        node.output[r.randrange(len(node.output))] = ""
    else:
        node.output.append("extra")


CHANGES = [change_attribute, change_attribute, change_shape, change_shape,
           change_constant, change_constant, change_links]


def make_constants(r, graph):
    """Small integer inputs are what shapes and axes come from."""
    for value in list(graph.input):
        kind = value.type.tensor_type
        dims = [d.dim_value for d in kind.shape.dim]
        if kind.elem_type == T.INT64 and len(dims) < 2 and \
                (not dims or dims[0] < 10) and r.random() < 0.7:
            data = np.array([integer(r) for _ in range(dims[0])] if dims
                            else integer(r), np.int64)
            graph.initializer.append(numpy_helper.from_array(data,
                                                             value.name))
            graph.input.remove(value)


def mutant(r, models):
    model = onnx.ModelProto()
    model.ParseFromString(r.choice(models))
    graph = model.graph
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    make_constants(r, graph)
    for _ in range(r.randrange(1, 4)):
        try:
            r.choice(CHANGES)(r, graph)
        except (OverflowError, ValueError):
            pass                       # the type cannot hold the number
    if r.random() < 0.1:
        model.opset_import[0].version = r.randrange(7, 29)
    return model.SerializeToString()


def run(program, paths):
    """Runs all, going on after each that crashed; gives those."""
    crashed = []
    while paths:
        done = subprocess.run(
            [program, "-timeout=30", "-rss_limit_mb=3000",
             "-artifact_prefix=" + os.path.dirname(paths[0]) + "/", *paths],
            capture_output=True, text=True, errors="replace")
        if done.returncode == 0:
            break
        last = re.findall(r"Running: (\S+)", done.stderr)[-1]
        told = re.search(r".*(runtime error|ERROR: |Assertion).*",
                         done.stderr)
        crashed.append((last, told.group(0) if told else "?"))
        paths = paths[paths.index(last) + 1:]
    return crashed


def plain_models():
    """Node tests of plain tensors without graphs inside."""
    for case in cases():
        graph = case.model.graph
        data = case.model.SerializeToString()
        if len(data) < 3000 and graph.node and all(
                v.type.HasField("tensor_type") and
                v.type.tensor_type.elem_type != T.STRING
                for v in [*graph.input, *graph.output]) and not any(
                a.type == a.GRAPH for n in graph.node for a in n.attribute):
            yield data


def main():
    program = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    r = random.Random(seed)
    models = list(plain_models())
    failed = 0
    os.makedirs("crashes", exist_ok=True)
    for turn in range(rounds):
        folder = os.path.join("crashes", "round")
        shutil.rmtree(folder, True)
        os.makedirs(folder)
        paths = []
        for k in range(PER_ROUND):
            paths.append(os.path.join(folder, "%03d.onnx" % k))
            with open(paths[-1], "wb") as file:
                file.write(mutant(r, models))
        for path, why in run(program, paths):
            failed += 1
            kept = "crashes/%d_%d_%s" % (seed, turn, os.path.basename(path))
            shutil.copy(path, kept)
            print("%s: %s" % (kept, why), flush=True)
    print("%d of %d models crashed" % (failed, rounds * PER_ROUND))
    sys.exit(failed > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
