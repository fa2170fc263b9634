# SPDX-License-Identifier: Apache-2.0
# Each comparison walks all elements, which count as steps.
a = [0] * 1000000
b = [0] * 1000000
for i in range(1000):
    c = a == b
