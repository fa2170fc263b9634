# SPDX-License-Identifier: Apache-2.0
"""A model in the words of Relay, Relax and NNVM: its text, passes over it, its parts for
a backend, its source."""
import onnx
import tvm
from tvm import relay
import nnvm.compiler
import nnvm.frontend
from tvm.relax.frontend.onnx import from_onnx

model = onnx.load("../../examples/digits/digits.onnx")
mod, params = relay.frontend.from_onnx(model, {"image": (1, 1, 8, 8)})
print(mod)
print(sorted(params.keys()))
print([(params[name].shape, params[name].dtype) for name in sorted(params)][0])
print(type(mod), mod.get_global_vars())
print(mod["main"].astext() == str(mod["main"]), len(mod["main"].attrs))

# Passes make new modules.
seq = tvm.transform.Sequential([
    relay.transform.InferType(),
    relay.transform.SimplifyInference(),
    relay.transform.FoldConstant(),
    relay.transform.FoldScaleAxis(),
    relay.transform.AnnotateTarget(["dnnl"]),
    relay.transform.MergeCompilerRegions(),
    relay.transform.PartitionGraph(),
])
with tvm.transform.PassContext(opt_level=3, disabled_pass=["FoldScaleAxis"]):
    parts = seq(mod)
print(parts)
print(len(mod.functions), len(parts.functions))


@relay.transform.function_pass(opt_level=1)
def regions(func, mod, ctx):
    if func.attrs and "Compiler" in func.attrs:
        print(func.attrs["Compiler"], func.attrs["global_symbol"])
    return func


@tvm.transform.module_pass(opt_level=4)
def names(mod, ctx):
    print(mod.get_global_vars())
    return mod


regions(parts)
# at level 2, the usual one, a pass of level 4 does not run
tvm.transform.Sequential([regions, names])(mod)
with tvm.transform.PassContext(opt_level=4):
    tvm.transform.Sequential([regions, names])(parts)

# Source, and the graph as data.
graph, lib, weights = relay.build(mod, target="llvm", params=params)
print(graph.split("\n")[1], sorted(weights)[0])
print("digits_conv" in lib.get_source())
with tvm.transform.PassContext(opt_level=3):
    factory = relay.build(mod, "c", executor="aot", params=params)
print("digits_run" in factory.get_lib().get_source())
sym, params = nnvm.frontend.from_onnx(model)
graph, lib, params = nnvm.compiler.build(sym, "llvm", {"image": (1, 1, 8, 8)}, params=params)
print(graph.json().split("\n")[1])

print(from_onnx(model))
