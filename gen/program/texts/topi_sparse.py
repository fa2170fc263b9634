# SPDX-License-Identifier: Apache-2.0
"""topi.sparse: sparse matrices in the format CSR: elements, their columns, and
the position at which each row begins."""
from tvm import te, topi


def _plus(made, bias, along):
    if bias is None:
        return made
    return te.compute(made.shape, lambda i, j: made(i, j) +
                      bias(i if along == 0 else j), name="T_add",
                      tag="broadcast")


def csrmv_default(data, indices, indptr, weight, bias=None):
    """The product of a sparse matrix and a matrix with one column."""
    return csrmm_default(data, indices, indptr, weight, bias)


def csrmm_default(data, indices, indptr, weight, bias=None):
    rows = indptr.shape[0] - 1

    def element(ib, p, y, row, k):
        with ib.for_range(0, weight.shape[1], "n") as n:
            y[row, n] = y[row, n] + p[0][k] * p[3][p[1][k], n]
    made = topi.nn._rows("csrmm", (rows, weight.shape[1]), data.dtype,
                         [data, indices, indptr, weight], 2, element, rows)
    return _plus(made, bias, 0)


def dense_si(data, indices, indptr, weight, bias=None):
    """A dense layer with a sparse input and weights as in topi.nn.dense."""
    return _plus(topi.nn.sparse_dense_sp_lhs(data, indices, indptr, weight),
                 bias, 1)


def dense_sw(data, w_data, w_indices, w_indptr, bias=None):
    """A dense layer with sparse weights."""
    return _plus(topi.nn.sparse_dense_sp_rhs(data, w_data, w_indices,
                                             w_indptr), bias, 1)
