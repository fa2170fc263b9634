# SPDX-License-Identifier: Apache-2.0
from tvm.transform import Sequential

s = Sequential([])
for i in range(100):
    s = Sequential([s, s])
