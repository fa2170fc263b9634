# SPDX-License-Identifier: Apache-2.0
import numpy as np
import onnx
from tvm import relay
from tvm.contrib import graph_executor

mod, params = relay.frontend.from_onnx(onnx.load("../../../examples/digits/digits.onnx"))
module = graph_executor.GraphModule(relay.build(mod, "c"))
module.set_input("imge", np.zeros((1, 1, 8, 8)))
