# SPDX-License-Identifier: Apache-2.0
a = "a" * 1000000
b = "a" * 1000000
for i in range(100000):
    c = a == b
