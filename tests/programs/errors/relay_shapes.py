# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = relay.var("x", shape=(1, 3, 8, 8))
w = relay.var("w", shape=(4, 2, 3, 3))
y = relay.nn.conv2d(relay.nn.relu(x), w, padding=(1, 1))
mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(y)))
relay.transform.InferType()(mod)
