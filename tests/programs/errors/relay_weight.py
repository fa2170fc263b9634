# SPDX-License-Identifier: Apache-2.0
from tvm import relay

x = relay.var("x", shape=(1, 3, 8, 8))
y = relay.nn.conv2d(x, relay.var("w"), padding=1)
relay.testing.run_infer_type(y)
