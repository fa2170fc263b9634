# SPDX-License-Identifier: Apache-2.0
# topi's schedules for a device with threads.
import tvm
from tvm import te, topi

A = te.placeholder((64, 128), name="A")
with tvm.target.cuda():
    C = topi.multiply(A, A)
    s = topi.cuda.schedule_injective(C)
    print(tvm.lower(s, [A, C], simple_mode=True))
    R = topi.sum(A, axis=1)
    s = topi.cuda.schedule_reduce(R)
    print(tvm.lower(s, [A, R], simple_mode=True))
