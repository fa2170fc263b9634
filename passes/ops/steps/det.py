# SPDX-License-Identifier: Apache-2.0
from elimination import choose_pivot


def det(x, det, lu, size, wide):
    """The product of the pivots; each swap of rows changes its sign."""
    product = T.alloc_local((), wide)
    pivot = T.alloc_local((), size.dtype)
    for i in range(size):
        for j in range(size):
            lu[i, j] = T.Cast(wide, x[i, j])
    product = 1
    for k in range(size):
        choose_pivot(k, size, True)
        product = product * lu[k, k]
        if lu[k, k] != 0:
            for i in range(k + 1, size):
                factor = lu[i, k] / lu[k, k]
                for j in range(k + 1, size):
                    lu[i, j] -= factor * lu[k, j]
    det = T.Cast(det.dtype, product)
