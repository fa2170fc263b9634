# SPDX-License-Identifier: Apache-2.0
"""A model that a program runs: by the graph executor, in its old and new spelling, and by
tvmc."""
import numpy as np
import onnx
import tvm
from tvm import relay
from tvm.contrib import graph_executor, graph_runtime
from tvm.driver import tvmc

path = "../../examples/digits/digits.onnx"
mod, params = relay.frontend.from_onnx(onnx.load(path), {"image": (1, 1, 8, 8)})
weights = params["conv1.weight"].numpy()
print(weights.shape, weights.dtype, weights[0, 0, 0])

lib = relay.build(mod, target="llvm", params=params)
image = (np.arange(64, dtype="float32") % 17 / 16).reshape(1, 1, 8, 8)
module = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
module.set_input("image", image)
module.set_input(**params)
module.run()
first = module.get_output(0).numpy()
print(module.get_num_inputs(), module.get_num_outputs(), first.shape)
print(np.round(first, 3), np.round(first.sum(), 4))

# Times, by the executor and by its module.
target = tvm.target.Target("llvm -mcpu=core-avx2")
dev = tvm.device(target.kind.name, 0)
print(target.kind, dev, 0 < module.benchmark(dev, repeat=2, number=3).mean < 60)
timer = module.module.time_evaluator("run", dev, number=2, repeat=1)
print(0 < np.mean(timer().results) < 60)

graph, library, weights = lib
print(weights["conv1_bias"].shape, weights["conv1_bias"].dtype)
old = graph_runtime.create(graph, library, tvm.cpu(0))
old.run(image=tvm.nd.array(image))
np.testing.assert_allclose(old.get_output(0).asnumpy(), first)
print((old.get_input(0).numpy() == image).all())

model = tvmc.load(path, shape_dict={"image": [1, 1, 8, 8]})
records = tvmc.tune(model, target="llvm", trials=64, tuning_records="records.json")
package = tvmc.compile(model, target="llvm", tuning_records=records)
result = tvmc.run(package, device="cpu", inputs={"image": image})
print(result)
np.testing.assert_allclose(result.get_output("output_0"), first)
print(tvmc.run(package, device="cpu").outputs["output_0"].shape)

# Relax's virtual machine.
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

newest = relax.get_pipeline("zero")(from_onnx(onnx.load(path)))
machine = relax.VirtualMachine(relax.build(newest, target="llvm"), tvm.cpu())
np.testing.assert_allclose(machine["main"](tvm.nd.array(image)).numpy(), first)

# Executors, and an array for an output.
taken = tvm.nd.array(np.zeros_like(first))
print(module.get_output(0, taken).shape, (taken.numpy() == first).all())
evaluate = relay.create_executor("graph", mod, tvm.cpu(0), "llvm", params).evaluate()
np.testing.assert_allclose(evaluate(tvm.nd.array(image)).numpy(), first)
evaluate = relay.build_module.create_executor("vm", mod, tvm.cpu(0), "llvm", params).evaluate()
np.testing.assert_allclose(evaluate(image=image).numpy(), first)
