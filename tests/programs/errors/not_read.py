# SPDX-License-Identifier: Apache-2.0
from tvm import te


class Point(te.placeholder((8,), name="A")):
    x = 1
