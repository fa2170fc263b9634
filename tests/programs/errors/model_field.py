# SPDX-License-Identifier: Apache-2.0
import onnx

model = onnx.load("../../../examples/digits/digits.onnx")
print(model.graph.node[0].dims)
