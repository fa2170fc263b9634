# SPDX-License-Identifier: Apache-2.0


def format_integer(x, y, is_signed):
    """y = the digits of x behind its sign, if it is negative, and zeros."""
    rest = T.alloc_local((), "uint64")
    at = T.alloc_local((), "int32")
    negative = T.alloc_local((), "bool")

    def magnitude():
        bits = T.Cast("uint64", x)
        return T.Select(negative, T.uint64(0) - bits, bits)

    def put_digit():
        y[at] = T.Cast("uint8", rest % 10) + T.uint8(48)  # "0"

    for j in range(y.shape[0]):
        y[j] = 0
    negative = x < 0 if is_signed else False
    rest = magnitude()
    at = T.Cast("int32", negative)
    while 10 <= rest:
        rest = rest // 10
        at += 1
    rest = magnitude()
    put_digit()
    while 10 <= rest:
        rest = rest // 10
        at += -1
        put_digit()
    if negative:
        y[0] = 45  # "-"
