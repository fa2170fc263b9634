# SPDX-License-Identifier: Apache-2.0
import torch
from tvm import te

x = torch.zeros(3)
A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1, name="B")
s = te.create_schedule(B.op)
s[B].vectorise(B.op.axis[0])
