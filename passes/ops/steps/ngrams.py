# SPDX-License-Identifier: Apache-2.0


def ngrams(x, item, first, column, counts, items, columns, skips, once, has_weights):
    """How often each n-gram of a tree is in a row."""
    node = T.alloc_local((), "int32")
    at = T.alloc_local((), "int32")

    def count():
        """An n-gram of one item skips nothing and is counted once."""
        weight = T.meta_var(weights[node] if has_weights else T.float32(1))
        y_column = column[node]
        if 0 <= y_column and (start < at or skip == 0):
            counts[y_column] = weight if once else counts[y_column] + weight

    def follow():
        """node = the child of node with the item x[at], or -1, by a binary search for
        the first item that is not less."""
        low = T.alloc_local((), "int32")
        high = T.alloc_local((), "int32")
        value = x[at]
        end = first[node + 1]
        low = first[node]
        high = end
        while low < high:
            middle = (low + high) >> 1
            if item[middle] < value:
                low = middle + 1
            else:
                high = middle
        node = -1
        if low < end:
            if item[low] == value:
                node = low + 1
                count()

    for j in range(columns):
        counts[j] = 0
    for skip in range(T.min(skips + 1, items)):
        for start in range(items):
            node = 0
            at = start
            while 0 <= node and at < items:
                follow()
                at = at + (skip + 1)
