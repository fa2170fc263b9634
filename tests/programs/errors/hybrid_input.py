# SPDX-License-Identifier: Apache-2.0
from tvm import te


@te.hybrid.script
def clear(x):
    y = output_tensor(x.shape, "float32")
    for i in range(8):
        y[i] = x[i]
        x[i] = 0.0
    return y


clear(te.placeholder((8,), name="A"))
