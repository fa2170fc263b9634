# SPDX-License-Identifier: Apache-2.0
"""Which rows of a matrix are equal. A heap sorts the positions of the rows; then
equal rows are adjacent, in the order of their positions."""
from order import is_less


def unique(x, first, inverse, counts, number, order, n, columns, one_column, is_sorted):
    hole = T.alloc_local((), "int32")
    child = T.alloc_local((), "int32")
    flag = T.alloc_local((), "bool")
    count = T.alloc_local((), "int32")
    if not one_column:
        column = T.alloc_local((), "int32")

    def position(i):
        return T.Cast("int32", order[i])

    def compare(a, b, tie):
        """flag = row a comes before row b; of equal rows: tie"""
        if one_column:
            flag = (is_less(x[a, 0], x[b, 0]) or
                    not is_less(x[b, 0], x[a, 0]) and tie)
        else:
            flag = tie
            column = 0
            while column < columns:
                k = column
                if is_less(x[a, k], x[b, k]):
                    flag = True
                    column = columns
                elif is_less(x[b, k], x[a, k]):
                    flag = False
                    column = columns
                else:
                    column += 1

    def compare_positions(a, b):
        compare(a, b, a < b)

    def sift(start, item, size):
        """Puts item into the heap of `size` positions, from `start` down."""
        hole = start
        child = start * 2 + 1
        while child < size:
            left = child
            right = left + 1
            if right < size:
                compare_positions(position(left), position(right))
                if flag:
                    child = right
            at = child
            compare_positions(item, position(at))
            if flag:
                to = hole
                order[to] = order[at]
                hole = at
                child = at * 2 + 1
            else:
                child = size
        place = hole
        order[place] = T.Cast("int64", item)

    def sort():
        for i in range(n):
            order[i] = T.Cast("int64", i)
        for raised in range(n // 2):
            root = n // 2 - 1 - raised
            item = position(root)
            sift(root, item, n)
        for done in range(n - 1):
            last = n - 1 - done
            item = position(last)
            order[last] = order[0]
            sift(0, item, last)

    def number_rows():
        """Numbers the different rows in the order of the sorted positions."""
        count = 0
        for i in range(n):
            r = position(i)
            compare(position(T.max(i - 1, 0)), r, False)
            if i == 0 or flag:
                g = count
                first[g] = T.Cast("int64", r)
                counts[g] = 0
                count = g + 1
            last = count - 1
            counts[last] += 1
            inverse[r] = T.Cast("int64", last)

    def number_anew():
        """Numbers the rows in the order of their first positions: order[g] is the new
        number of g; first and counts are permuted in cycles."""
        child = 0
        for r in range(n):
            g = T.Cast("int32", inverse[r])
            if T.Cast("int32", first[g]) == r:
                order[g] = T.Cast("int64", child)
                child += 1
        for q in range(n):
            g = T.Cast("int32", inverse[q])
            inverse[q] = order[g]
        for h in range(count):
            while not position(h) == h:
                to = position(h)
                a = first[h]
                b = counts[h]
                first[h] = first[to]
                first[to] = a
                counts[h] = counts[to]
                counts[to] = b
                order[h] = order[to]
                order[to] = T.Cast("int64", to)

    sort()
    number_rows()
    if not is_sorted:
        number_anew()
    number[0] = count
