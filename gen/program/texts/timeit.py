# SPDX-License-Identifier: Apache-2.0
"""timeit: timers of functions."""
import timeit


class _Timer:
    """The times of a function, as timeit.timeit() and timeit.repeat() give them."""

    def __init__(self, stmt):
        self._stmt = stmt

    def timeit(self, number=1000000):
        return timeit.timeit(self._stmt, number=number)

    def repeat(self, repeat=5, number=1000000):
        return timeit.repeat(self._stmt, number=number, repeat=repeat)

    def autorange(self, callback=None):
        time = timeit.timeit(self._stmt, number=1)
        return (1, time)


def Timer(stmt, setup=None, timer=None, globals=None):
    return _Timer(stmt)
