# SPDX-License-Identifier: Apache-2.0
"""Stable sorting by the bytes of the keys, from the lowest byte on (D. Knuth, The Art of
Computer Programming 3, 5.2.5, algorithm R). A key is an unsigned integer of the type
key_type; all_bits is the largest, sign_bit the one with only the highest bit. The keys
of the elements and their positions are in two arrays, which take turns; the number of
bytes of a key is even, so that the result is in array 0. The time does not depend on the
values, and elements are not compared."""


def key_of(x):
    """Keys have the order of the values, with NaN as the largest; equal values have the
    same key. Of a float it is made from its bits: for a negative number the complement,
    else with the sign bit set. Both zeroes become 0 with the sign bit set."""
    value = T.Cast(wide, x)
    if has_nan:
        bits = T.reinterpret(key_type, value)
        positive = T.meta_var(sign_bit + T.Select(value == 0, T.Cast(key_type, 0), bits))
        rank = T.meta_var(T.Select(T.isnan(value), all_bits, T.Select(
            value < 0, all_bits - bits, positive)))
    elif is_signed:
        rank = T.meta_var(T.Cast(key_type, value) + sign_bit)
    else:
        rank = T.meta_var(T.Cast(key_type, value))
    key = all_bits - rank if largest else rank
    return key


def put_element(p, position, key):
    keys[0, p] = key
    positions[0, p] = T.Cast("uint32", position)


def sort(size):
    place = T.alloc_local((256,), "uint32")
    digits = T.Cast(size.dtype, 256)

    def digit_of(p):
        """The current byte of the key of element p."""
        shift = T.meta_var(T.Cast(key_type, byte * 8))
        return T.Cast(size.dtype, keys[from_1, p] >> shift & 255)

    def count():
        for digit in range(digits):
            place[digit] = 0
        for p in range(size):
            digit = digit_of(p)
            place[digit] += 1

    def find_places():
        """The first place of each digit, from the number of elements that have it."""
        next = T.alloc_local((), "uint32")
        next = 0
        for digit in range(digits):
            n = place[digit]
            place[digit] = next
            next = next + n

    def move():
        for p in range(size):
            digit = digit_of(p)
            at = T.Cast(size.dtype, place[digit])
            keys[to, at] = keys[from_1, p]
            positions[to, at] = positions[from_1, p]
            place[digit] += 1

    for byte in range(T.Cast(size.dtype, key_bytes)):
        from_1 = byte % 2
        to = 1 - from_1
        count()
        find_places()
        move()
