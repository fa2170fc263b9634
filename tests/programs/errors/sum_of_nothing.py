# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

k = te.reduce_axis((0, 8), name="k")
te.compute((4,), lambda i: te.sum(tvm.tir.call_extern("void", "f", i, k), axis=k))
