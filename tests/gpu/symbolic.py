# SPDX-License-Identifier: Apache-2.0
"""A model of symbolic sizes, small ones and ones that no block of threads
divides; what it gives is computed by ONNX's reference."""
import os

import numpy
import onnx
from onnx import numpy_helper, parser
from onnx.reference import ReferenceEvaluator

OPTIONS = ["--dim", "n=1..3", "--dim", "w=1..300"]
SIZES = [(1, 1), (3, 40), (2, 300)]

# What the schedule of each output says of it.
SCHEDULES = {
    "rows": "together", "largest": "together", "sums": "4 elements per thread",
    "product": "element",
}
TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
symbolic (float[n, 3, 7, 7] x, float[n, 5, w] r, float[n, 6, 150] s,
          float[n, 6, 96] t) =>
  (float[n, 5, 7, 7] conv, float[n, 5, 1, 1] pool, float[n, 4] product,
   float[n, 5, w] softmax, float[n, 3, 7, 7] channels, float[n, 5, w] scaled,
   float[n, 5, 5] squares, float[n, 5] mean, float[n, 6, 150] rows,
   float[n, 6] largest, float[n, 6, 96] sums)
<float[5, 3, 3, 3] w1 = {%s}, float[5] b1 = {%s}, float[3, 1, 3, 3] w2 = {%s},
 float[5, 4] w3 = {%s}>
{
  a = Conv <pads = [1, 1, 1, 1]> (x, w1, b1)
  conv = Relu (a)
  pool = GlobalAveragePool (conv)
  flat = Flatten (pool)
  product = MatMul (flat, w3)
  softmax = Softmax <axis = 2> (r)
  channels = Conv <pads = [1, 1, 1, 1], group = 3> (x, w2)
  scaled = Mul (r, softmax)
  turned = Transpose <perm = [0, 2, 1]> (r)
  squares = MatMul (r, turned)
  rows = Softmax <axis = 2> (s)
  largest = ReduceMax <axes = [2], keepdims = 0> (s)
  sums = Add (t, t)
  mean = ReduceMean <axes = [2], keepdims = 0> (r)
}
"""


def write(folder):
    """Paths of the model and of its data, one set for each size."""
    random = numpy.random.default_rng(1)

    def array(*shape):
        return random.standard_normal(shape).astype(numpy.float32)

    model = parser.parse_model(TEXT % tuple(
        ", ".join("%.3f" % value for value in array(count))
        for count in (135, 5, 27, 20)))
    onnx.checker.check_model(model)
    path = os.path.join(folder, "symbolic.onnx")
    onnx.save(model, path)
    reference = ReferenceEvaluator(model)
    made = []
    for n, w in SIZES:
        data = os.path.join(folder, "data_%d_%d" % (n, w))
        os.makedirs(data)
        given = {"x": array(n, 3, 7, 7), "r": array(n, 5, w),
                 "s": array(n, 6, 150), "t": array(n, 6, 96)}
        outputs = zip((o.name for o in model.graph.output),
                      reference.run(None, given))
        for prefix, values in (("input", given.items()),
                               ("output", outputs)):
            for i, (name, value) in enumerate(values):
                onnx.save_tensor(
                    numpy_helper.from_array(value.astype(numpy.float32), name),
                    os.path.join(data, "%s_%d.pb" % (prefix, i)))
        made.append(data)
    return path, made
