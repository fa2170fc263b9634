# SPDX-License-Identifier: Apache-2.0
"""The probabilities p of classes that minimise p^T Q p, by the iteration of T.-F. Wu,
C.-J. Lin and R. C. Weng, Probability Estimates for Multi-class Classification by
Pairwise Coupling, 2004 (their second method, as in libsvm)."""


def coupling(q, p, classes, even, limit):
    """even: the probability if all are equal; limit: the error that ends it"""
    moved = T.alloc_local((classes,), p.dtype)
    length = T.alloc_local((), p.dtype)
    left = T.alloc_local((), "uint32")
    error = T.alloc_local((), p.dtype)

    def multiply():
        """moved = Q p, length = p^T moved, error = max |moved - length|"""
        length = 0
        for i in range(classes):
            moved[i] = 0
            for j in range(classes):
                moved[i] += q[i, j] * p[j]
            length += p[i] * moved[i]
        error = 0
        for i in range(classes):
            error = T.max(error, T.abs(moved[i] - length))

    def improve(t):
        d = (length - moved[t]) / q[t, t]
        scale = 1 + d
        p[t] += d
        length = (length + d * (d * q[t, t] + 2 * moved[t])) / scale / scale
        for j in range(classes):
            moved[j] = (moved[j] + d * q[t, j]) / scale
            p[j] = p[j] / scale

    for i in range(classes):
        p[i] = even
    left = 100
    while 0 < left:
        multiply()
        if error < limit:
            left = 0
        else:
            left -= 1
            for t in range(classes):
                improve(t)
