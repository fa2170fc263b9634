#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnx_nodes.py FOLDER: writes ONNX's own node tests, which the onnx package
brings as Python, to FOLDER/NAME/{model.onnx,tolerance,options,test_data_set_*},
the form that `tirc test` reads. A sequence is a file for each element; options,
a word to a line, tell tirc how many there are and of which shapes. Inputs that
decide the size of a result (KNOWN) become constants of the model: a compiler
needs them when it generates.
Needs onnx and numpy."""
import os
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator


# By operator: the inputs that must be constants.
KNOWN = {
    "AffineGrid": [1], "BlackmanWindow": [0], "CenterCropPad": [1],
    "Col2Im": [1, 2], "ConstantOfShape": [0], "CumProd": [1], "CumSum": [1],
    "DFT": [1, 2], "Expand": [1], "HammingWindow": [0], "HannWindow": [0],
    "Loop": [0, 1], "MaxUnpool": [2], "MelWeightMatrix": [0, 1, 2, 3, 4],
    "OneHot": [1],
    "Pad": [1, 3], "Range": [0, 1, 2], "ReduceL1": [1], "ReduceL2": [1],
    "ReduceLogSum": [1], "ReduceLogSumExp": [1],
    "ReduceMax": [1], "ReduceMean": [1], "ReduceMin": [1], "ReduceProd": [1],
    "ReduceSum": [1], "ReduceSumSquare": [1], "Reshape": [1],
    "Resize": [1, 2, 3], "STFT": [1, 3], "Slice": [1, 2, 3, 4], "Split": [1],
    "SequenceInsert": [2], "SplitToSequence": [1], "Squeeze": [1],
    "Tile": [1], "TopK": [1], "Unsqueeze": [1],
    "Upsample": [1],
}

# By test: a condition that decides how long a sequence is.
KNOWN_OF = {"test_if_opt": ["cond"]}

# Operators whose expected results are computed here in float64: ONNX's own, in
# float32, are off by more than the tolerance where they are near 0.
WIDE = {"DFT", "STFT"}

# Operators of whose results a test says no more than type and shape;
# tests/exec/numbers/random_numbers.py has the rest.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike",
          "RandomUniform", "RandomUniformLike"}


def is_random(model):
    return bool(RANDOM & {node.op_type for node in model.graph.node})


def collect():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        try:
            return collect_testcases(None)
        except TypeError:
            return collect_testcases()


def cases():
    found = collect()
    for case in found:
        if {node.op_type for node in case.model.graph.node} <= WIDE:
            case.data_sets[:] = [
                (inputs, wide_outputs(case.model, inputs))
                for inputs, _ in case.data_sets]
    return found


def wide_outputs(model, inputs):
    """The results of a test of one node, computed in float64."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for info in list(wide.graph.input) + list(wide.graph.output):
        kind = info.type.tensor_type
        if kind.elem_type == onnx.TensorProto.FLOAT:
            kind.elem_type = onnx.TensorProto.DOUBLE
    given = {info.name: value.astype(np.float64)
             if value.dtype == np.float32 else value
             for info, value in zip(wide.graph.input, inputs)}
    return [value.astype(np.float32)
            for value in ReferenceEvaluator(wide).run(None, given)]


def elements(infos, values):
    """Each tensor; of a sequence, each element."""
    for info, value in zip(infos, values):
        if info.type.HasField("tensor_type") or not isinstance(value, list):
            yield info, value
        else:
            yield from ((info, one) for one in value)


def shape_of(value):
    return list(value.dims) if isinstance(value, onnx.TensorProto) \
        else list(np.shape(value))


def options(infos, values):
    """What tirc needs to know of sequences and of optionals."""
    words = []
    any_list = any(isinstance(value, list) for value in values)
    for info, value in zip(infos, values):
        if any_list and any(
                dim.dim_param for dim in info.type.tensor_type.shape.dim):
            words += ["--input-shape", "%s:%s" % (
                info.name, ",".join(map(str, shape_of(value))))]
        if value is None:
            words += ["--sequence", info.name + "=none"]
        elif isinstance(value, list):
            words += ["--sequence", "%s=%d" % (info.name, len(value))]
            for k, one in enumerate(value):
                if shape_of(one):
                    words += ["--input-shape", "%s_%d:%s" % (
                        info.name, k, ",".join(map(str, shape_of(one))))]
    return words


def write_tensors(folder, prefix, infos, values):
    present = [pair for pair in elements(infos, values) if pair[1] is not None]
    for index, (info, value) in enumerate(present):
        tensor = value if isinstance(value, onnx.TensorProto) \
            else numpy_helper.from_array(value, info.name)
        path = os.path.join(folder, "%s_%d.pb" % (prefix, index))
        with open(path, "wb") as file:
            file.write(tensor.SerializeToString())


def known_inputs(case):
    return set(KNOWN_OF.get(case.name, [])) | {
        node.input[i] for node in case.model.graph.node
        for i in KNOWN.get(node.op_type, []) if i < len(node.input)}


def make_constants(case, known):
    """Moves the known inputs of a test with one data set into the model;
    gives the inputs that are left of it."""
    graph = case.model.graph
    if len(case.data_sets) != 1 or not known:
        return case.data_sets
    inputs, outputs = case.data_sets[0]
    left = []
    for info, value in zip(list(graph.input), inputs):
        if info.name not in known:
            left.append(value)
            continue
        graph.input.remove(info)
        graph.initializer.append(
            value if isinstance(value, onnx.TensorProto)
            else numpy_helper.from_array(value, info.name))
        graph.initializer[-1].name = info.name
    return [(left, outputs)]


def write_case(folder, case, known):
    os.makedirs(folder, exist_ok=True)
    data_sets = make_constants(case, known)
    with open(os.path.join(folder, "model.onnx"), "wb") as file:
        file.write(case.model.SerializeToString())
    with open(os.path.join(folder, "tolerance"), "w") as file:
        file.write("%r %r\n" % (case.rtol, case.atol))
    graph = case.model.graph
    words = options(graph.input, data_sets[0][0]) if data_sets else []
    with open(os.path.join(folder, "options"), "w", encoding="utf-8") as file:
        file.writelines(word + "\n" for word in words)
    for index, (inputs, outputs) in enumerate(data_sets):
        data = os.path.join(folder, "test_data_set_%d" % index)
        os.makedirs(data, exist_ok=True)
        write_tensors(data, "input", graph.input, inputs)
        write_tensors(data, "output", graph.output, outputs)


def write_all(top):
    known = {}
    for case in cases():
        known[case.name] = known_inputs(case)
        # the operator as the nodes of its function
        if "_expanded" in case.name:
            known[case.name] |= known[case.name.split("_expanded")[0]]
        write_case(os.path.join(top, case.name), case, known[case.name])


if __name__ == "__main__":
    write_all(sys.argv[1])
