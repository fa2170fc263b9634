# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = relay.var("x", shape=(4,))
mod = tvm.IRModule.from_expr(relay.Function([], x + x))
