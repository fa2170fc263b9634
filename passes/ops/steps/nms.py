# SPDX-License-Identifier: Apache-2.0
"""Keeps boxes, class by class, in descending order of their scores. The boxes with enough
score are put in a heap, whose root is the next box, so that no more boxes are sorted than
needed. Counters are unsigned: none leaves its range."""
from heap import put, sift


def nms(boxes, scores, rows, count, sides, is_center, overlap, least, has_least, most,
        is_limited, keeps_any):
    """rows: those of the result; sides: those of the kept boxes, for comparisons with
    later boxes"""

    def smaller(a, b):
        return T.Select(a < b, a, b)

    def larger(a, b):
        return T.Select(b < a, a, b)

    def low(a, b):
        return a - b / 2 if is_center else smaller(a, b)

    def high(a, b):
        return a + b / 2 if is_center else larger(a, b)

    def compare():
        """Compares the box that is tried with the kept box in row `old`. If they overlap
        too much, other = n_kept + 1: the box is not kept. Else other is the next kept
        box, or other == n_kept, with which the box is kept."""
        y_low_old = sides[old, 0]
        y_high_old = sides[old, 2]
        x_low_old = sides[old, 1]
        x_high_old = sides[old, 3]
        height = smaller(y_high, y_high_old) - larger(y_low, y_low_old)
        width = smaller(x_high, x_high_old) - larger(x_low, x_low_old)
        if 0 < height and 0 < width:
            common = height * width
            joint = ((y_high - y_low) * (x_high - x_low) +
                     (y_high_old - y_low_old) * (x_high_old - x_low_old) - common)
            if 0 < joint and overlap < common / joint:
                other = n_kept + 1
            else:
                other += 1
        else:
            other += 1

    def try_box():
        """Keeps the box unless its overlap with a kept box is above the threshold."""
        y_low = low(boxes[b, box, 0], boxes[b, box, 2])
        y_high = high(boxes[b, box, 0], boxes[b, box, 2])
        x_low = low(boxes[b, box, 1], boxes[b, box, 3])
        x_high = high(boxes[b, box, 1], boxes[b, box, 3])
        other = T.alloc_local((), "uint32")
        other = start
        while other < n_kept:
            old = T.Cast("int32", other)
            compare()
        if other == n_kept:
            row = T.Cast("int32", n_kept)
            rows[row, 0] = T.Cast("int64", b)
            rows[row, 1] = T.Cast("int64", c)
            rows[row, 2] = T.Cast("int64", box)
            sides[row, 0] = y_low
            sides[row, 1] = x_low
            sides[row, 2] = y_high
            sides[row, 3] = x_high
            n_kept += 1

    def collect():
        """Collects the boxes with enough score, which no NaN is."""
        left = 0
        for i in range(scores.shape[2]):
            if least < scores[b, c, i] if has_least else True:
                at = T.Cast("int32", left)
                put(at, scores[b, c, i], T.Cast("int32", i))
                left += 1

    def wants_root():
        limit = T.meta_var(T.Cast(most.dtype, n_kept - start) < most if is_limited
                           else True)
        return 0 < left and limit

    def take_boxes():
        """The first left / 2 iterations order the heap, from its end to its root; each
        later one takes its root."""
        unordered = T.truncdiv(left, 2)
        while 0 < unordered or wants_root():
            box = heap_positions[0]
            is_root = unordered == 0
            if is_root:
                left -= 1
            else:
                unordered -= 1
            from_1 = T.Cast("int32", T.Select(is_root, left, unordered))
            replace(from_1)
            if is_root:
                try_box()

    def replace(p):
        value = heap_values[p]
        position = heap_positions[p]
        sift(unordered, left, value, position)

    def one_class():
        start = T.alloc_local((), "uint32")
        left = T.alloc_local((), "uint32")
        unordered = T.alloc_local((), "uint32")
        start = n_kept
        collect()
        take_boxes()

    if keeps_any:
        n_kept = T.alloc_local((), "uint32")
        n_kept = 0
        for b in range(scores.shape[0]):
            for c in range(scores.shape[1]):
                one_class()
        count[0] = T.Cast("int32", n_kept)
    else:
        count[0] = 0
