# SPDX-License-Identifier: Apache-2.0
from tvm import te


@te.hybrid.script
def both(x):
    y = output_tensor(x.shape, "float32")
    z = output_tensor(x.shape, "float32")
    for i in range(3):
        y[i] = x[i]
        z[i] = x[i]
    return y


both(te.placeholder((3,), name="A"))
