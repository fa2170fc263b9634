# SPDX-License-Identifier: Apache-2.0
# Two lists of 2^40 elements, most of them shared.
a = []
b = []
for i in range(40):
    a = [a, a]
    b = [b, b]
print(a is a, a == a, a in [b, a])
