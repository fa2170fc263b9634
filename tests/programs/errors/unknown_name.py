# SPDX-License-Identifier: Apache-2.0
import tvm
from tvm import te

A = te.placehoder((8,), name="A")
