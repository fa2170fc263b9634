# SPDX-License-Identifier: Apache-2.0
"""A list of indices has a text."""
from tvm.script import tir as T


@T.prim_func
def f(A: T.Buffer((8,), "float32")):
    A[*["abc"]] = 1.0
