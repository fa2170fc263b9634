# SPDX-License-Identifier: Apache-2.0


def pieces(x, begins, ends, total, bytes, places, most, is_words):
    """Splits a string at white space, or at the delimiter."""
    count = T.alloc_local((), "int32")
    start = T.alloc_local((), "int32")

    def end_piece(k):
        """The piece from `start` ends before position k."""
        at = count
        begins[at] = start
        ends[at] = k
        count = at + 1

    def may_split():
        """May there be another piece after the current one?"""
        return True if most < 0 else count < most

    def has_room():
        """Has the result a place for one more piece? It always has if the string has
        only zeros after its first zero; else a number of pieces that is limited could
        be exceeded."""
        return True if most < 0 else count <= most

    def is_space(byte):
        """An ASCII character that Python's str.split() treats as white space."""
        return byte == 32 or (9 <= byte <= 13 or 28 <= byte <= 31)

    def splits_at(at):
        found = may_split()
        for j in range(size):
            found = found and x[at + j] == delimiter[j]
        return found

    def split_words():
        start = -1
        for k in range(bytes):
            byte = x[k]
            if start < 0:
                if not (byte == 0 or is_space(byte)) and has_room():
                    start = k
            elif byte == 0 or is_space(byte) and may_split():
                end_piece(k)
                start = -1
        if not start < 0:
            end_piece(bytes)

    def split_at():
        length = T.alloc_local((), "int32")
        next = T.alloc_local((), "int32")
        length = 0
        for k in range(bytes):
            length += T.Cast("int32", not x[k] == 0)
        next = 0
        start = 0
        while next + size <= length:
            at = next
            if splits_at(at):
                end_piece(at)
                next = at + size
                start = at + size
            else:
                next = at + 1
        end_piece(length)

    for j in range(places):
        begins[j] = 0
        ends[j] = 0
    count = 0
    if is_words:
        split_words()
    else:
        split_at()
    total = T.Cast("int64", count)
