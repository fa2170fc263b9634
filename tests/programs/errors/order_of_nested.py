# SPDX-License-Identifier: Apache-2.0
a = []
b = []
for i in range(40):
    a = [a, a]
    b = [b, b]
print(a < a, sorted([a, b]))
