# SPDX-License-Identifier: Apache-2.0
"""Elimination with partial pivoting (Golub and Van Loan, "Matrix Computations", 3.4),
in the rows of lu."""


def choose_pivot(k, columns, is_det):
    """Swaps row k with the row from k on that has the largest element in column k."""
    pivot = k
    for i in range(k + 1, size):
        best = pivot
        if T.abs(lu[best, k]) < T.abs(lu[i, k]):
            pivot = i
    row = pivot
    if row != k:
        for j in range(columns):
            upper = lu[k, j]
            lu[k, j] = lu[row, j]
            lu[row, j] = upper
        if is_det:
            product = -product
