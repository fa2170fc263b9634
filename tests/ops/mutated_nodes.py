#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single nodes with something wrong: attributes of other kinds and sizes,
inputs of other ranks and types, missing ones, too many. Each must be computed
or refused with a message, never end in a crash. Arguments: a seed and how
many (the test uses the same few in every run)."""
import os
import random
import re
import subprocess
import sys
import tempfile

import helper

try:
    import numpy as np
    import onnx
    from onnx import helper as make
    from onnx import numpy_helper
    import random_nodes
except ImportError as missing:
    helper.skip(str(missing))

ATTRIBUTES = (
    "alpha approximate auto_pad axes axis batch_dims block_size blocksize "
    "ceil_mode coordinate_transformation_mode depth dilations direction end "
    "epsilon equation exclusive group keepdims kernel_shape mode "
    "num_groups num_outputs output_dtype output_padding output_shape p pads "
    "perm reduction reverse saturate size split start storage_order strides "
    "to transA upper value").split()
INTEGERS = [-1, 0, 1, 2, 3, -5, 7, 1000, 2**31, -2**31, 2**62, -2**63]
TYPES = [np.int8, np.uint8, np.int32, np.int64, bool, np.float16, np.float64]


def operators():
    table = os.path.join(helper.ROOT, "passes", "ops", "core", "ops.def")
    with open(table, encoding="utf-8") as file:
        return sorted(set(re.findall(r"^(?:MAP|OP)\((\w+)", file.read(),
                                     re.M)))


def attribute(rng):
    return rng.choice([
        lambda: rng.choice(INTEGERS),
        lambda: [rng.choice(INTEGERS)
                 for _ in range(rng.choice([1, 2, 3, 4, 6, 20]))],
        lambda: rng.choice([0.0, -1.0, 1e30, float("nan"), float("inf")]),
        lambda: rng.choice(["SAME_UPPER", "VALID", "FOO", "", "cubic", "add",
                            "bij,bjk->bik", "..."]),
        lambda: [rng.choice([1, 2])] * rng.choice([1, 2, 3, 4, 6])])()


def shape(rng):
    return [rng.choice([0, 1, 1, 2, 3, 5]) for _ in range(rng.randrange(7))]


def floats(rng):
    return np.full(shape(rng), 0.5, np.float32)


def mutate(rng, inputs, attributes):
    kind = rng.randrange(6)
    at = rng.randrange(len(inputs)) if inputs else 0
    if kind <= 1:
        known = list(attributes) if rng.random() < 0.6 else []
        attributes[rng.choice(known or ATTRIBUTES)] = attribute(rng)
    elif kind == 2 and inputs:
        inputs[at] = floats(rng)
    elif kind == 3 and inputs:
        inputs.pop(at)
    elif kind == 4:
        inputs.append(np.array([rng.choice(INTEGERS)
                                for _ in range(rng.randrange(5))], np.int64))
    elif inputs:
        with np.errstate(all="ignore"):
            inputs[at] = inputs[at].astype(rng.choice(TYPES))


def node_model(rng, names):
    """A model of one node, or None where onnx itself refuses it."""
    op = rng.choice(names)
    attributes = {}
    if op in random_nodes.CASES:
        source = random_nodes.Source(rng.randrange(1000))
        inputs, attributes = random_nodes.CASES[op][0](source)
    else:
        inputs = [floats(rng) for _ in range(rng.randrange(1, 5))]
    inputs, attributes = list(inputs), dict(attributes)
    for _ in range(rng.randrange(1, 4)):
        mutate(rng, inputs, attributes)
    read = ["x%d" % i for i in range(len(inputs))]
    if read and rng.random() < 0.05:
        read[rng.randrange(len(read))] = ""
    try:
        node = make.make_node(op, read, ["y", "z"][:rng.choice([1, 1, 2])],
                              **attributes)
    except (TypeError, ValueError):
        return None
    tensors = [numpy_helper.from_array(v, n) for v, n in zip(inputs, read)
               if n]
    graph = make.make_graph([node], op, [], [onnx.ValueInfoProto(name="y")],
                            tensors)
    return make.make_model(graph, opset_imports=[make.make_opsetid("", 21)],
                           ir_version=10)


def main():
    seed, count = (int(word) for word in sys.argv[1:3] or ("1", "400"))
    rng = random.Random(seed)
    names = operators()
    computed = refused = wrong = 0
    with tempfile.TemporaryDirectory(prefix="tirc-ops-") as folder:
        path = os.path.join(folder, "model.onnx")
        for index in range(count):
            model = node_model(rng, names)
            if model is None:
                continue
            with open(path, "wb") as file:
                file.write(model.SerializeToString())
            try:
                done = subprocess.run(
                    [random_nodes.PROGRAM, path, folder], text=True,
                    capture_output=True, timeout=60, errors="replace")
                status, said = done.returncode, done.stderr
            except subprocess.TimeoutExpired:
                status, said = None, "took more than 60 s"
            computed += status == 0
            refused += status == 1
            if status not in (0, 1) or (status == 1 and not said.strip()) \
                    or "runtime error" in said or "Sanitizer" in said:
                wrong += 1
                print("model %d of seed %d: status %s: %s\n%s" % (
                    index, seed, status, said[-500:],
                    onnx.printer.to_text(model.graph)[:1000]))
    print("%d computed, %d refused, %d wrong" % (computed, refused, wrong))
    return 1 if wrong or not computed or not refused else 0


if __name__ == "__main__":
    sys.exit(main())
