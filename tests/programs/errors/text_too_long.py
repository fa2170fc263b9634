# SPDX-License-Identifier: Apache-2.0
print("a".join(["b" * 1000] * 2000))
