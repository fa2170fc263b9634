# SPDX-License-Identifier: Apache-2.0


def find_string(x, keys, found):
    """found = where x is among the keys, by a binary search, or -1. A string that fills
    its row has no zero after it: only the bytes that the rows of both tensors have are
    compared; a longer key differs in the next byte, where the string counts as ended."""
    low = T.alloc_local((), "int32")
    high = T.alloc_local((), "int32")
    found = -1
    low = 0
    high = keys.shape[0]
    while low < high:
        middle = (low + high) >> 1
        k = T.alloc_local((), "int32")
        k = 0
        while (k < T.min(x.shape[0], keys.shape[1]) - 1 and
               (x[k] == keys[middle, k] and not x[k] == 0)):
            k += 1
        if keys[middle, k] < x[k]:
            low = middle + 1
        elif x[k] < keys[middle, k]:
            high = middle
        else:
            found = middle
            low = high
