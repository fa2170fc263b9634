# SPDX-License-Identifier: Apache-2.0
"""Heaps of values with their positions. Elements are ordered by their values, with NaN
as the largest; equal values by their positions. largest: the largest value comes first
in the order; first_root: the root of the heap is the first element in the order, else
the last; no_nan: no element is NaN; index: the type of indices."""
from order import is_less


def is_smaller(a, b):
    return a < b if no_nan else is_less(a, b)


def is_above(value, position, other, other_position):
    """Must the element be nearer to the root than the other?"""
    less = T.meta_var(is_smaller(value, other))
    more = T.meta_var(is_smaller(other, value))
    above = T.meta_var(more if largest == first_root else less)
    below = T.meta_var(less if largest == first_root else more)
    equal = T.meta_var(value == other if no_nan else not below)
    return above or equal and (position < other_position if first_root
                               else other_position < position)


def put(p, value, position):
    heap_values[p] = value
    heap_positions[p] = position


def choose_child(size):
    """If the second child belongs above the first, it is chosen."""
    left_child = T.Cast(index, child)
    right_child = T.Cast(index, child + 1)
    if right_child < T.Cast(index, size):
        if is_above(heap_values[right_child], heap_positions[right_child],
                    heap_values[left_child], heap_positions[left_child]):
            child = child + 1


def sift(root, size, value, position):
    """Puts an element into a heap of `size` elements from position `root` down: while
    one of the two children belongs above the element, that child moves up. The elements
    below must be in order."""
    hole = T.alloc_local((), "uint32")
    child = T.alloc_local((), "uint32")
    hole = T.Cast("uint32", root)
    child = T.Cast("uint32", root) * 2 + 1
    while child < T.Cast("uint32", size):
        choose_child(size)
        chosen = T.Cast(index, child)
        if is_above(heap_values[chosen], heap_positions[chosen], value, position):
            to = T.Cast(index, hole)
            put(to, heap_values[chosen], heap_positions[chosen])
            hole = child
            child = child * 2 + 1
        else:
            child = T.Cast("uint32", size)
    place = T.Cast(index, hole)
    put(place, value, position)
