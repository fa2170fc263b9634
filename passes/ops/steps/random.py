# SPDX-License-Identifier: Apache-2.0
"""The generator Philox4x32-10 of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw,
Parallel Random Numbers: As Easy as 1, 2, 3, 2011. It is counter-based: the words of an
element depend only on its number, on run and on two keys, so that elements can be
computed in any order."""


def low(wide):
    return T.Cast("uint32", wide)


def high(wide):
    return T.Cast("uint32", wide >> 32)


def random(run, first, second, element, seed, stream):
    k1 = T.alloc_local((), "uint32")
    k0 = T.alloc_local((), "uint32")
    c3 = T.alloc_local((), "uint32")
    c2 = T.alloc_local((), "uint32")
    c1 = T.alloc_local((), "uint32")
    c0 = T.alloc_local((), "uint32")
    c0 = element
    c1 = 0
    c2 = low(T.Cast("uint64", run[0]))
    c3 = high(T.Cast("uint64", run[0]))
    k0 = seed
    k1 = stream
    for round in range(10):
        p = T.Cast("uint64", c0) * 0xD2511F53
        q = T.Cast("uint64", c2) * 0xCD9E8D57
        c0 = high(q) ^ c1 ^ k0
        c1 = low(q)
        c2 = high(p) ^ c3 ^ k1
        c3 = low(p)
        k0 += T.uint32(0x9E3779B9)
        k1 += T.uint32(0xBB67AE85)
    first = c0
    second = c1
