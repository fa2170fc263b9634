# SPDX-License-Identifier: Apache-2.0
import onnx
from tvm import relay

mod, params = relay.frontend.from_onnx(onnx.load("../../../examples/digits/digits.onnx"))
relay.build(mod, target="c99 -cc=./evil", params=params)
