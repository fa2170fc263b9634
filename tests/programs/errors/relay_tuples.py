# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = y = relay.var("x", shape=(4,))
for i in range(80):
    y = relay.Tuple([y, y])
relay.build(tvm.IRModule.from_expr(y), "llvm")
