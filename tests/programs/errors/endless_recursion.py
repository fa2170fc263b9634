# SPDX-License-Identifier: Apache-2.0
def f(x):
    return f(x + 1)


f(0)
