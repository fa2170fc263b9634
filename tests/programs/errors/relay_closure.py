# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = relay.var("x", shape=(4,))
y = relay.var("y", shape=(4,))
adds = relay.Function([x], x + y)
relay.build(tvm.IRModule.from_expr(relay.Function([x, y], adds(x))), "llvm")
