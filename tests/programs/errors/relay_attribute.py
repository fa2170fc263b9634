# SPDX-License-Identifier: Apache-2.0
from tvm import relay

x = relay.var("x", shape=(1, 3, 8, 8))
y = relay.nn.max_pool2d(x, pool_size=(2, 2), stride=(2, 2))
