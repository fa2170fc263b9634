# SPDX-License-Identifier: Apache-2.0
# A newcomer's script: what a model has, its build and runs, a library that is exported.
import numpy as np
import onnx
import tvm
from onnx import TensorProto, numpy_helper
from tvm import relax, relay
from tvm.contrib import graph_executor
from tvm.relax.frontend.onnx import from_onnx

model = onnx.load("../../examples/digits/digits.onnx")
onnx.checker.check_model(model)
print(model.opset_import[0].version, model.graph.name)
for node in model.graph.node:
    print(node.op_type.rjust(8) + "|" + node.name.ljust(2) + "|", node.input, node.output)
inits = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
for init in model.graph.initializer:
    print(init.name, init.dims, init.data_type == onnx.TensorProto.FLOAT,
          inits[init.name].shape, inits[init.name].dtype)
inputs = [i for i in model.graph.input if i.name not in inits]
tensor_type = inputs[0].type.tensor_type
shape = tuple(d.dim_value for d in tensor_type.shape.dim)
assert tensor_type.elem_type == TensorProto.FLOAT
print(inputs[0].name, shape, [o.name for o in model.graph.output])

mod, params = relay.frontend.from_onnx(model, {inputs[0].name: shape})
np.testing.assert_allclose(inits["conv1.weight"], params["conv1.weight"].numpy())
with tvm.transform.PassContext(opt_level=3):
    lib = relay.build(mod, target="llvm", params=params)
lib.export_library("digits.so")
x = np.random.default_rng(0).random(shape).astype("float32")


def run(library):
    module = graph_executor.GraphModule(library["default"](tvm.cpu()))
    module.set_input(inputs[0].name, x)
    module.run()
    return module.get_output(0).numpy()


out = run(lib)
tvm.testing.assert_allclose(run(tvm.runtime.load_module("digits.so")), out)

mod, params = relax.frontend.detach_params(from_onnx(model, keep_params_in_input=True))
machine = relax.VirtualMachine(tvm.compile(mod, tvm.target.Target("llvm")), tvm.cpu())
tvm.testing.assert_allclose(
    machine["main"](tvm.runtime.tensor(x), *params["main"]).numpy(), out)
