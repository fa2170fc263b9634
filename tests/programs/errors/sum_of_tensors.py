# SPDX-License-Identifier: Apache-2.0
# Each sum is a tensor of its own, which is among the tensors that count.
from tvm import te

A = te.placeholder((16,), name="A")
sum([A] * 1000000, A)
