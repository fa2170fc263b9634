# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = relay.var("x", shape=(4,))
main = relay.GlobalVar("main")
mod = tvm.IRModule.from_expr(relay.Function([x], main(x)))
relay.build(mod, "llvm")
