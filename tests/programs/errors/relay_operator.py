# SPDX-License-Identifier: Apache-2.0
from tvm import relay

x = relay.var("x", shape=(1, 3, 8, 8))
y = relay.Call(relay.op.get("nn.rellu"), [x])
relay.build(relay.Function([x], y), "llvm")
