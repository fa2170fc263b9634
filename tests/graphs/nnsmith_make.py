#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes models with nnsmith (Liu et al., NNSmith: Generating Diverse and Valid
Test Cases for Deep Learning Compilers, 2023) for nnsmith_graphs.py, in a Python
that has nnsmith and PyTorch. For each line that it reads, a seed, it writes a
line: the model and the archive of its inputs in base64, or an error."""
import base64
import io
import os
import random
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
MOST_NODES, MOST_ELEMENTS, MOST_SECONDS = 12, 4096, 10


def prepare():
    """nnsmith's operators with the types that PyTorch's exporter takes."""
    import torch
    # nnsmith 0.1 knows the exporter that traces alone.
    whole = torch.onnx.export
    torch.onnx.export = lambda *args, **more: whole(
        *args, **{**more, "dynamo": False})
    torch.set_num_threads(1)
    from nnsmith.abstract.extension import activate_ext
    from nnsmith.materialize import Model
    from nnsmith.narrow_spec import auto_opset
    kind = Model.init("onnx", backend_target="cpu")
    kind.add_seed_setter()
    operators = auto_opset(kind)
    activate_ext(opset=operators)
    return kind, operators


def make(kind, operators, seed):
    """The bytes of the model of a seed, and of an archive of its inputs."""
    from nnsmith.graph_gen import model_gen
    graph = model_gen(
        opset=operators, method="symbolic-cinit", seed=seed,
        max_elem_per_tensor=MOST_ELEMENTS,
        max_nodes=random.Random(seed).randint(2, MOST_NODES),
        timeout_ms=1000 * MOST_SECONDS).make_concrete()
    model = kind.from_gir(graph)
    model.refine_weights()  # looks for inputs and weights that give no NaN
    archive = io.BytesIO()
    np.savez(archive, **model.make_oracle().input)
    return model.native_model.SerializeToString(), archive.getvalue()


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # nnsmith, z3 and PyTorch print
    kind, operators = prepare()
    print("ready", file=answers)
    for line in sys.stdin:
        try:
            print(*(base64.b64encode(part).decode() for part in make(
                kind, operators, int(line))), file=answers)
        except Exception as error:
            print("error:", repr(error).replace("\n", " "), file=answers)


main()
