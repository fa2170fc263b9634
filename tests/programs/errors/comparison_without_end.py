# SPDX-License-Identifier: Apache-2.0
a = []
a.append(a)
b = []
b.append(b)
print(a == a, a == b)
