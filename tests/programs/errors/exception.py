# SPDX-License-Identifier: Apache-2.0
"""An exception that nothing handles."""


class Failure(ValueError):
    pass


def check(n):
    if n > 3:
        raise Failure("%d is too large" % n)


try:
    check(7)
except KeyError:
    print("not here")
finally:
    print("finally")
