# SPDX-License-Identifier: Apache-2.0
"""The derivative of 20 dimensions by 20 others."""
from tvm import te

A = te.placeholder((2,) * 20, name="A")
B = te.compute((2,) * 20, lambda *i: A(*i) * A(*i), name="B")
te.gradient(B, [A])
