# SPDX-License-Identifier: Apache-2.0
"""The k first elements of each row in descending (ascending) order, and their positions.
Of equal elements, the one with the lower position comes first; NaN counts as the largest
element, as in NumPy.

For small k the result's rows are heaps of the k best elements so far, whose root is the
worst of them. Elements rarely replace the root: k * ln(n / k) times if their order is
random. So blocks of a row are compared with the root, which compilers make vectors of,
before their elements are looked at one by one. For larger k, an array of 2 k elements
has the best k elements so far, followed by later elements that come before the last of
these; when the array is full, it is sorted. A row of up to 2 k elements is sorted at
once."""
from heap import is_less, put, sift
from radix_sort import key_of, put_element, sort


def top_k(x, top, indices, n, k, worst, most, by_heap, by_blocks,
          block_size, sorts_row, may_be_none):
    """x, top and indices are a row. n, k: its elements, and those of the result; worst:
    no value comes after it; most: the elements of the array."""

    def collect():
        """Makes the heap of the best k elements."""
        for p in range(k):
            put(p, worst, T.Cast("int64", n))
        if by_blocks:
            for block in range((n + (block_size - 1)) // block_size):
                scan_block(block * block_size)
        else:
            for j in range(n):
                look_at(j)

    def comes_before(element, root):
        return is_less(root, element) if largest else is_less(element, root)

    def is_open():
        """Has the heap places that no element has?"""
        return indices[0] == T.Cast("int64", n)

    def look_at(j):
        if is_open() or comes_before(x[j], top[0]):
            value = x[j]
            position = T.Cast("int64", j)
            sift(0, k, value, position)

    def scan_block(first):
        """Skips a whole block where the heap is full and none comes before its root."""
        start = first
        wanted = T.alloc_local((), "uint32")
        wanted = 1
        if start + block_size <= n and not is_open():
            wanted = 0
            worst = top[0]
            for lane in range(block_size):
                hit = T.meta_var(comes_before(x[start + lane], worst))
                wanted = wanted | T.Cast("uint32", hit)
        if 0 < wanted:
            size = T.min(block_size, n - start)
            for at in range(size):
                j = start + at
                look_at(j)

    def sort_heap():
        """The root, the worst of the elements that are left, goes to their end."""
        for done in range(k - 1):
            last = k - 1 - done
            value = top[last]
            position = indices[last]
            put(last, top[0], indices[0])
            sift(0, last, value, position)

    def sort_parts():
        next = T.alloc_local((), "uint32")
        found = T.alloc_local((), "uint32")
        last = T.alloc_local((), key_type)
        next = 0
        found = 0
        last = all_bits
        while next < T.Cast("uint32", n):
            while next < T.Cast("uint32", n) and found < T.Cast("uint32", most):
                j = T.Cast(n.dtype, next)
                key = key_of(x[j])
                if j < most or key < last:
                    place = T.Cast(k.dtype, found)
                    put_element(place, j, key)
                    found += 1
                next += 1
            size = T.Cast(k.dtype, found)
            sort(size)
            found = T.Cast("uint32", k)
            last = keys[0, k - 1]

    def sort_row():
        for j in range(n):
            key = key_of(x[j])
            put_element(j, j, key)
        sort(n)

    def store_result():
        for p in range(k):
            j = T.Cast(n.dtype, positions[0, p])
            top[p] = x[j]
            indices[p] = T.Cast("int64", j)

    def find():
        if by_heap:
            collect()
            sort_heap()
        else:
            if sorts_row:
                sort_row()
            else:
                sort_parts()
            store_result()

    if may_be_none:
        if 0 < k:
            find()
    else:
        find()
