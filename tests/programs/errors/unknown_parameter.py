# SPDX-License-Identifier: Apache-2.0
from tvm import te

A = te.placeholder(shape=(8,), nane="A")
