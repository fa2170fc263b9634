# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = relay.var("x")
relay.build(tvm.IRModule.from_expr(relay.exp(x) + x), "llvm")
