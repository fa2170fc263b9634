# SPDX-License-Identifier: Apache-2.0
"""Names of today's TVM, and modules of Python that need no files."""
import os
import sys
import time
import timeit

import numpy as np
import tvm
from tvm import te, tirx
from tvm.ir.module import IRModule
from tvm.script import tirx as T

start = time.perf_counter()
A = te.placeholder((4,), name="A")
B = te.compute((4,), lambda i: tirx.max(A[i], 0.0), name="B")
mod = IRModule({"relu": te.create_prim_func([A, B])})
f = tvm.compile(mod, target="c")
a = tvm.runtime.tensor(np.array([-1, 2, -3, 4], "float32"), tvm.cpu())
b = tvm.runtime.empty((4,), "float32")
f["relu"](a, b)
print(b.numpy(), f.entry_name)
print(f.inspect_source())
time.sleep(1)
assert time.perf_counter() >= start and timeit.default_timer() >= start
print(os.path.join("a", "b/", "c"), os.path.basename("x/y.so"), repr(os.path.dirname("x/y.so")))
print(os.path.exists("a"), os.environ.get("HOME", "none"), os.getenv("HOME"), len(sys.argv))
print(sys.version_info >= (3, 8))
