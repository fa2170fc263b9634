# SPDX-License-Identifier: Apache-2.0
x = (1,
y = 2
