# SPDX-License-Identifier: Apache-2.0
from elimination import choose_pivot


def inverse(x, inverse, lu, size, wide):
    """The columns of the unit matrix are put after those of the matrix, and become the
    inverse."""
    pivot = T.alloc_local((), size.dtype)
    columns = T.meta_var(size * 2)
    for i in range(size):
        for j in range(columns):
            lu[i, j] = T.Select(
                j < size, T.Cast(wide, x[i, j]),
                T.Select(i + size == j, T.Cast(wide, 1), T.Cast(wide, 0)))
    for k in range(size):
        choose_pivot(k, columns, False)
        first = lu[k, k]
        for j in range(columns):
            lu[k, j] = lu[k, j] / first
        for i in range(size):
            if i != k:
                factor = lu[i, k]
                for j in range(columns):
                    lu[i, j] -= factor * lu[k, j]
    for i in range(size):
        for j in range(size):
            inverse[i, j] = T.Cast(x.dtype, lu[i, j + size])
