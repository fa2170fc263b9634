#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results over inputs that die: not where the kernel reads the same bytes once
more, through a view that it walks in another order, or in a whole of which they
are a part."""
import os
import sys

import helper

try:
    import numpy as np
    import onnx
    from onnx import parser
    from onnx.reference import ReferenceEvaluator
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
again (float[4, 4] x) => (float[4, 4] y, float[4, 4] z, float[4, 4] u)
<int64[1] s = {16}, int64[1] s2 = {32}, int64[4, 4] back = {%s}>
{
  a = Softmax <axis = 1> (x)
  view = Reshape (a, s)
  moved = Gather (view, back)
  both = Add (moved, a)
  y = Softmax <axis = 1> (both)

  b = Softmax <axis = 0> (x)
  c = Softmax <axis = 0> (both)
  whole = Concat <axis = 0> (b, c)
  wide = Reshape (whole, s2)
  turned = Gather (wide, back)
  part = Add (turned, b)
  z = Softmax <axis = 1> (part)

  d = Softmax <axis = 0> (z)
  e = Exp (c)
  f = Add (d, e)
  u = Softmax <axis = 1> (f)
}
"""

# Of a device each thread reads its own elements of b, and others' of a.
SUM = """
<ir_version: 8, opset_import: ["" : 17]>
sum (float[32, 32] x) => (float[32, 32] y)
{
  a = Relu (x)
  b = Softmax <axis = 1> (a)
  c = MatMul (a, a)
  d = Add (b, c)
  y = Softmax <axis = 1> (d)
}
"""


def main():
    folder = helper.work_folder()
    path = os.path.join(folder, "again.onnx")
    text = MODEL % ", ".join(str(i) for i in range(15, -1, -1))
    model = parser.parse_model(text)
    onnx.save(model, path)
    x = np.random.default_rng(3).standard_normal((4, 4)).astype(np.float32)
    write_data(folder, [x], ReferenceEvaluator(model).run(None, {"x": x}))
    helper.tirc("test", path, "--rtol", "1e-4", "--atol", "1e-5")
    out = helper.compile_model(path)
    with open(os.path.join(out, "again.c"), encoding="utf-8") as file:
        if ", in place" not in file.read():
            helper.fail("nothing is in place")


    path = os.path.join(folder, "sum.onnx")
    onnx.save(parser.parse_model(SUM), path)
    for target in filter(helper.has_dialect, ("opencl", "cuda")):
        said = helper.tirc("inspect", path, "--target", target).stdout
        if "workspace  8.19 kB planned" not in said:
            helper.fail("%s: the sum is not in place:\n%s" % (target, said))


if __name__ == "__main__":
    sys.exit(main())
