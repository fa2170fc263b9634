# SPDX-License-Identifier: Apache-2.0


def parse_integer(x, y):
    """y = the number of the sign and the digits of x up to the first other byte."""
    rest = T.alloc_local((), "uint64")
    at = T.alloc_local((), "int32")
    negative = T.alloc_local((), "bool")
    at = 0
    rest = 0
    negative = x[at] == 45  # "-"
    if negative or x[at] == 43:  # "+"
        at += 1
    while at < x.shape[0] and 48 <= x[at] <= 57:  # "0" to "9"
        rest = rest * 10 + T.Cast("uint64", x[at] - T.uint8(48))
        at += 1
    y = T.Cast("int64", T.Select(negative, T.uint64(0) - rest, rest))
