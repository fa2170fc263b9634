# SPDX-License-Identifier: Apache-2.0
n = 0
while True:
    n = n + 1
