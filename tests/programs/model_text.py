# SPDX-License-Identifier: Apache-2.0
"""The text of Relay: read, printed, built with parameters; what was printed is read
again, and computes the same."""
import numpy as np
import onnx
import tvm
from tvm import relay
from tvm.contrib import graph_executor

text = '''#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %dense.weight: Tensor[(4, 3), float32],
          %bias: Tensor[(4), float32]) {
  %0 = nn.dense(%x, %dense.weight, units=4);
  %1 = nn.bias_add(%0, %bias);
  %2 = split(nn.relu(%1), indices_or_sections=2, axis=1);
  (%2.1, %2.0)
}
'''
mod = tvm.parser.parse(text)
print(mod)
x = np.arange(6, dtype="float32").reshape(2, 3)
w = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
b = np.array([0.5, -0.5, 0.25, 0], dtype="float32")


def run(module, params, **inputs):
    lib = relay.build(module, target="llvm", params=params)
    g = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    g.set_input(**inputs)
    g.run()
    return [g.get_output(i).numpy() for i in range(g.get_num_outputs())]


right, left = run(mod, {"dense.weight": w, "bias": tvm.nd.array(b), "other": b}, x=x)
want = np.maximum(x.dot(w.transpose()) + b, 0)
np.testing.assert_allclose(left, want[:, :2], rtol=1e-6)
np.testing.assert_allclose(right, want[:, 2:], rtol=1e-6)
# Without params all are inputs.
again = run(relay.fromtext(mod.astext()), None, **{"x": x, "dense.weight": w, "bias": b})
np.testing.assert_allclose(again[0], right)

mod, params = relay.frontend.from_onnx(
    onnx.load("../../examples/digits/digits.onnx"), {"image": (1, 1, 8, 8)})
image = (np.arange(64, dtype="float32") % 17 / 16).reshape(1, 1, 8, 8)
one = run(mod, params, image=image)
two = run(relay.parse(mod.astext()), params, image=image)
print(one[0].shape, (one[0] == two[0]).all())
mod["main"] = relay.build_module.bind_params_by_name(mod["main"], params)
three = run(mod, None, image=image)
print((one[0] == three[0]).all())
