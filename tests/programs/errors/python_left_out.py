# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder((8,), name="A")
print(id(A))
