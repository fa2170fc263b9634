# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import relay

x = relay.var("x")
x._at = "here"
relay.transform.InferType()(
    tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(x))))
