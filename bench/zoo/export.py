# SPDX-License-Identifier: Apache-2.0
"""Makes models of the zoo: reads lines "NAME FORM FOLDER" from standard input,
writes FOLDER/model.onnx, and FOLDER/inputs.npz with the inputs by name, and
answers "ok" or the reason why the exporter could not. Runs with the Python of
the zoo's own virtual environment. `export.py --list` prints the names, families
and forms."""
import contextlib
import io
import os
import sys
import warnings

import numpy as np
import onnx
import onnxruntime

import registry
import vision  # noqa: F401
import text  # noqa: F401
import nets  # noqa: F401
import trees  # noqa: F401
import variants  # noqa: F401

import torch

OPSET = 18


def enliven(module, inputs):
    """Random numbers for parameters that are the same everywhere, and
    statistics of BatchNormalization from the inputs: without them parts of a
    model give zeros."""
    torch.manual_seed(0)
    with torch.no_grad():
        for p in module.parameters():
            if p.numel() > 1 and p.is_floating_point() and \
                    p.min() == p.max():
                p.add_(0.2 * torch.randn_like(p))
        norms = [m for m in module.modules()
                 if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
        if norms:
            module.eval()
            for m in norms:
                m.train()
                m.momentum = 1.0
            with contextlib.suppress(ValueError):
                module(*inputs)
            for m in norms:
                if m.running_var is not None:
                    m.running_var.add_(0.1)
    return module.eval()


def torch_model(name):
    torch.manual_seed(0)
    module, inputs = registry.MODELS[name][2]()
    return enliven(module, inputs), inputs


def flat(inputs):
    return [t for one in inputs
            for t in (one if isinstance(one, (list, tuple)) else [one])]


def save_inputs(path, arrays, folder):
    """The inputs under the names that the model has for them; inputs that the
    exporter found without use are left out by it."""
    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name for t in graph.initializer}
    names = [i.name for i in graph.input if i.name not in constants]
    if len(names) != len(arrays):
        raise ValueError("the model has %d inputs of %d" % (
            len(names), len(arrays)))
    np.savez(os.path.join(folder, "inputs.npz"), **dict(zip(names, arrays)))


def export_torch(name, form, folder):
    module, inputs = torch_model(name)
    path = os.path.join(folder, "model.onnx")
    if form in ("float16", "bfloat16"):
        to = getattr(torch, form)
        module = module.to(to)
        inputs = tuple(t.to(to) if t.is_floating_point() else t
                       for t in inputs)
    # do_constant_folding stays as exporters have it.
    torch.onnx.export(module, inputs, path, dynamo=form == "dynamo",
                      opset_version=OPSET, external_data=False)
    arrays = []
    for t in flat(inputs):
        if t.dtype == torch.bfloat16:
            raise ValueError("numpy has no bfloat16 inputs")
        arrays.append(t.numpy())
    save_inputs(path, arrays, folder)


def export_sklearn(name, form, folder):
    from skl2onnx import to_onnx
    fitted, x = registry.MODELS[name][2]()
    options = None
    # Classes and their scores as tensors, not as a sequence of maps.
    if hasattr(fitted, "classes_"):
        options = {id(fitted.steps[-1][1]): {"zipmap": False}}
    made = to_onnx(fitted, x[:1], options=options,
                   target_opset={"": OPSET, "ai.onnx.ml": 3})
    path = os.path.join(folder, "model.onnx")
    onnx.save(made, path)
    save_inputs(path, [x], folder)


class Reader:
    def __init__(self, arrays, rounds=3):
        self.left = [arrays] * rounds

    def get_next(self):
        return self.left.pop() if self.left else None


def export_quantized(name, form, folder):
    from onnxruntime import quantization as q
    source = registry.MODELS[name][2]()
    export_torch(source, "torchscript", folder)
    path = os.path.join(folder, "model.onnx")
    wide = os.path.join(folder, "wide.onnx")
    os.rename(path, wide)
    if form == "dynamic":
        q.quantize_dynamic(wide, path)
    else:
        with np.load(os.path.join(folder, "inputs.npz")) as given:
            arrays = dict(given)
        q.quantize_static(
            wide, path, Reader(arrays), quant_format=q.QuantFormat.QDQ
            if form == "qdq" else q.QuantFormat.QOperator)
    os.remove(wide)


def export_optimized(name, form, folder):
    source = registry.MODELS[name][2]()
    export_torch(source, "torchscript", folder)
    path = os.path.join(folder, "model.onnx")
    plain = os.path.join(folder, "plain.onnx")
    os.rename(path, plain)
    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = path
    options.graph_optimization_level = levels.ORT_ENABLE_BASIC \
        if form == "ort_basic" else levels.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(plain, options,
                                 providers=["CPUExecutionProvider"])
    os.remove(plain)


HOW = {"torchscript": export_torch, "dynamo": export_torch,
       "float16": export_torch, "bfloat16": export_torch,
       "skl2onnx": export_sklearn, "qdq": export_quantized,
       "qoperator": export_quantized, "dynamic": export_quantized,
       "ort_basic": export_optimized, "ort_extended": export_optimized}


def main():
    if sys.argv[1:] == ["--list"]:
        for name, (family, forms, _) in registry.MODELS.items():
            print(name, ",".join(forms), family)
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    # What exporters print goes elsewhere, that of their C++ parts too.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        name, form, folder = line.split(None, 2)
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), \
                    contextlib.redirect_stderr(said):
                HOW[form](name, form, folder.strip())
            answer = "ok"
        except Exception as error:  # whatever an exporter may raise
            text_ = " ".join(str(error).split())
            answer = "%s: %s" % (type(error).__name__, text_[:200])
        print(answer, file=answers, flush=True)


main()
