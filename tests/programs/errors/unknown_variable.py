# SPDX-License-Identifier: Apache-2.0
size = 8
print(sise)
