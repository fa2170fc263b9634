# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = relay.var("x", shape=(2, 3))
mod = tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(x)))
mod._model = 5
relay.transform.FoldConstant()(mod)
