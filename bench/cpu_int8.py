# SPDX-License-Identifier: Apache-2.0
"""Models of 8 bits for bench/cpu.py --int8: the large ones are made of the
table's by onnxruntime's own quantizer (QDQ), calibrated with random input, by
tensor and by channel; the small ones are quantized as they come."""
import hashlib
import os

import numpy as np
import onnx
from onnx import version_converter

QUANTIZED = ["resnet50", "inception_v2"]
TINY = ["resnet8", "kws", "vww", "ad01"]
OPSET = 13  # the first with scales by channel


class Random:
    """A few random inputs, as the quantizer reads them."""

    def __init__(self, path):
        graph = onnx.load(path).graph
        constants = {t.name for t in graph.initializer}
        random = np.random.default_rng(1)
        self.rows = iter([{
            v.name: random.random([d.dim_value or 1 for d in
                                   v.type.tensor_type.shape.dim], np.float32)
            for v in graph.input if v.name not in constants}
            for _ in range(3)])

    def get_next(self):
        return next(self.rows, None)


def quantize(source, folder, by_channel):
    """The model in 8 bits, made once for each form of source and script. What
    the quantizer is told to do first (quant_pre_process) folds normalisation
    into convolutions."""
    from onnxruntime import quantization
    from onnxruntime.quantization import shape_inference

    digest = hashlib.sha256()
    for path in source, __file__:
        with open(path, "rb") as file:
            digest.update(file.read())
    stem = os.path.basename(source).split("-")[0].split(".")[0]
    made = os.path.join(folder, "%s-int8-%s-%s.onnx" % (
        stem, "channel" if by_channel else "tensor", digest.hexdigest()[:16]))
    if os.path.exists(made):
        return made
    plain, folded, part = (made + end for end in (".13", ".pre", ".part"))
    onnx.save(version_converter.convert_version(onnx.load(source), OPSET),
              plain)
    shape_inference.quant_pre_process(plain, folded, skip_symbolic_shape=True)
    quantization.quantize_static(
        folded, part, Random(folded), per_channel=by_channel,
        quant_format=quantization.QuantFormat.QDQ,
        activation_type=quantization.QuantType.QUInt8,
        weight_type=quantization.QuantType.QInt8)
    os.remove(plain)
    os.remove(folded)
    os.rename(part, made)
    return made


def rows(top, find_float, folder):
    """Name, what gives the file in 8 bits, the name of the fp32 model, of which
    find_float gives the file."""
    for name in QUANTIZED:
        for by_channel in False, True:
            yield ("%s by %s" % (name, "channel" if by_channel else "tensor"),
                   lambda n=name, c=by_channel: quantize(
                       find_float(n), folder, c), name)
    for name in TINY:
        path = os.path.join(top, "mlperf_tiny", name + "_int8", "model.onnx")
        yield name, lambda p=path: p, name
