# SPDX-License-Identifier: Apache-2.0
"""Decision trees as tables, with an element for each node of all trees. The rows of x
are processed in blocks, so that a tree stays in the cache for all rows of a block."""


def trees(x, feature, value, next, root, y, first, rows, start, is_average, is_min,
          is_max, has_depth, has_flags, has_row, has_weights):
    """For the rows of a block, `first` and those after it. The optional inputs are
    depth, flags, row and weights."""

    def is_first(element):
        """Is the first child of the current node the next node?"""
        less = T.meta_var(element <= value[node])
        if has_flags:
            flag = T.meta_var(flags[node])
            chosen = T.meta_var(T.Select(1 < flag, element == value[node], less))
            return chosen or T.isnan(element) and flag & 1 == 1
        return less

    def next_node():
        second = T.meta_var(T.Select(is_first(x[first + i, feature[node]]),
                                     T.int32(0), T.int32(1)))
        return next[node, second] if has_depth else next[node] + second

    def find_leaf(t):
        node = root[t]
        if has_depth:
            for step in range(depth[t]):
                node = next_node()
        else:
            while 0 <= feature[node]:
                node = next_node()

    def add(target, leaf):
        old = T.meta_var(y[first + i, target])
        new = T.meta_var(T.Cast(y.dtype, leaf))
        y[first + i, target] = (T.min(old, new) if is_min else
                                T.max(old, new) if is_max else old + new)

    def add_leaf():
        if has_weights:
            for k in range(y.shape[1]):
                add(k, weights[row[node], k])
        else:
            add(row[node] if has_row else 0, value[node])

    def finish(sum):
        """An average is divided by the number of trees; a minimum or maximum of no
        values is 0."""
        if is_average:
            return sum / T.Cast(y.dtype, root.shape[0])
        return T.Select(sum == start, T.Cast(y.dtype, 0), sum)

    for i in range(rows):
        for k in range(y.shape[1]):
            y[first + i, k] = start
    for t in range(root.shape[0]):
        for i in range(rows):
            node = T.alloc_local((), "int32")
            find_leaf(t)
            add_leaf()
    if is_average or is_min or is_max:
        for i in range(rows):
            for k in range(y.shape[1]):
                y[first + i, k] = finish(y[first + i, k])
