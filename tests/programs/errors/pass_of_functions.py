# SPDX-License-Identifier: Apache-2.0
import onnx
from tvm import relay

mod, params = relay.frontend.from_onnx(onnx.load("../../../examples/digits/digits.onnx"))


@relay.transform.function_pass(opt_level=1)
def nothing(func, mod, ctx):
    return None


nothing(mod)
