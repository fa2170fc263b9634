# SPDX-License-Identifier: Apache-2.0
# Arithmetic of Python's numbers, and arguments of calls: the same lines as Python prints.
ints = [0, 1, -1, 2, -3, 7, 63, 2**31, -(2**31), 2**53 + 1, 9223372036854775807, -9223372036854775808]
floats = [0.0, -0.0, 0.1, -2.5, 3.0, 1e17, -1e-5, 9007199254740992.0, float("inf")]


def small(values):
    return [v for v in values if -100 < v < 100]


for x in ints:
    for y in ints:
        print(x, y, x < y, x == y, x >= y, x & y, x | y, x ^ y, ~x)
        if y != 0 and not (x == -9223372036854775808 and y == -1):
            print(x // y, x % y)
for x in small(ints):
    for y in small(ints):
        print(x + y, x - y, x * y, x**y if 0 <= y < 8 else None)
        if y >= 0:
            print(x >> y, x << y if y < 8 else None)
        if y != 0:
            print(x / y)
        if y < 0 and x != 0:
            print(x**y)
for x in floats:
    for y in floats:
        print(x + y, x * y, x < y, x <= y, x != y)
        if y != 0:
            print(x / y)
        if y != 0 and -1e300 < x < 1e300:
            print(x // y, x % y)
    for y in ints:
        print(x < y, x == y, x >= y, y > x, y != x)
print(1.0 // 0.1, 1 % -0.3, -7 // 2.0, 2**0.5, 0.1**2, -(2.5), +True, -True, ~True, not 0.0)
print(True & False, True | False, True ^ True, True & 1, True + True, True < 2, False == 0, 1 << 62)
print(10 >> 70, -10 >> 70, 0 << 70, 9223372036854775807, -9223372036854775808)


def f(a, b=2, *rest, c, d=4, **options):
    return a, b, rest, c, d, options


print(f(1, c=3), f(1, 5, 6, 7, c=3, e=8), f(*[1, 2, 3], **{"c": 4, "x": 5}), f(c=1, a=2))
print((lambda a, *, b=1: (a, b))(3, b=4), (lambda *a, **k: (a, k))(1, *[2, 3], k=4))
