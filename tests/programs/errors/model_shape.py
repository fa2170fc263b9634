# SPDX-License-Identifier: Apache-2.0
import onnx
from tvm import relay

model = onnx.load("../../../examples/digits/digits.onnx")
mod, params = relay.frontend.from_onnx(model, {"picture": (1, 1, 8, 8)})
