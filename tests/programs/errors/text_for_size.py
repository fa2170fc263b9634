# SPDX-License-Identifier: Apache-2.0
"""A text in place of a size."""
from tvm import te, tir

n = te.var("n")
tir.stmt_functor.substitute(n + 1, {n: "abc"})
